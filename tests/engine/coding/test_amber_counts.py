"""What the experiment on archives counts, against counts by hand; its payloads from documents made up."""

from __future__ import annotations

import json
import random
from itertools import product
from typing import Any

import pytest

from engine.coding import amber_symbols
from engine.coding.amber_format import Archive, Header, Record, dump
from engine.coding.amber_symbols import Correction
from engine.contract import store
from engine.contract.payload import Rehearsal
from engine.experiments import amber_counts as counts
from engine.experiments.amber import Amber, Settings
from engine.experiments.amber_state import fragility, sizes

VOCABULARY = 50

TAILS = {
    "the same token again and again": ([1, 2, 3] + [7] * 30, True),
    "two lines by turns": (list(range(20, 30)) + [1, 2, 3] * 10, True),
    "a tail that breaks at the last token": ([7] * 40 + [8], False),
    "a period that is too long": (list(range(9)) * 5, False),
    "a tail that is too short": (list(range(20)) + [5] * 8, False),
    "too few tokens to tell": ([5] * 19, False),
}


@pytest.mark.parametrize("case", TAILS)
def test_a_repeating_tail_is_told_by_the_rule(case: str) -> None:
    tokens, expected = TAILS[case]
    assert counts.repeats(tokens, window=12, longest=8) is expected


def record(ranks: list[int | None], classes: list[int]) -> Record:
    """A chunk whose tokens stand at these ranks, None being told outright; classes of those told by rank."""
    told = [Correction(0 if rank is None else rank, rank is None) for rank in ranks]
    code = amber_symbols.encode(told, VOCABULARY)
    return Record(len(ranks), 0, len(ranks), code, amber_symbols.encode_margins(classes))


def test_only_tokens_told_by_rank_can_break() -> None:
    told = counts.Told.of(record([0, None, 3, 0], [5, 2, 9]), VOCABULARY)
    found = counts.broken(told, before=[0, 9, 3, 0], after=[0, 8, 4, 1])
    assert found.first == 2 and sum(found.told) == 3 and sum(found.moved) == 2
    assert [margin for margin, moved in enumerate(found.moved) if moved] == [2, 9]
    assert counts.broken(told, [0, 9, 3, 0], [0, 8, 3, 0]).first is None


@pytest.mark.parametrize("seed", range(10))
def test_pairs_in_order_are_those_that_a_count_of_all_pairs_finds(seed: int) -> None:
    source = random.Random(seed)
    classes = [source.randrange(16) for _ in range(30)]
    moved = [source.random() < 0.3 for _ in classes]
    told = counts.Told.of(record([0] * 30, classes), VOCABULARY)
    found = counts.broken(told, [0] * 30, [int(each) for each in moved])
    broken_ones = [c for c, m in zip(classes, moved, strict=True) if m]
    held = [c for c, m in zip(classes, moved, strict=True) if not m]
    pairs = list(product(broken_ones, held))
    right = sum(2 * (b < h) + (b == h) for b, h in pairs)
    assert found.ordered == (right, 2 * len(pairs))


def test_a_number_is_shared_out_whole() -> None:
    for total, parts in [(10, 3), (16384 * 128, 200), (2, 5), (0, 4)]:
        shares = counts.spread(total, parts)
        assert sum(shares) == total and max(shares) - min(shares) <= 1


def test_a_dictionary_of_the_same_kind_of_text_shortens_it() -> None:
    lines = [f"The answer to question {n} is that {n} sheep went to the market by train." for n in range(400)]
    trained = counts.dictionary([line.encode() for line in lines], 1024)
    lengths = {name: length(lines[7].encode()) for name, length in counts.rivals(trained).items()}
    assert len(trained) <= 1024 and lengths["zstd_dictionary"] < lengths["zstd"]
    assert all(0 < length < 2 * len(lines[7]) for length in lengths.values())


# payloads

SMALL = Settings(prompts=12, tail_window=6, tail_period=3, control_prompts=12, resamples=200)


class Trial(Amber):
    """The experiment without its models."""

    models: Any = ()
    vocabulary: Any = VOCABULARY


