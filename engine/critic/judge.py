"""One label judged: made again, compared, and pushed until it gives way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from engine.contract.errors import BadData
from engine.critic import case as cases
from engine.critic import removal
from engine.critic.case import Case
from engine.critic.draws import OTHERS, SEED
from engine.critic.evidence import Evidence, Reading
from engine.critic.measure import Method
from engine.critic.removal import Fragility
from engine.critic.source import Label, Source

UNTESTED = "untested"


@dataclass(frozen=True)
class Robustness:
    """The label by other readings of the same state; None where a reading cannot be made."""

    bootstrap_t: str | None
    cluster_t: str | None
    without_two: str | None
    same_seeds: int


@dataclass(frozen=True)
class Judged:
    """A label, what the critic makes of it, and why it does not agree where it does not."""

    source: Source
    label: Label
    published: str
    recomputed: str | None
    problems: tuple[str, ...] = ()
    readings: Mapping[str, Reading] = field(default_factory=dict)
    robustness: Robustness | None = None
    fragility: Fragility | None = None

    @property
    def agrees(self) -> bool | None:
        """Whether label and numbers come out as published; None where no rule decides the label."""
        if self.label.rules and self.published != UNTESTED:
            return not self.problems
        return None


def judge(source: Source, label: Label, evidence: Evidence) -> Judged:
    """Judge one label; what goes wrong with it is a problem of the label, nothing is raised."""
    if not label.rules:
        return Judged(source, label, str(label.written), None)
    missing = [path for path in source.payloads.values() if not evidence.there(path)]
    if label.kind == "outcome" and missing:
        return Judged(source, label, UNTESTED, None)
    published = str(label.written)
    try:
        case = cases.read(source, label, evidence)
        committed = case.committed()
        published = published if label.written is not None else committed
        recomputed = case.recomputed()
    except BadData as error:
        return Judged(source, label, published, None, (str(error),))
    problems = (*_words(published, committed, recomputed), *_numbers(case))
    fragility = removal.search(case)
    return Judged(
        source,
        label,
        published,
        recomputed,
        problems,
        {reading.address: reading for reading in case.readings.values()},
        _robustness(case, recomputed, fragility),
        fragility,
    )


def _words(published: str, committed: str, recomputed: str) -> Iterator[str]:
    if committed != published:
        yield f"by the committed digits its rules give {committed!r}"
    if recomputed != published:
        yield f"by the recomputed numbers its rules give {recomputed!r}"


def _numbers(case: Case) -> Iterator[str]:
    """Committed fields that the state does not give, each estimate once."""
    estimates = {reading.leaf_address: reading for reading in case.readings.values()}
    for address, reading in estimates.items():
        for fault in reading.measure.faults(reading.leaf) if reading.measure else ():
            yield f"{address}: {fault}"


def _robustness(case: Case, recomputed: str, fragility: Fragility) -> Robustness:
    return Robustness(
        bootstrap_t=_by(case, "bootstrap_t"),
        cluster_t=_by(case, "cluster_t"),
        without_two=removal.relabelled(case, fragility.pair) if fragility.pair else None,
        same_seeds=sum(_by(case, "percentile", seed) == recomputed for seed in OTHERS),
    )


def _by(case: Case, method: Method, seed: int = SEED) -> str | None:
    try:
        return case.recomputed(seed, method)
    except BadData:
        return None
