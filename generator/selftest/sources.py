"""Untraced numbers on every surface of the sources, one at a time."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import partial

from generator.gate.display import CONFIGURATION
from generator.record import terms
from generator.record.record import LANDING
from generator.record.source import Source
from generator.selftest.cases import Form, forms
from generator.selftest.fault import Fault
from generator.selftest.surface import Surface, planted
from generator.selftest.workplace import Workplace

PRINTED = {
    "finding": ("title", "regime"),
    "kill": ("title", "untested_because"),
    "erratum": ("reason",),
    "template": ("title", "description"),
    "page": ("title", "description"),
}
"""Front matter of each kind of source that a page prints."""

NAMED = {
    "finding": "finding",
    "kill": "kill criterion",
    "erratum": "erratum",
    "template": "landing page",
    "page": "page",
}
SHOWN = ("site_name", "site_description", "site_author", "copyright")

_FRONT = re.compile(r"---[ \t]*\r?\n(.*?)^---[ \t]*$", re.DOTALL | re.MULTILINE)
_CLAIM = re.compile(r"(\{%-?\s*claim\s[^%0-9]*%\})(.*?)(\{%-?\s*endclaim)", re.DOTALL)
"""A claim whose comparison names no constant and no field with a digit in its name."""


def sources(workplace: Workplace) -> Iterator[Fault]:
    """Every form on every surface; sources of a kind that the record lacks are made up for it."""
    known = forms("source", workplace.names, workplace.record.ids)
    yield from planted(_surfaces(workplace), known)


def _surfaces(workplace: Workplace) -> Iterator[Surface]:
    for kind, keys in PRINTED.items():
        path, text = _carrier(workplace, kind)
        yield Surface(f"a source: {NAMED[kind]}, body", path, partial("{}\n\n{}\n".format, text), _as_written)
        for key in keys:
            yield Surface(f"a source: {NAMED[kind]}, {key}", path, partial(front_key, text, key))
        if kind == "finding":
            yield Surface(f"a source: {NAMED[kind]}, tags", path, partial(_tagged, text))
    yield from _claims(workplace)
    yield from _strings(workplace)


def _as_written(form: Form) -> str:
    return form.text


def _claims(workplace: Workplace) -> Iterator[Surface]:
    """Words that are bound to a comparison, and the labels of verdicts."""
    claims = ((each, _CLAIM.search(each.text)) for each in workplace.record.sources)
    if first := next(((each, found) for each, found in claims if found), None):
        yield Surface("a source: words of a claim", first[0].path, partial(_claimed, first[1]))
    ruled = next((each for each in workplace.record.findings if each.string("holds_when")), None)
    if ruled:
        rule, text = ruled.string("holds_when"), ruled.text
        yield Surface(
            "a source: label of a verdict",
            ruled.path,
            lambda form: front_key(text, "verdict_when", {form: rule}),
        )


def _strings(workplace: Workplace) -> Iterator[Surface]:
    """The reasons of names, and what the configuration shows on every page."""
    entry = '\n[[term]]\ntext = "selftest"\nreason = {}\n'
    known = workplace.text(terms.PATH) if (workplace.root / terms.PATH).is_file() else ""
    yield Surface(
        "a source: terms.toml, reason", terms.PATH, lambda form: known + entry.format(_quoted(form))
    )
    text = workplace.text(CONFIGURATION)
    for key in SHOWN:
        yield Surface(f"a source: mkdocs.yml, {key}", CONFIGURATION, partial(_key, text, key))
    yield Surface(
        "a source: mkdocs.yml, nav",
        CONFIGURATION,
        lambda form: _key(text, "nav", [{form: "index.md"}]),
    )


def _carrier(workplace: Workplace, kind: str) -> tuple[str, str]:
    """A source of a kind: path and text, made up where the record has none."""
    record = workplace.record
    found: dict[str, tuple[Source, ...]] = {
        "finding": record.findings,
        "kill": record.kills,
        "erratum": record.errata,
        "template": (record.landing,) if record.landing else (),
        "page": record.pages,
    }
    if found[kind]:
        return found[kind][0].path, found[kind][0].text
    return _made(kind)


def _made(kind: str) -> tuple[str, str]:
    none = "payloads:\n  a: payloads/selftest/none.json\n"
    front = {
        "finding": f"id: F-1\ntitle: A finding\nrecord: selftest\nstatus: open\nregime: Words\n{none}",
        "kill": f"id: K-1\ntitle: A kill criterion\nfires_when: a.results.x > a.results.y\n{none}",
        "erratum": "id: E-1\nfinding: F-1\nstatement: selftest\ndate: 2026-12-01\nkind: wording\n"
        "reason: Words.\npayloads: {}\n",
    }
    path = {
        "finding": "findings/F-1.md",
        "kill": "findings/K-1.md",
        "erratum": "findings/errata/E-1.md",
        "template": LANDING,
    }
    head = f"---\n{front[kind]}---\n" if kind in front else ""
    return path.get(kind, "site_src/selftest.md"), f"{head}Words.\n"


def _claimed(claim: re.Match[str], words: str) -> str:
    """The source with other words inside a claim."""
    return claim.string[: claim.start(2)] + words + claim.string[claim.end(2) :]


def _tagged(text: str, tag: str) -> str:
    return front_key(text, "tags", [tag])


def front_key(text: str, key: str, value: object) -> str:
    """A source with a value under a key of its front matter."""
    front = _FRONT.match(text)
    if front is None:
        return f"---\n{_key('', key, value)}---\n{text}"
    return text[: front.start(1)] + _key(front[1], key, value) + text[front.end(1) :]


def _key(yaml: str, key: str, value: object) -> str:
    """YAML with a value under a top-level key, in place of the one it had."""
    kept = re.sub(rf"^{key}:[^\n]*\n(?:[ \t-][^\n]*\n|\n(?=[ \t]))*", "", yaml, flags=re.MULTILINE)
    return f"{kept}{key}: {_quoted(value)}\n"


def _quoted(value: object) -> str:
    """A value as JSON writes it, which YAML reads too, and TOML where it is a text."""
    return json.dumps(value, ensure_ascii=False)
