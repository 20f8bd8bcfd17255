"""The content security policy of a page: no script runs but those of the site and those with a listed digest.

A page of another builder need not have one; one that is there has to hold.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from html import unescape

from generator.audit.fault import Placed

NAME = "Content-Security-Policy"
_META = re.compile(
    r"<meta\s+http-equiv=[\"']?content-security-policy[\"']?\s+content=\"([^\"]*)\"", re.IGNORECASE
)
_INLINE = re.compile(r"<script(?P<tag>(?:\s[^>]*)?)>(?P<body>.*?)</script", re.IGNORECASE | re.DOTALL)
_DATA = re.compile(
    r"\stype\s*=\s*[\"']?(?!module|text/javascript|application/javascript)[a-z]", re.IGNORECASE
)
_ALLOWED = re.compile(r"'self'|file:|'none'|'sha(?:256|384|512)-[\w+/=-]+'")


def judge(html: str) -> Iterator[Placed]:
    """What a policy allows beyond files of the site and digests, and inline scripts that it stops."""
    stated = _META.search(html)
    if stated is None:
        return
    rules = dict(_rules(unescape(stated[1])))
    sources = rules.get("script-src", rules.get("default-src", ("*",)))
    for source in sources:
        if not _ALLOWED.fullmatch(source):
            yield Placed(stated.start(), "bad-page", f"The policy lets scripts run from {source}.")
    for script in _INLINE.finditer(html):
        if not re.search(r"\ssrc\s*=", script["tag"], re.IGNORECASE) and not _DATA.search(script["tag"]):
            digest = f"'sha256-{b64encode(sha256(script['body'].encode()).digest()).decode()}'"
            if digest not in sources:
                message = "The policy of the page does not list this script, so no browser runs it."
                yield Placed(script.start(), "bad-page", message)


def _rules(policy: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Directives with their sources; the first of a name counts."""
    seen = set()
    for rule in policy.split(";"):
        name, *sources = rule.split() or [""]
        if name and name.lower() not in seen:
            seen.add(name.lower())
            yield name.lower(), tuple(sources)