def documents() -> dict[str, Any]:
    """Twenty-four texts of ten tokens, the greedy ones with a tail; bf16 moves a rank in half of them."""
    texts = [[t % 40, 1, 2, 3] + ([5] * 9 if t < 12 else list(range(6, 15))) for t in range(24)]
    ranks = [[t % 3, 0, 0, 1] + [0] * 9 for t in range(24)]
    classes = [[2 if t % 2 else 9] + [9] * 12 for t in range(24)]
    head = Header("ranks", True, 25, 8, 13, b"c" * 32, b"m" * 32, b"t" * 32, b"k" * 32, "here")
    archives = [dump(Archive(head, (record(r, c),))).hex() for r, c in zip(ranks, classes, strict=True)]  # type: ignore[arg-type]
    moved = [[rank[0] + t % 2, *rank[1:]] for t, rank in enumerate(ranks)]
    failing = {"first": [0 if t % 2 else None for t in range(24)], "canary": "ee", "environment": {}}
    fine = {"first": [None] * 24, "canary": "aa", "environment": {}}
    best = [[0] * 13 for _ in texts]
    gone = {"absent": "other_torch was not given."}
    reading = {"ranks": ranks, "best": best, "margins": [], "canary": "aa"}
    return {
        "pack": {"tokens": texts, "archives": archives},
        "unpack": {"same": [True] * 24},
        "read/packed": reading,
        "decode/one_row": fine,
        "decode/one_thread": fine,
        "read/one_thread": reading,
        "decode/bf16": failing,
        "read/bf16": reading | {"ranks": moved},
        "decode/fp16": fine,
        "read/fp16": reading,
        "decode/other_torch": gone,
        "read/other_torch": gone,
        "shares": {"codes": ["aabb"] * 24, "ideal": [10.0 + t for t in range(24)], "same": [True] * 24},
        "control": {"archives": archives, "ideal": [1.0 + t for t in range(24)], "tokens": texts},
        "rivals": {n: list(range(20, 44)) for n in ("zstd", "zstd_dictionary", "brotli", "ppmd")}
        | {"dictionary_bytes": [100]},
    }


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr("engine.experiments.amber_state.gather", gathered)
    return lambda work: json.loads(store.dump(work(Trial(SMALL, rehearsing=True), documents())))


def gathered(command: list[str], **_: Any) -> Any:
    from engine.contract.payload import Provenance

    return Provenance(
        command=command, commit="0" * 40, dirty=False, versions={}, device="CPU", models=[], inputs=[]
    )


def test_failures_are_counted_a_prompt_and_what_could_not_be_had_says_why(made: Any) -> None:
    payload = made(fragility)
    assert payload["schema"].startswith("specdec-sidechannels/rehearsal")
    results = payload["results"]
    assert results["archives"]["all"]["value"] == results["byte_exact"]["all"]["value"] == 24
    assert results["archives"]["tail"]["value"] == 12
    assert results["bf16"]["failed_archives"]["all"]["value"] == 12
    assert results["bf16"]["refused_by_canary"]["value"] == 24
    assert results["one_row"]["refused_by_canary"]["value"] == 0
    assert results["bf16"]["moved_tokens"]["value"] == 12
    assert results["bf16"]["unforeseen"]["value"] == 0
    assert "other_torch was not given." in payload["absent"]["other_torch.failed"]
    assert "same ratio" in payload["absent"]["one_thread.failed.all"]


def test_a_failure_that_the_ranks_do_not_show_is_counted(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    spoilt = documents()
    spoilt["decode/bf16"]["first"][4] = 3
    payload = json.loads(store.dump(fragility(Trial(SMALL, rehearsing=True), spoilt)))
    assert payload["results"]["bf16"]["unforeseen"]["value"] == 1


def test_lengths_are_bits_a_token_of_the_same_texts(made: Any) -> None:
    results = made(sizes)["results"]
    tokens = 24 * 13
    assert float(results["ideal"]["all"]["value"]) == pytest.approx(sum(10 + t for t in range(24)) / tokens)
    assert float(results["zstd"]["all"]["value"]) == pytest.approx(8 * sum(range(20, 44)) / tokens)
    counted = float(results["zstd_dictionary_counted"]["all"]["value"])
    assert counted == pytest.approx(8 * (sum(range(20, 44)) + 100) / tokens)
    gap = float(results["ranks_over_ideal"]["all"]["value"])
    ranks, ideal = (float(results[name]["all"]["value"]) for name in ("ranks", "ideal"))
    assert gap == pytest.approx(ranks - ideal)


def test_a_rehearsal_is_marked_and_small() -> None:
    experiment = Amber().rehearsal()
    assert experiment.rehearsing and experiment.settings.prompts < Settings().prompts
    assert Rehearsal.model_fields["schema_"].alias == "schema"
