"""Untraced numbers on every surface of the sources, one at a time."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import partial

from generator.gate.display import CONFIGURATION
from generator.record import experiments, terms
from generator.record.keys import NAMES
from generator.record.record import LANDING
from generator.record.source import DISCLOSURES, PASS
from generator.selftest.cases import Form, forms
from generator.selftest.fault import Fault
from generator.selftest.surface import Surface, planted
from generator.selftest.workplace import Workplace

Value = Callable[[str], object]
"""From a text to the value of a key that shows it."""


def _itself(text: str) -> object:
    return text


def _tag(text: str) -> object:
    return [text]


def _ruling(text: str) -> object:
    return [{"statement": "F-1#selftest", "ruling": "stands", "reason": text}]


def _experiment(text: str) -> object:
    return {"selftest": text}


def _deviation(key: str, text: str) -> object:
    return [{"date": "2026-12-01", "rule": "K-1", "what": "Words.", "reading": "Words.", key: text}]


_PAGE: dict[str, tuple[str, Value]] = {"title": ("title", _itself), "description": ("description", _itself)}
_LIST: dict[str, tuple[str, Value]] = {"reason of an experiment": ("experiments", _experiment)}

PRINTED: dict[str, dict[str, tuple[str, Value]]] = {
    "finding": {"title": ("title", _itself), "regime": ("regime", _itself), "tag": ("tags", _tag)},
    "kill": {"title": ("title", _itself), "untested_because": ("untested_because", _itself)},
    "erratum": {"reason": ("reason", _itself)},
    "pass": {"reason of a ruling": ("rulings", _ruling)},
    "unrun": _LIST,
    "withheld": _LIST,
    "deviations": {key: ("deviations", partial(_deviation, key)) for key in ("what", "reading")},
    "template": _PAGE,
    "page": _PAGE,
}
"""What a page prints of the front matter of each kind of source: the key, and a value that holds a text."""

SHOWN = ("site_name", "site_description", "site_author", "copyright")

_FRONT = re.compile(r"---[ \t]*\r?\n(.*?)^---[ \t]*$", re.DOTALL | re.MULTILINE)
_CLAIM = re.compile(r"(\{%-?\s*claim\s[^%0-9]*%\})(.*?)(\{%-?\s*endclaim)", re.DOTALL)
"""A claim whose comparison names no constant and no field with a digit in its name."""


def sources(workplace: Workplace) -> Iterator[Fault]:
    """Every form on every surface; sources of a kind that the record lacks are made up for it."""
    known = forms("source", workplace.names, workplace.record.ids)
    yield from planted(surfaces(workplace), known)


def surfaces(workplace: Workplace) -> Iterator[Surface]:
    """Every place of a source that a page shows; kinds that the record lacks are made up."""
    for kind, printed in PRINTED.items():
        path, text = _carrier(workplace, kind)
        named = f"a source: {NAMES[kind]}"
        yield Surface(f"{named}, body", path, partial("{}\n\n{}\n".format, text), _as_written)
        for name, (key, value) in printed.items():
            yield Surface(f"{named}, {name}", path, partial(_front_value, text, key, value))
    yield from _claims(workplace)
    yield from _strings(workplace)
    yield from _experiments(workplace)


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


def _experiments(workplace: Workplace) -> Iterator[Surface]:
    """The question of an experiment in the engine's list of them."""
    if workplace.record.experiments and workplace.record.experiments.rows:
        question = json.dumps(workplace.record.experiments.rows[0].question, ensure_ascii=False)
        head, _, tail = workplace.text(experiments.PATH).partition(question)
        yield Surface(
            "a source: experiments.json, question",
            experiments.PATH,
            lambda form: head + _quoted(form) + tail,
            strict=True,
        )


def _carrier(workplace: Workplace, kind: str) -> tuple[str, str]:
    """A source of a kind: path and text, made up where the record has none."""
    found = (each for each in workplace.record.sources if each.kind == kind)
    first = next(found, None)
    return (first.path, first.text) if first else _made(kind)


def _made(kind: str) -> tuple[str, str]:
    none = "payloads:\n  a: payloads/selftest/none.json\n"
    front = {
        "finding": f"id: F-1\nrecord: selftest\nstatus: open\n{none}",
        "kill": f"id: K-1\nfires_when: a.results.x > a.results.y\n{none}",
        "erratum": "id: E-1\nfinding: F-1\nstatement: selftest\ndate: 2026-12-01\nkind: wording\n"
        "payloads: {}\n",
        "pass": "record: selftest\ndate: 2026-12-01\n",
    }
    path = {
        "finding": "findings/F-1.md",
        "kill": "findings/K-1.md",
        "erratum": "findings/errata/E-1.md",
        "pass": PASS,
        "template": LANDING,
        "page": "site_src/selftest.md",
    } | {name: path for path, name in DISCLOSURES.items()}
    text = f"---\n{front.get(kind, '')}---\nWords.\n"
    for key, value in PRINTED[kind].values():
        text = front_key(text, key, value("Words."))
    return path[kind], text


def _claimed(claim: re.Match[str], words: str) -> str:
    """The source with other words inside a claim."""
    return claim.string[: claim.start(2)] + words + claim.string[claim.end(2) :]


def _front_value(text: str, key: str, value: Value, form: str) -> str:
    return front_key(text, key, value(form))


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
