"""What was judged, as a payload and as lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from engine.contract import payload
from engine.contract.payload import Critic, FileDigest, Leaf, lexeme
from engine.contract.provenance import gather
from engine.critic import PROGRAM, VERSION
from engine.critic.counts import STUDIES
from engine.critic.draws import OTHERS, RESAMPLES, SEED
from engine.critic.evidence import Evidence, Reading
from engine.critic.interval import SIGMAS
from engine.critic.judge import Judged
from engine.critic.removal import EXHAUSTIVE
from engine.critic.source import Kind

INDEPENDENCE = "same authors, other code, same committed state"


def document(record: str, command: list[str], judged: Sequence[Judged], evidence: Evidence) -> Critic:
    """The critic's payload for one record."""
    labels: dict[str, dict[Kind, payload.Judgement]] = {}
    for each in judged:
        labels.setdefault(each.source.id, {})[each.label.kind] = _judgement(each, evidence)
    provenance = gather(command, packages=("numpy",), models=[], inputs=[])
    return Critic(
        schema="specdec-sidechannels/critic/1",
        name=f"critic/{record}",
        question="Do the labels follow from the committed state, and how few prompts decide them?",
        regime=payload.Reader(program=PROGRAM, version=VERSION, independence=INDEPENDENCE),
        config={
            "resamples": RESAMPLES,
            "studies": STUDIES,
            "other_seeds": len(OTHERS),
            "exhaustive_up_to": EXHAUSTIVE,
            "tolerance_in_deviations": lexeme(SIGMAS),
        },
        seeds={"root": SEED},
        provenance=provenance.model_copy(update={"inputs": _inputs(judged, evidence)}),
        results=_results(judged),
        labels=labels,
    )


def _inputs(judged: Iterable[Judged], evidence: Evidence) -> list[FileDigest]:
    """Every file that was judged, by its digest."""
    digests = {each.source.path: each.source.sha256 for each in judged}
    for each in judged:
        for path in each.source.payloads.values():
            if evidence.there(path):
                digests[path] = evidence.document(path).sha256
    return [FileDigest(path=path, sha256=digests[path]) for path in sorted(digests)]


def _results(judged: Sequence[Judged]) -> dict[str, Any]:
    counts = {
        "labels": len(judged),
        "agreeing": sum(each.agrees is True for each in judged),
        "disagreeing": sum(each.agrees is False for each in judged),
        "without_rule": sum(each.agrees is None for each in judged),
    }
    results: dict[str, Any] = {name: Leaf(value=count, unit="labels") for name, count in counts.items()}
    results["recomputed"] = {}
    for each in judged:
        for reading in each.readings.values():
            _add(results["recomputed"], reading)
    return results


def _add(results: dict[str, Any], reading: Reading) -> None:
    """The critic's own estimate, under the payload's name and its place there."""
    if reading.measure is None:
        return
    path, _, pointer = reading.leaf_address.partition("#/results/")
    *way, last = [*path.removeprefix("payloads/").removesuffix(".json").split("/"), *pointer.split("/")]
    for key in way:
        results = results.setdefault(_identifier(key), {})
    unit = reading.leaf["unit"]
    results[_identifier(last)] = Leaf.model_validate({**reading.measure.fields(), "unit": unit})


def _identifier(text: str) -> str:
    name = re.sub(r"[^a-z0-9_]", "_", text)
    return name if name[:1].isalpha() else f"n_{name}"


def _judgement(each: Judged, evidence: Evidence) -> payload.Judgement:
    return payload.Judgement(
        source=each.source.path,
        rules=dict(each.label.texts),
        published=each.published,
        recomputed=each.recomputed,
        agrees=each.agrees,
        problems=list(each.problems),
        numbers={
            address: "recomputed" if reading.measure else "as written"
            for address, reading in sorted(each.readings.items())
        },
        robustness=_robustness(each),
        fragility=_fragility(each, evidence),
    )


def _robustness(each: Judged) -> payload.Robustness | None:
    found = each.robustness
    if found is None:
        return None
    return payload.Robustness(
        bootstrap_t=found.bootstrap_t,
        cluster_t=found.cluster_t,
        without_two=found.without_two,
        seeds=len(OTHERS),
        same_seeds=found.same_seeds,
    )


def _fragility(each: Judged, evidence: Evidence) -> payload.Fragility | None:
    found = each.fragility
    if found is None:
        return None
    if found.removed is None:
        return payload.Fragility(clusters=found.clusters, tried=found.tried)
    return payload.Fragility(
        flips_after=len(found.removed),
        exact=found.exact,
        clusters=found.clusters,
        tried=found.tried,
        becomes=found.becomes,
        afresh_after=found.afresh,
        removed=_removed(each, found.removed, evidence),
    )


def _removed(each: Judged, clusters: frozenset[int], evidence: Evidence) -> dict[str, list[int]]:
    documents = [evidence.document(path) for path in dict.fromkeys(each.source.payloads.values())]
    measured = {r.address.partition("#")[0] for r in each.readings.values() if r.measure}
    return {
        str(document.content["name"]): own
        for document in documents
        if document.path in measured and (own := evidence.named(document, clusters))
    }


def line(each: Judged) -> str:
    """One label in one line, with what is wrong with it below."""
    name = f"{each.source.id} {each.label.kind} {each.published}"
    if each.agrees is None:
        reason = "not run" if each.label.rules else "no rule decides it"
        return f"-        {name}: {reason}"
    head = f"{'agree   ' if each.agrees else 'DISAGREE'} {name}"
    said = [_flips(each), _others(each)] if each.fragility else ["cannot be recomputed"]
    return "\n".join([f"{head}: {'; '.join(said)}", *(f"         {problem}" for problem in each.problems)])


def _flips(each: Judged) -> str:
    found = each.fragility
    if found is not None and not found.clusters:
        return "rests on no clusters that could be left out"
    if found is None or found.removed is None:
        return f"flips after none of up to {found.tried} of {found.clusters} clusters" if found else ""
    bound = "" if found.exact else "at most "
    size = len(found.removed)
    afresh = "" if found.afresh == size else f", {found.afresh or 'none tried'} when bootstrapped afresh"
    return f"flips after {bound}{size} of {found.clusters} clusters ({found.becomes}{afresh})"


def _others(each: Judged) -> str:
    found = each.robustness
    if found is None:
        return ""
    words = {
        "bootstrap-t": found.bootstrap_t,
        "cluster-robust t": found.cluster_t,
        "without the two most influential": found.without_two,
    }
    same = [name for name, word in words.items() if word == each.recomputed]
    other = [f"{name}: {word or 'cannot be made'}" for name, word in words.items() if word != each.recomputed]
    seeds = f"{found.same_seeds} of {len(OTHERS)} seeds"
    return "; ".join(["same by " + ", ".join([*same, seeds]), *other])
