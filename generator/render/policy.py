"""The content security policy of a page: scripts of the site, and those inline ones whose digest it lists.

Styles may stand inline, where the drawings keep their places. `file:` lets a site that is opened from a
folder read its own scripts; a page from a server can load nothing by it.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator

HEAD = '<meta charset="utf-8">'
"""The policy stands below it, above everything that it governs."""

SITE = "'self' file:"
RULES = {
    "default-src": SITE,
    "style-src": f"{SITE} 'unsafe-inline'",
    "img-src": f"{SITE} data:",
    "font-src": f"{SITE} data:",
    "object-src": "'none'",
    "base-uri": "'none'",
    "form-action": "'none'",
}
_SCRIPT = re.compile(r"<script\b(?P<attributes>[^>]*)>(?P<text>.*?)</script\s*>", re.DOTALL | re.IGNORECASE)
_SOURCE = re.compile(r"\bsrc\s*=", re.IGNORECASE)
_TYPE = re.compile(r"\btype\s*=\s*[\"']?([^\"'\s>]*)", re.IGNORECASE)
_RUN = frozenset({"", "module", "text/javascript", "application/javascript"})


def governed(html: str) -> str:
    """A page with its policy; a page without a head of that form comes back as it is."""
    listed = " ".join(f"'{each}'" for each in dict.fromkeys(digests(html)))
    rules = {**RULES, "script-src": f"{SITE} {listed}".rstrip()}
    policy = "; ".join(f"{name} {sources}" for name, sources in rules.items())
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    return html.replace(HEAD, f"{HEAD}{meta}", 1)


def digests(html: str) -> Iterator[str]:
    """The digest of every inline script that a browser runs."""
    for script in _SCRIPT.finditer(html):
        kind = _TYPE.search(script["attributes"])
        if not _SOURCE.search(script["attributes"]) and (kind[1].lower() if kind else "") in _RUN:
            yield f"sha256-{base64.b64encode(hashlib.sha256(script['text'].encode()).digest()).decode()}"
