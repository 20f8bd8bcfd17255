"""The Amber experiment's payloads: whole numbers a prompt, and what follows from them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from engine.coding.amber_format import Archive, Record, parse
from engine.coding.amber_ranks import MARGIN_CLASSES
from engine.contract.payload import Measured, Payload, Rehearsal, State, Statistic, lexeme
from engine.contract.provenance import gather
from engine.decode import registry
from engine.experiments import amber_counts as counts
from engine.experiments.acceptance import PROMPTS_FILE, evaluate
from engine.run import Documents
from engine.stats.statistic import Table

if TYPE_CHECKING:
    from engine.experiments.amber import Amber

MODES = ("greedy", "sampled")
GROUPS = ("all", *MODES, "tail", "no_tail")
CLASSED = ("bf16", "fp16")
PAIRS = (("ranks", "ideal"), ("ranks", "lockstep"), ("lockstep", "ideal"), ("ranks", "zstd_dictionary"))
Columns = dict[str, list[int]]
"""One whole number a prompt under each name."""
Named = tuple[str, str, Statistic]


def fragility(experiment: Amber, documents: Documents) -> Payload:
    """Where archives decode, and where and how soon they do not."""
    folded = _Folded(experiment, documents)
    folded.add("archives", [1] * folded.texts)
    folded.add("tokens", [len(text) for text in documents["pack"]["tokens"]])
    folded.add("same", [int(same) for same in documents["unpack"]["same"]])
    told = [_told(archive, folded.vocabulary) for archive in folded.archives]
    folded.add("by_rank", [sum(each.by_rank) for each in told])
    named, absent = list(_exact()), {}
    for name in experiment.decoders:
        found = documents[f"decode/{name}"]
        if "absent" in found:
            absent[f"{name}.failed"] = found["absent"]
            continue
        first = found["first"]
        folded.add(f"{name}_failed", [int(at is not None) for at in first])
        folded.add(f"{name}_first", [0 if at is None else at for at in first])
        folded.add(f"{name}_refused", [int(found["canary"] != folded.canary)] * folded.texts)
        named += _failing(name)
        read = documents.get(f"read/{name}", {"absent": "Not read: it was only decoded there."})
        if "absent" in read:
            absent[f"{name}.moved"] = read["absent"]
            continue
        before = documents["read/packed"]
        ranks = zip(told, before["ranks"], read["ranks"], strict=True)
        moved = [counts.broken(*each) for each in ranks]
        flips = [_differing(*each) for each in zip(before["best"], read["best"], strict=True)]
        folded.add(f"{name}_moved", [sum(each.moved) for each in moved])
        folded.add(f"{name}_flips", flips)
        folded.add(f"{name}_right", [each.ordered[0] for each in moved])
        folded.add(f"{name}_pairs", [each.ordered[1] for each in moved])
        folded.add(f"{name}_unforeseen", [int(m.first != at) for m, at in zip(moved, first, strict=True)])
        named += _moving(name)
        if name in CLASSED:
            for margin in range(MARGIN_CLASSES):
                folded.add(f"{name}_told_{margin}", [each.told[margin] for each in moved], groups=("all",))
                folded.add(f"{name}_moved_{margin}", [each.moved[margin] for each in moved], groups=("all",))
                named.append(_by_margin(name, margin))
    return _payload(experiment, "fragility", folded, named, absent)


def _exact() -> Iterator[Named]:
    for group in GROUPS:
        yield f"archives.{group}", "archives", _sum(f"{group}_archives")
        yield f"byte_exact.{group}", "archives", _sum(f"{group}_same")
    yield "tokens", "tokens", _sum("all_tokens")
    yield "by_rank", "share of tokens", _ratio("all_by_rank", "all_tokens")


def _failing(name: str) -> Iterator[Named]:
    yield f"{name}.refused_by_canary", "archives", _sum(f"all_{name}_refused")
    for group in GROUPS:
        yield f"{name}.failed_archives.{group}", "archives", _sum(f"{group}_{name}_failed")
        yield (
            f"{name}.failed.{group}",
            "share of archives",
            _ratio(f"{group}_{name}_failed", f"{group}_archives"),
        )
        first = _ratio(f"{group}_{name}_first", f"{group}_{name}_failed")
        yield f"{name}.first_failing_token.{group}", "tokens", first


def _moving(name: str) -> Iterator[Named]:
    yield f"{name}.moved_tokens", "tokens", _sum(f"all_{name}_moved")
    yield f"{name}.moved", "share of tokens", _ratio(f"all_{name}_moved", "all_by_rank")
    yield f"{name}.flips", "share of tokens", _ratio(f"all_{name}_flips", "all_tokens")
    yield f"{name}.margins_tell", "share of pairs", _ratio(f"all_{name}_right", f"all_{name}_pairs")
    yield f"{name}.unforeseen", "archives", _sum(f"all_{name}_unforeseen")


def _by_margin(name: str, margin: int) -> Named:
    share = _ratio(f"all_{name}_moved_{margin}", f"all_{name}_told_{margin}")
    return f"{name}.moved_by_margin.class_{margin}", "share of tokens", share


def sizes(experiment: Amber, documents: Documents) -> Payload:
    """How long archives are beside other ways to keep the same texts."""
    folded = _Folded(experiment, documents)
    tokens = [len(text) for text in documents["pack"]["tokens"]]
    folded.add("archives", [1] * folded.texts)
    folded.add("tokens", tokens)
    folded.add("sixteenths", [counts.SIXTEENTHS * count for count in tokens])
    lengths = _lengths(experiment, documents, folded.archives)
    for name, each in lengths.items():
        folded.add(name, each)
    named: list[Named] = []
    for group in GROUPS:
        under = f"{group}_sixteenths"
        named += [(f"{n}.{group}", "bits a token", _ratio(f"{group}_{n}", under)) for n in lengths]
        named += [_gap(group, *pair) for pair in PAIRS]
        saved = _ratio(f"{group}_zstd_dictionary", f"{group}_ranks")
        named += [(f"advantage_over_zstd_dictionary.{group}", "ratio", saved)]
        named += [(f"archives.{group}", "archives", _sum(f"{group}_archives"))]
    named += _control(experiment, documents, folded)
    return _payload(experiment, "sizes", folded, named, {})


def _lengths(experiment: Amber, documents: Documents, archives: Sequence[Archive]) -> Columns:
    """Sixteenths of a bit of every text under each way of keeping it."""
    rivals, shares = documents["rivals"], documents["shares"]
    code = [sum(len(record.code) for record in archive.records) for archive in archives]
    margins = [sum(len(record.margins) for record in archive.records) for archive in archives]
    whole = [len(packed) // 2 for packed in documents["pack"]["archives"]]
    out = {
        "ranks": [counts.length(each) for each in code],
        "ranks_margins": [counts.length(a + b) for a, b in zip(code, margins, strict=True)],
        "archive": [counts.length(each) for each in whole],
        "lockstep": [counts.length(len(each) // 2) for each in shares["codes"]],
        "ideal": [round(counts.SIXTEENTHS * each) for each in shares["ideal"]],
    }
    names = ("zstd", "zstd_dictionary", "brotli", "ppmd")
    out |= {name: [counts.length(each) for each in rivals[name]] for name in names}
    share = counts.spread(counts.length(rivals["dictionary_bytes"][0]), len(archives))
    counted = [a + b for a, b in zip(out["zstd_dictionary"], share, strict=True)]
    return out | {"zstd_dictionary_counted": counted}


def _gap(group: str, one: str, other: str) -> Named:
    under = f"{group}_sixteenths"
    first, second = _ratio(f"{group}_{one}", under), _ratio(f"{group}_{other}", under)
    statistic = Statistic(
        kind="difference",
        numerator=first.numerator,
        denominator=first.denominator,
        minus=second,
        stream="bootstrap",
    )
    return f"{one}_over_{other}.{group}", "bits a token", statistic


def _control(experiment: Amber, documents: Documents, folded: _Folded) -> Iterator[Named]:
    """The target as its own draft, on some prompts; the draft's figures on the same texts beside it."""
    chosen, found = experiment.controlled, documents["control"]
    control = [parse(bytes.fromhex(packed)) for packed in found["archives"]]
    columns = {
        "control_sixteenths": [counts.SIXTEENTHS * len(text) for text in found["tokens"]],
        "control_ranks": [counts.length(sum(len(r.code) for r in each.records)) for each in control],
        "control_ideal": [round(counts.SIXTEENTHS * bits) for bits in found["ideal"]],
    }
    for name, values in columns.items():
        whole = [0] * folded.texts
        for index, value in zip(chosen, values, strict=True):
            whole[index] = value
        folded.add(name, whole, groups=("all", *MODES))
    for group in ("all", *MODES):
        for name in ("ranks", "ideal"):
            share = _ratio(f"{group}_control_{name}", f"{group}_control_sixteenths")
            yield f"target_as_draft.{name}.{group}", "bits a token", share


