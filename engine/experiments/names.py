"""The experiments there are, by name: data only, so that listing them costs nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from engine.contract.errors import NotBuilt, UnknownName

SCHEMA = "specdec-sidechannels/experiments/1"
"""Kind and version of the list that is published."""

FILE = "experiments.json"
"""The published list, in the folder of payloads."""


@dataclass(frozen=True)
class Row:
    """One experiment: what it asks, and, once it is built, where it is defined and what it needs.

    `apart` says which of its tasks may be worked out beside each other on a cluster: a pattern of names, and
    the patterns of the earlier tasks whose documents or files those need. A task under none waits for all
    before it.
    """

    name: str
    record: str
    question: str
    place: str = ""
    models: tuple[str, ...] = ()
    minutes: int = 0
    card: bool = False  # whether it needs a graphics card
    payloads: tuple[str, ...] = ()
    apart: Mapping[str, Sequence[str]] = field(default_factory=dict, hash=False)

    @property
    def built(self) -> bool:
        """Whether there is code that runs it."""
        return bool(self.place)

    @property
    def needs(self) -> str:
        """What it takes to run it, in words."""
        if not self.built:
            return "planned"
        return "needs a graphics card" if self.card else f"about {self.minutes} min on two cores"

    @property
    def state(self) -> str:
        """Built or planned, as the published list says it."""
        return "built" if self.built else "planned"


TEXTS: Mapping[str, Sequence[str]] = {"text/*": (), "read/*": ("text/*",)}
"""Batches of texts by themselves, each reading after them."""

CELLS: Mapping[str, Sequence[str]] = {"harvest/*": (), "cell/*": ("harvest/*",), "retest/*": ("harvest/*",)}
"""Harvests by themselves, each cell after them: they lie in the cache, which the nodes must share."""

EXPERIMENTS = (
    Row(
        name="acceptance",
        record="acceptance",
        place="engine.experiments.acceptance:Acceptance",
        question="How many draft tokens does the target keep?",
        models=("smollm2", "smollm2-draft"),
        minutes=25,
        payloads=tuple(
            f"acceptance/{name}"
            for name in ("lookup-greedy", "lookup-sampled", "draft-greedy", "draft-sampled", "seed-noise")
        ),
        apart=TEXTS,
    ),
    Row(
        name="replay",
        record="acceptance",
        place="engine.experiments.replay:ReplayCheck",
        question="Are replayed rounds those of live decoding, and is the text the target's own?",
        models=("smollm2", "smollm2-draft"),
        minutes=20,
        payloads=("acceptance/replay",),
        apart={**TEXTS, "live/*": (), "peer/*": ()},
    ),
    Row(
        name="distillation",
        record="acceptance",
        place="engine.experiments.distillation:Distillation",
        question="What was the draft trained on, and how far did it get?",
        models=("smollm2-draft",),
        minutes=1,
        payloads=("acceptance/distillation",),
    ),
    Row(
        name="amber",
        record="amber",
        place="engine.experiments.amber:Amber",
        question="Does a draft's ranking make a byte-exact archive of the target's text, and at what size?",
        models=("smollm2", "smollm2-draft"),
        minutes=40,
        payloads=("amber/fragility", "amber/sizes"),
        apart={"text/*": (), "dictionary/*": ()},
    ),
    Row(
        name="census",
        record="census",
        place="engine.experiments.census:Census",
        question="Does a model's ranking of tokens repeat in other environments?",
        models=("smollm2", "smollm2-draft"),
        minutes=20,
        payloads=("census/rankings",),
        apart={"text/*": ()},
    ),
    Row(
        name="lockstep",
        record="tools",
        place="engine.experiments.lockstep:LockstepCosts",
        question="How fast is the coder, how long are its codes, and when does a model-backed archive pay?",
        models=("smollm2",),
        minutes=15,
        payloads=("tools/lockstep-coder", "tools/lockstep-archives"),
    ),
    Row(
        name="lockstep-vectors",
        record="tools",
        place="engine.experiments.vectors:Vectors",
        question="Do the coder's bytes come out the same under every interpreter of this machine?",
        minutes=1,
        payloads=("tools/vectors",),
    ),
    Row(
        name="lockstep-windows",
        record="tools",
        question="Do the coder's bytes come out the same on Windows?",
    ),
    Row(
        name="lockstep-macos",
        record="tools",
        question="Do the coder's bytes come out the same on macOS?",
    ),
    Row(
        name="coverage",
        record="tools",
        place="engine.experiments.coverage:Coverage",
        question="How often does each kind of interval hold the truth?",
        minutes=2,
        payloads=("tools/coverage",),
        apart={"*": ()},
    ),
    Row(
        name="seed-noise",
        record="tools",
        place="engine.experiments.seed_noise:SeedNoise",
        question="How large a difference do seeds alone show, and how many prompts resolve the bar?",
        minutes=1,
        payloads=("tools/seed-noise",),
    ),
    Row(
        name="testbed",
        record="tools",
        place="engine.experiments.testbed:Testbed",
        question="How small a margin and how small a gain can a study of this size see?",
        minutes=8,
        payloads=("tools/testbed-power", "tools/testbed"),
        apart={"*": ()},
    ),
    Row(
        name="assisted",
        record="tools",
        place="engine.experiments.assisted:Assisted",
        question="Does transformers' assisted sampling draw from the target's law?",
        minutes=4,
        payloads=("tools/assisted",),
    ),
    Row(
        name="upcycling",
        record="sideband",
        place="engine.experiments.upcycling:Upcycling",
        question="Is the target that was cut into experts good enough to be asked about?",
        models=("smollm2", "smollm2-draft", "smollm2-moe"),
        minutes=3,
        payloads=("sideband/upcycling",),
        apart={**TEXTS, "facts": ()},
    ),
    Row(
        name="sideband-tap",
        record="sideband",
        question="Do the active units of the target's layers tell the draft anything it does not have?",
        place="engine.experiments.existence:tap",
        models=("smollm2",),
        minutes=30,
        payloads=tuple(f"sideband/existence-{name}" for name in ("s1", "s1-replication")),
        apart=CELLS,
    ),
    Row(
        name="sideband-tap-retests",
        record="sideband",
        place="engine.experiments.retests:tap",
        question="Do stronger readers find in the tapped units what the registered reader does not?",
        models=("smollm2",),
        minutes=35,
        payloads=tuple(f"sideband/retests-{name}" for name in ("s1", "s1-replication")),
        apart=CELLS,
    ),
    Row(
        name="sideband-pages",
        record="sideband",
        question="Do the pages of the key and value cache that the target reads tell the draft anything?",
        place="engine.experiments.existence:pages",
        models=("smollm2",),
        minutes=15,
        payloads=tuple(
            f"sideband/existence-{name}" for name in ("s2", "s2-replication", "s2a", "s2a-replication")
        ),
        apart=CELLS,
    ),
    Row(
        name="sideband-pages-retests",
        record="sideband",
        place="engine.experiments.retests:pages",
        question="Do stronger readers find in the cache pages what the registered reader does not?",
        models=("smollm2",),
        minutes=60,
        payloads=tuple(
            f"sideband/retests-{name}" for name in ("s2", "s2-replication", "s2a", "s2a-replication")
        ),
        apart=CELLS,
    ),
    Row(
        name="sideband-experts",
        record="sideband",
        question="Do the experts that the target's routers choose tell the draft anything?",
        place="engine.experiments.existence:experts",
        models=("smollm2-moe",),
        minutes=40,
        payloads=tuple(f"sideband/existence-{name}" for name in ("s3", "s3-replication")),
        apart=CELLS,
    ),
    Row(
        name="sideband-experts-retests",
        record="sideband",
        place="engine.experiments.retests:experts",
        question="Do stronger readers find in the chosen experts what the registered reader does not?",
        models=("smollm2-moe",),
        minutes=40,
        payloads=tuple(f"sideband/retests-{name}" for name in ("s3", "s3-replication")),
        apart=CELLS,
    ),
    Row(
        name="sideband-conversion",
        record="sideband",
        question="Does a signal in a stream become accepted tokens?",
        place="engine.experiments.conversion:ConversionLane",
        models=("smollm2", "smollm2-moe", "smollm2-draft"),
        minutes=60,
        payloads=(
            "sideband/conversion",
            *(f"sideband/conversion-{s}-{m}" for s in ("s1", "s2", "s3") for m in ("bias", "retrieval")),
        ),
    ),
    Row(
        name="sideband-reconstruction",
        record="sideband",
        question="Does a stream give the target's final hidden state away, beyond what is free?",
        place="engine.experiments.reconstruction:Rebuilding",
        models=("smollm2", "smollm2-moe", "smollm2-draft"),
        minutes=20,
        payloads=(
            *(f"sideband/reconstruction-{s}" for s in ("s1", "s2", "s3")),
            "sideband/state-from-law",
        ),
    ),
    Row(
        name="sideband-prices",
        record="sideband",
        question="What do seeds alone show, and what do a stream, its reader and its sidecar cost?",
        place="engine.experiments.floors:Prices",
        models=("smollm2", "smollm2-moe", "smollm2-draft"),
        minutes=45,
        payloads=tuple(f"sideband/{name}" for name in ("seed-floor", "width-s1", "clock", "economics")),
    ),
    Row(
        name="sideband-prefetch",
        record="sideband",
        question="Which experts does the next forward need, and does watching the routers help?",
        place="engine.experiments.prefetch:Prefetch",
        models=("smollm2-moe", "smollm2-draft"),
        minutes=15,
        payloads=("sideband/prefetch-primary", "sideband/prefetch-replication"),
    ),
    Row(
        name="sideband-llama",
        record="sideband",
        question="Is it the same on Llama-3.1-8B?",
        place="engine.experiments.existence_large:llama",
        models=("llama-8b",),
        card=True,
        payloads=tuple(
            f"sideband/existence-llama-{stream}{harvest}"
            for stream in ("s1", "s2", "s2a")
            for harvest in ("", "-replication")
        ),
        apart=CELLS,
    ),
    Row(
        name="sideband-olmoe",
        record="sideband",
        question="Is it the same on OLMoE?",
        place="engine.experiments.existence_large:olmoe",
        models=("olmoe-1b-7b",),
        card=True,
        payloads=("sideband/existence-olmoe-s3", "sideband/existence-olmoe-s3-replication"),
        apart=CELLS,
    ),
    Row(
        name="spill-traces",
        record="spill",
        place="engine.experiments.spill_traces:SpillTraces",
        question="What does each scheme send, round by round?",
        models=("smollm2", "smollm2-draft", "smollm2-eagle"),
        minutes=220,
        payloads=("spill/traces",),
        apart={"answers/*": (), "bild/*": (), "lade/*": ("answers/*",)},
    ),
    Row(
        name="spill-datastore",
        record="spill",
        place="engine.experiments.spill_datastore:SpillDatastore",
        question="What do tokens a round give away about datastore and settings?",
        models=("smollm2", "smollm2-eagle"),
        minutes=12,
        payloads=("spill/datastore",),
        apart={"leak/*": (), "canaries": ()},
    ),
    Row(
        name="spill-availability",
        record="spill",
        place="engine.experiments.spill_availability:SpillAvailability",
        question="How far do tokens a check fall when no draft can foresee the answer?",
        models=("smollm2", "smollm2-draft", "smollm2-eagle"),
        minutes=15,
        payloads=("spill/availability",),
        apart={"*": ()},
    ),
    Row(
        name="spill-attack",
        record="spill",
        question="Does the packet stream tell which prompt was asked, and is it speculation that tells?",
        place="engine.experiments.spill_attack:SpillAttack",
        models=("smollm2", "smollm2-draft", "smollm2-eagle"),
        minutes=60,
        payloads=(
            *(f"spill/attack-exp{n}-{kind}" for n in (1, 2, 3) for kind in ("bytes", "counts")),
            *(f"spill/attack-{name}" for name in ("controls", "curves", "power")),
        ),
    ),
    Row(
        name="spill-mitigations",
        record="spill",
        question="What hides the rounds from a listener, and what does it cost?",
        place="engine.experiments.spill_mitigations:SpillMitigations",
        models=("smollm2", "smollm2-draft", "smollm2-eagle"),
        minutes=20,
        payloads=tuple(
            f"spill/mitigations-{scheme}-t-{temperature}"
            for scheme in ("plain", "lookup", "draft", "rest", "eagle", "lade", "bild")
            for temperature in ("0-3", "1-0")
        ),
    ),
    Row(
        name="spill-wire",
        record="spill",
        question="Is what a listener reads on the wire what the traces say?",
        place="engine.experiments.spill_wire:SpillWire",
        models=("smollm2", "smollm2-draft"),
        minutes=30,
        payloads=("spill/wire",),
    ),
    Row(
        name="spill-llama-cpp",
        record="spill",
        question="Do the rounds of a server that is not ours show on the wire?",
        place="engine.experiments.spill_llama_cpp:SpillLlamaCpp",
        models=("smollm2",),
        minutes=10,
        payloads=("spill/llama-cpp",),
    ),
    Row(
        name="spill-vllm",
        record="spill",
        question="Does the packet stream of a vLLM server tell what was asked?",
    ),
)


def find(name: str) -> Row:
    """The row of an experiment that can be run.

    Raises `UnknownName` naming those there are, `NotBuilt` for one, or a record of those, that is planned.
    """
    row = next((row for row in EXPERIMENTS if row.name == name), None)
    if row is not None and row.built:
        return row
    runnable = ", ".join(each.name for each in EXPERIMENTS if each.built)
    planned = [each.name for each in EXPERIMENTS if name in (each.name, each.record) and not each.built]
    if planned:
        what = "is planned" if row else f"is a record of planned experiments ({', '.join(planned)})"
        raise NotBuilt(name, f"{what}; there is no code for it yet.", f"These can be run: {runnable}.")
    raise UnknownName(name, "is no experiment.", f"Known: {runnable}.")


def published() -> str:
    """The list as a JSON document: what the record must publish, or say why it does not."""
    rows = [
        {
            "name": row.name,
            "record": row.record,
            "question": row.question,
            "state": row.state,
            "payloads": [f"payloads/{name}.json" for name in row.payloads],
        }
        for row in EXPERIMENTS
    ]
    return json.dumps({"schema": SCHEMA, "experiments": rows}, indent=2, ensure_ascii=False) + "\n"
