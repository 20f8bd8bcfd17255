"""The critic's work in order: read what binds itself, judge each label, keep a payload, tell."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path

from engine.contract import store
from engine.contract.errors import EngineError, UnknownName
from engine.critic import report, source
from engine.critic.evidence import Evidence
from engine.critic.judge import Judged, judge
from engine.critic.source import Source


def run(root: Path, names: Sequence[str], out: Path | None) -> int:
    """Judge the labels of records or sources `names`, all by default; 1 where one does not agree."""
    started = time.perf_counter()
    evidence, sources = Evidence(root), choose(source.read_all(root), names)
    if out is not None and (narrow := [name for name in names if source.NAME.fullmatch(name)]):
        raise UnknownName(narrow[0], "is no record.", "A payload is about whole records: leave it out.")
    judged = [judge(each, label, evidence) for each in sources for label in each.labels]
    for each in judged:
        print(report.line(each))
    for record in dict.fromkeys(each.record for each in sources) if out else ():
        print(f"wrote {_keep(record, judged, evidence, Path(str(out)))}")
    print(_summary(judged, time.perf_counter() - started))
    return int(any(each.agrees is False for each in judged))


def choose(sources: Sequence[Source], names: Sequence[str]) -> list[Source]:
    """The sources of these records or ids; `UnknownName` for a name that is neither."""
    records = list(dict.fromkeys(each.record for each in sources))
    for name in names:
        if name not in records and name not in [each.id for each in sources]:
            known = f"Records: {', '.join(records)}. Sources: {', '.join(each.id for each in sources)}."
            raise UnknownName(name, "is no record and no finding or kill criterion.", known)
    if not sources:
        raise UnknownName("findings/", "holds no finding and no kill criterion.", "Choose another --root.")
    return [each for each in sources if not names or each.record in names or each.id in names]


def _keep(record: str, judged: Sequence[Judged], evidence: Evidence, out: Path) -> Path:
    about = [each for each in judged if each.source.record == record]
    made = report.document(record, ["engine", "critic", record], about, evidence)
    path = out / f"{made.name}.json"
    store.write(path, made)
    return path


def _summary(judged: Sequence[Judged], seconds: float) -> str:
    decided = [each for each in judged if each.agrees is not None]
    agreeing = sum(each.agrees is True for each in decided)
    left = len(judged) - len(decided)
    return f"{agreeing} of {len(decided)} labels agree, {left} without a rule or not run, {seconds:.1f} s"


def main(root: Path, names: Sequence[str], out: Path | None) -> int:
    """The command: print and return the exit code; 2 for a name that is not there."""
    try:
        return run(root, names, out)
    except source.Unreadable as unreadable:
        for fault in unreadable.faults:
            print(f"engine critic: {fault}", file=sys.stderr)
        return 1
    except EngineError as error:
        print(f"engine critic: {error}", file=sys.stderr)
        return 2 if isinstance(error, UnknownName) else 1