class _Folded:
    """Numbers of texts, added up a prompt: each prompt has one text a mode, and is one cluster."""

    def __init__(self, experiment: Amber, documents: Documents) -> None:
        s = experiment.settings
        self.prompts, self.texts = s.prompts, s.prompts * len(MODES)
        self.columns: Columns = {"cluster": list(range(s.prompts))}
        tokens = documents["pack"]["tokens"]
        self.tails = [counts.repeats(text, s.tail_window, s.tail_period) for text in tokens]
        self.archives = [parse(bytes.fromhex(packed)) for packed in documents["pack"]["archives"]]
        self.canary = documents["read/packed"]["canary"]
        self.vocabulary = experiment.vocabulary

    def add(self, name: str, values: Sequence[int], groups: Sequence[str] = GROUPS) -> None:
        """A column a group from one number a text."""
        for group in groups:
            kept = [value if self._within(group, text) else 0 for text, value in enumerate(values)]
            self.columns[f"{group}_{name}"] = [sum(kept[p :: self.prompts]) for p in range(self.prompts)]

    def _within(self, group: str, text: int) -> bool:
        inside = {"all": True, "tail": self.tails[text], "no_tail": not self.tails[text]}
        return inside.get(group, group == MODES[text // self.prompts])


def _told(archive: Archive, vocabulary: int) -> counts.Told:
    records: list[Record] = [record for record in archive.records if record.tokens]
    each = [counts.Told.of(record, vocabulary) for record in records]
    return counts.Told([b for t in each for b in t.by_rank], [c for t in each for c in t.classes])


def _differing(one: Sequence[int], other: Sequence[int]) -> int:
    return sum(a != b for a, b in zip(one, other, strict=True))


def _ratio(above: str, below: str) -> Statistic:
    return Statistic(kind="ratio", numerator=[above], denominator=[below], stream="bootstrap")


def _sum(column: str) -> Statistic:
    return Statistic(kind="sum", numerator=[column], stream="bootstrap")


def _payload(
    experiment: Amber, name: str, folded: _Folded, named: Sequence[Named], absent: dict[str, str]
) -> Payload:
    s = experiment.settings
    used = {c for _, _, each in named for part in (each, each.minus) if part for c in _columns_of(part)}
    columns = [column for column in folded.columns if column == "cluster" or column in used]
    rows = [list(row) for row in zip(*(folded.columns[column] for column in columns), strict=True)]
    table = Table.from_rows(columns, rows, root=s.root, resamples=s.resamples, level=s.level)
    results, without = evaluate(named, table)
    measured = Measured(
        schema="specdec-sidechannels/payload/1",
        name=f"amber/{name}",
        question=QUESTIONS[name],
        regime={
            "target": registry.entry(s.target).title,
            "draft": s.draft,
            "precision": "fp32",
            "decoding": "greedily and at temperature one",
            "device": "CPU",
        },
        config=_config(experiment),
        seeds={"root": s.root},
        provenance=gather(
            ["engine", "run", "amber"],
            packages=("numpy", "torch", "transformers", "zstandard", "brotli", "pyppmd"),
            models=list(experiment.models),
            inputs=[PROMPTS_FILE, "engine/experiments/prompts/amber.toml"],
        ),
        results=results,
        absent=absent | without or None,
        state=State(columns=columns, rows=rows),
    )
    return rehearsed(measured) if experiment.rehearsing else measured


def rehearsed(measured: Measured) -> Rehearsal:
    """The same document, marked as never to be published."""
    document = measured.model_dump(by_alias=True, exclude_none=True)
    return Rehearsal.model_validate(document | {"schema": "specdec-sidechannels/rehearsal/1"})


def _columns_of(statistic: Statistic) -> list[str]:
    return [*statistic.numerator, *(statistic.denominator or [])]


def _config(experiment: Amber) -> dict[str, Any]:
    out = {name: value for name, value in asdict(experiment.settings).items() if name != "root"}
    compressors = {
        "zstd_level": counts.ZSTD_LEVEL,
        "brotli_quality": counts.BROTLI_QUALITY,
        "ppmd_order": counts.PPMD_ORDER,
    }
    return out | compressors | {"level": lexeme(experiment.settings.level)}


QUESTIONS = {
    "fragility": "Where does a draft's ranking give the text back byte for byte, and where does it break?",
    "sizes": "How long are archives by rank beside other ways to keep the same texts?",
}
