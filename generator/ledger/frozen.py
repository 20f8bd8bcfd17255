"""Holds what is registered against what stands here, against git's history, and against a branch's base."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from generator.gate import VERSION
from generator.ledger import line as lines
from generator.ledger.line import ABSENT, CODE, PATH, Ledger, Line, digest, refusal
from generator.record.history import History, Version
from generator.record.record import Record
from generator.report.refusal import Refusal

DAY = datetime.timedelta(days=1)


class UnknownRevision(Exception):
    """A base that git does not know."""


@dataclass(frozen=True)
class Findings:
    """What a check of the ledger found."""

    refusals: tuple[Refusal, ...] = ()
    unproved: tuple[Refusal, ...] = ()
    """What is not secured yet: history that is not here, errata without a line. Warnings, refusals in CI."""


def check(record: Record, base: str | None = None) -> Findings:
    """Check the ledger of a record; raises UnknownRevision for a base that git does not know."""
    root, written = record.root, lines.text(record.root)
    history = History(root)
    versions = list(history.versions(PATH))
    if not written and not versions:
        _base(history, base)
        return Findings()
    ledger = lines.parse(written)
    refusals = [
        *ledger.refusals,
        *_grows(versions),
        *_extends(written, _decoded(history.data("HEAD", PATH)), _lost("the last commit")),
        *_on_base(written, history, base),
        *_dates(ledger, versions),
        *(each for entry in ledger.lines for each in _kept(root, history, entry)),
    ]
    missing = history.missing
    unproved = [Refusal(PATH, 1, 1, "history-missing", "", _sentence(missing))] if missing else []
    unproved.extend(_loose(record, ledger))
    return Findings(tuple(dict.fromkeys(refusals)), tuple(unproved))


def of_older_gate(root: Path) -> frozenset[str]:
    """Files that were registered under a gate with older rules."""
    return frozenset(each.path for each in lines.parse(lines.text(root)).lines if each.gate < VERSION)


def _loose(record: Record, ledger: Ledger) -> Iterator[Refusal]:
    """Errata that the ledger does not hold yet, and that could still be taken back unseen."""
    for each in record.errata:
        if ledger.of(each.path) is None:
            message = f"The ledger does not hold it. Commit it, then run findings register {each.id}."
            yield Refusal(each.path, 1, 1, "bad-erratum", each.id, message)


def _sentence(missing: str) -> str:
    return f"Whether the ledger was rewritten is not shown: {missing}."


def _grows(versions: list[Version]) -> Iterator[Refusal]:
    """Every commit that touched the ledger extends what its parents had."""
    for version in versions:
        message = f"Commit {version.commit[:12]} changed or dropped a line that its parent had."
        for parent in version.parents:
            yield from _extends(_decoded(version.data), _decoded(parent), message)


def _extends(written: str, former: str, message: str) -> Iterator[Refusal]:
    """Refuse the first line that the former ledger has and the one after it has not."""
    if not written.startswith(former):
        number = _first_difference(former, written)
        yield refusal(number, former.split("\n")[number - 1], message)


def _lost(whose: str) -> str:
    return f"The line that {whose} has is changed or gone."


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _base(history: History, base: str | None) -> str | None:
    if base is None:
        return None
    found = history.merge_base(base)
    if found is None:
        raise UnknownRevision(base)
    return found


def _on_base(written: str, history: History, base: str | None) -> Iterator[Refusal]:
    """The ledger extends the one that this branch and its base have in common."""
    commit = _base(history, base)
    if commit is not None:
        former = _decoded(history.data(commit, PATH))
        yield from _extends(written, former, _lost(f"{base} ({commit[:12]})"))


def _first_difference(one: str, other: str) -> int:
    """The first line of one text that the other does not have there."""
    pairs = zip(one.split("\n"), other.split("\n"), strict=False)
    same = next((i for i, (a, b) in enumerate(pairs) if a != b), None)
    return 1 + (min(one.count("\n"), other.count("\n")) if same is None else same)


def _dates(ledger: Ledger, versions: list[Version]) -> Iterator[Refusal]:
    """A line carries the day on which it entered the history, or today's while it has not."""
    for number, entry in enumerate(ledger.lines, 1):
        needle = f"{entry.text}\n".encode()
        brought = next((each for each in versions if needle in each.data), None)
        moments = (brought.authored, brought.time) if brought else (None, None)
        written = datetime.date.fromisoformat(entry.date)
        if not _day(moments[0]) - DAY <= written <= _day(moments[1]) + DAY:
            when = f"commit {brought.commit[:12]} of {_day(brought.time)}" if brought else "today"
            yield refusal(number, entry.text, f"The line is dated {entry.date} and comes from {when}.")


def _day(time: int | None) -> datetime.date:
    """The day of a moment, in UTC; today for none."""
    now = datetime.datetime.now(datetime.UTC)
    return (now if time is None else datetime.datetime.fromtimestamp(time, datetime.UTC)).date()


def _kept(root: Path, history: History, entry: Line) -> Iterator[Refusal]:
    """The frozen file and the payloads it named are byte for byte what they were."""
    yield from _same(root, history, entry.path, entry.source, f"{entry.id}, registered on {entry.date},")
    for path, wanted in entry.payloads.items():
        named = f"The payload of {entry.id}, registered on {entry.date},"
        if wanted == ABSENT:
            first = history.first(path)
            wanted = digest(history.data(first, path)) if first else ABSENT
        if wanted != ABSENT:
            yield from _same(root, history, path, wanted, named)


def _same(root: Path, history: History, path: str, wanted: str, what: str) -> Iterator[Refusal]:
    try:
        data = (root / path).read_bytes()
    except OSError:
        yield Refusal(path, 1, 1, CODE, "", f"{what} is gone. Restore it; a correction is an erratum.")
        return
    if digest(data) == wanted:
        return
    former = next((each.data for each in history.versions(path) if digest(each.data) == wanted), None)
    yield _changed(path, data, former, what)


def _changed(path: str, data: bytes, former: bytes | None, what: str) -> Refusal:
    """A refusal at the first changed line, with what it was."""
    remedy = "Restore it; a correction is an erratum."
    if former is None:
        return Refusal(path, 1, 1, CODE, "", f"{what} was changed. {remedy}")
    now, then = _decoded(data).split("\n"), _decoded(former).split("\n")
    number = _first_difference("\n".join(now), "\n".join(then))
    is_now, was = ("\n".join(each[number - 1 : number]) for each in (now, then))
    column = 1 + next(
        (i for i, (a, b) in enumerate(zip(is_now, was, strict=False)) if a != b), min(len(is_now), len(was))
    )
    message = f'{what} was changed. It was "{_cut(was, column)}" and is "{_cut(is_now, column)}". {remedy}'
    return Refusal(path, number, column, CODE, is_now[:160], message)


def _cut(text: str, column: int) -> str:
    """Some sixty characters of a line about a column."""
    start = max(0, column - 30)
    return text[start : start + 60]
