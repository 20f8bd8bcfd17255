"""Intervals for 210 clusters from 10,000 resamples, beside scipy and arch; `python -m benchmarks.bootstrap`.

Processor time, ours and theirs by turns in one process on one thread, medians of pairs. Ours gives four
intervals where each peer gives the one that is asked of it.
"""

from __future__ import annotations

import os

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

from collections.abc import Callable  # noqa: E402
from statistics import median  # noqa: E402
from time import process_time  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402
from scipy import stats  # noqa: E402

from engine.contract.seeds import Stream  # noqa: E402
from engine.stats.bootstrap import ratio, resample_weights  # noqa: E402

CLUSTERS, RESAMPLES, STATISTICS, LEVEL = 210, 10_000, 64, 0.95
BARS = {"scipy, one statistic": 1.0, "scipy, 64 statistics": 5.0, "arch, one statistic": 5.0}
"""The least ratio of the peer's processor time to ours."""

RANDOM = np.random.default_rng(3)
TRIALS = RANDOM.integers(30, 120, CLUSTERS)
HITS = RANDOM.binomial(TRIALS, RANDOM.beta(4, 3, (STATISTICS, CLUSTERS)))


def ours(count: int) -> None:
    """`count` statistics over the same resamples, four intervals each."""
    weights = resample_weights(CLUSTERS, RESAMPLES, Stream(1, "bench"))
    for hits in HITS[:count]:
        ratio(hits, TRIALS, weights, LEVEL)


def scipys(count: int) -> None:
    """The same by scipy, percentile, vectorised."""
    for hits in HITS[:count]:
        stats.bootstrap(
            (hits, TRIALS),
            lambda y, x, axis: y.sum(axis=axis) / x.sum(axis=axis),
            paired=True,
            vectorized=True,
            n_resamples=RESAMPLES,
            confidence_level=LEVEL,
            method="percentile",
            rng=np.random.default_rng(1),
        )


def archs(count: int) -> None:
    """The same by arch, percentile."""
    from arch.bootstrap import IIDBootstrap

    for hits in HITS[:count]:
        made: Any = IIDBootstrap(hits, TRIALS, seed=1)
        made.conf_int(lambda y, x: y.sum() / x.sum(), reps=RESAMPLES, method="percentile", size=LEVEL)


def paired(mine: Callable[[], None], theirs: Callable[[], None], pairs: int) -> tuple[float, float, float]:
    """Median seconds of both, and the median of their ratios, theirs over ours."""
    times = []
    for turn in range(pairs):
        order = (mine, theirs) if turn % 2 == 0 else (theirs, mine)
        took = {work: _seconds(work) for work in order}
        times.append((took[mine], took[theirs]))
    return (
        median(t[0] for t in times),
        median(t[1] for t in times),
        median(t[1] / t[0] for t in times),
    )


def _seconds(work: Callable[[], None]) -> float:
    started = process_time()
    work()
    return process_time() - started


def main() -> None:
    """Print a row a peer."""
    ours(1)
    rows: list[tuple[str, int, Callable[[int], None], int]] = [
        ("scipy, one statistic", 1, scipys, 7),
        ("scipy, 64 statistics", STATISTICS, scipys, 3),
        ("arch, one statistic", 1, archs, 5),
    ]
    print("| peer | ours | peer | peer / ours | bar |\n|---|---|---|---|---|")
    for name, count, theirs, pairs in rows:
        one, two, times = paired(lambda n=count: ours(n), lambda n=count, f=theirs: f(n), pairs)  # type: ignore[misc]
        print(f"| {name} | {one:.3f} s | {two:.3f} s | **{times:.2f}** | {BARS[name]:g} |", flush=True)


if __name__ == "__main__":
    main()
