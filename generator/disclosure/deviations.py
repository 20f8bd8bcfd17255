"""The dated entries of `findings/DEVIATIONS.md`: where a registered rule was bent, and how to read it."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from dataclasses import dataclass

from generator.number.erratum import GRACE
from generator.record.front_matter import Place
from generator.record.record import Record
from generator.record.source import Source
from generator.report.refusal import Refusal


@dataclass(frozen=True)
class Deviation:
    """One entry: rule is an id or the path of a payload, allows the finding that it lets be registered."""

    source: Source
    number: int
    date: str
    rule: str
    what: str
    reading: str
    allows: str

    @property
    def name(self) -> str:
        """The entry's key in the front matter."""
        return f"deviations.{self.number - 1}"

    def place(self, key: str) -> Place:
        return self.source.place(f"{self.name}.{key}")

    def refusal(self, key: str, code: str, message: str) -> Refusal:
        """A refusal at one of the entry's values."""
        return Refusal(self.source.path, *self.place(key), code, str(getattr(self, key)), message)


def entries(record: Record) -> tuple[Deviation, ...]:
    """All deviations of a record, as they were entered."""
    source = record.disclosure("deviations")
    listed = source.front.get("deviations") if source else None
    if source is None or not isinstance(listed, list):
        return ()
    keys = ("date", "rule", "what", "reading", "allows")
    return tuple(
        Deviation(source, number, *(str(each.get(key, "")) for key in keys))
        for number, each in enumerate(listed, 1)
    )


def allowing(record: Record, finding: str) -> Deviation | None:
    """The dated ruling by which a finding may be registered though no critic has agreed; None without one."""
    return next((each for each in entries(record) if each.allows == finding), None)


def faults(record: Record, today: datetime.date | None = None) -> Iterator[Refusal]:
    """Entries about nothing, of a day that is not yet, or before the one above; without a day, today's."""
    today = today or datetime.datetime.now(datetime.UTC).date()
    former = ""
    for each in entries(record):
        if datetime.date.fromisoformat(each.date) > today + GRACE:
            message = f"The date is in the future; today is {today.isoformat()}."
            yield each.refusal("date", "bad-front-matter", message)
        elif each.date < former:
            message = f"The entry above is of {former}. New entries go to the end."
            yield each.refusal("date", "bad-front-matter", message)
        former = max(former, each.date)
        yield from _about(record, each)


def _about(record: Record, entry: Deviation) -> Iterator[Refusal]:
    """The rule and the finding that an entry names are there."""
    if entry.rule.startswith("payloads/"):
        if entry.rule not in record.payloads:
            message = f"There is no payload {entry.rule} in this record."
            yield entry.refusal("rule", "unknown-payload", message)
    elif entry.rule not in record.ids:
        message = f"{entry.rule} is no finding, kill criterion or erratum of this record."
        yield entry.refusal("rule", "unknown-id", message)
    if entry.allows and entry.allows not in {each.id for each in record.findings}:
        yield entry.refusal("allows", "unknown-id", f"{entry.allows} is no finding of this record.")
