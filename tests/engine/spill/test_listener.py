"""The attack and its controls on synthetic traces: a planted leak is found, none reads chance."""

from __future__ import annotations

import numpy as np
import pytest

from engine.contract.errors import BadData
from engine.contract.seeds import Stream
from engine.spill.attack import Fold, Forest, Hits, Traces, attack, folds, rotate
from engine.spill.controls import equal_length, lengths, shuffled_labels, shuffled_rounds, total

PROMPTS, RUNS, ROUNDS = 10, 12, 24
SMALL = Forest(trees=20)


def planted(share: float, seed: int = 3) -> Traces:
    """Traces in which a prompt's own pattern stands in `share` of the rounds."""
    stream = Stream(seed, "planted")
    pattern = stream.below(5, PROMPTS * ROUNDS).reshape(PROMPTS, 1, ROUNDS) + 1
    noise = stream.below(5, PROMPTS * RUNS * ROUNDS).reshape(PROMPTS, RUNS, ROUNDS) + 1
    own = stream.uniform(PROMPTS * RUNS * ROUNDS).reshape(PROMPTS, RUNS, ROUNDS) < share
    vectors = np.where(own, pattern, noise).reshape(-1, ROUNDS)
    return Traces(vectors, np.repeat(np.arange(PROMPTS), RUNS), np.tile(np.arange(RUNS), PROMPTS))


def told(traces: Traces, count: int = 3) -> Hits:
    """Hits over three folds of four runs."""
    return rotate(traces, folds(range(RUNS), 4, count), SMALL, root=1, cell="test", prompts=PROMPTS)


def test_a_planted_leak_is_found_and_none_reads_chance() -> None:
    assert told(planted(0.6)).accuracy > 0.75
    assert told(planted(0.0)).accuracy < 0.2


def test_shuffled_labels_teach_nothing() -> None:
    traces = planted(0.9)
    fold = folds(range(RUNS), 4, 1)[0]
    train, test = traces.of_runs(fold.train), traces.of_runs(fold.test)
    hits = [
        attack(shuffled_labels(train, Stream(2, f"labels-{i}")), test, SMALL, Stream(2, f"f-{i}"), PROMPTS)
        for i in range(3)
    ]
    assert sum(h.accuracy for h in hits) / 3 < 0.25
    assert attack(train, test, SMALL, Stream(2, "true"), PROMPTS).accuracy > 0.95


def test_shuffled_rounds_take_the_order_away_and_keep_each_traces_values() -> None:
    traces = planted(0.6)
    mixed = shuffled_rounds(traces, Stream(5, "rounds"))
    assert np.array_equal(np.sort(mixed.vectors), np.sort(traces.vectors))
    assert told(mixed).accuracy < told(traces).accuracy - 0.4


def test_shuffled_rounds_leave_the_end_where_it_was() -> None:
    traces = Traces(np.array([[3, 1, 2, 0, 0]] * 5), np.zeros(5, np.int64), np.arange(5))
    mixed = shuffled_rounds(traces, Stream(5, "rounds"))
    assert lengths(mixed.vectors).tolist() == [3] * 5


def by_length() -> Traces:
    """Traces that differ by prompt in length alone."""
    traces = planted(0.0)
    vectors = traces.vectors.copy()
    for row, prompt in zip(vectors, traces.prompts, strict=True):
        row[10 + prompt :] = 0
    return Traces(vectors, traces.prompts, traces.runs)


def test_a_leak_of_length_alone_is_gone_at_equal_length_and_whole_in_the_total() -> None:
    traces = by_length()
    assert told(traces).accuracy > 0.7
    cut = equal_length(traces, 8)
    assert (cut.rounds, cut.left_out) == (10, 0)
    assert told(cut.traces).accuracy < 0.2
    steady = Traces((traces.vectors > 0).astype(np.int64), traces.prompts, traces.runs)
    assert total(steady).vectors.shape == (PROMPTS * RUNS, 1)
    assert told(total(steady)).accuracy == 1.0


def test_traces_too_short_for_an_equal_length_are_left_out_and_counted() -> None:
    cut = equal_length(by_length(), 12)
    assert (cut.rounds, cut.left_out) == (12, 2 * RUNS)
    with pytest.raises(BadData, match="shorter than 25"):
        equal_length(by_length(), 25)


def test_a_round_without_bytes_in_the_middle_is_no_end() -> None:
    assert lengths(np.array([[0, 2, 0, 3, 0], [0, 0, 0, 0, 0]])).tolist() == [4, 0]


def test_folds_test_every_run_once_and_never_train_on_it() -> None:
    made = folds(range(35), 5, 7)
    assert sorted(run for fold in made for run in fold.test) == list(range(35))
    assert made[0] == Fold(tuple(range(30)), (30, 31, 32, 33, 34))
    assert all(len(fold.train) == 30 and not set(fold.train) & set(fold.test) for fold in made)


@pytest.mark.parametrize(("runs", "test", "count"), [(35, 5, 8), (5, 5, 1), (10, 0, 1), (10, 5, 0)])
def test_folds_that_cannot_be_made_are_refused(runs: int, test: int, count: int) -> None:
    with pytest.raises(BadData, match="make no"):
        folds(range(runs), test, count)


def test_the_attack_repeats_itself_exactly_and_another_stream_changes_it() -> None:
    traces = planted(0.2)
    first, again = told(traces), told(traces)
    other = rotate(traces, folds(range(RUNS), 4, 3), SMALL, root=2, cell="test", prompts=PROMPTS)
    assert np.array_equal(first.hits, again.hits)
    assert not np.array_equal(first.hits, other.hits)


def test_traces_that_do_not_fit_are_refused() -> None:
    traces = planted(0.0)
    with pytest.raises(BadData, match="do not fit"):
        Traces(traces.vectors, traces.prompts[:-1], traces.runs)
    longer = Traces(np.pad(traces.vectors, ((0, 0), (0, 1))), traces.prompts, traces.runs)
    with pytest.raises(BadData, match="differ in length"):
        attack(traces, longer, SMALL, Stream(1, "x"), PROMPTS)
    with pytest.raises(BadData, match="two prompts"):
        attack(traces.of_prompts(1), traces, SMALL, Stream(1, "x"), PROMPTS)
