"""The one border where floats end: a model's logits become whole-number frequencies.

Method, over V symbols with a total T:

1. weight w = 2³² · exp(logit − largest logit), rounded to a whole number, halves to even; exp in double
   precision; minus infinity weighs nothing;
2. every symbol gets one, and the other T − V are shared out in proportion to the weights by largest
   remainders (Hamilton's method of apportionment): first ⌊w · (T − V) / Σw⌋ each, then one more to those
   whose remainders are largest;
3. among equal remainders the lower symbol comes first.

From step 2 on all is exact in 64-bit integers. So two machines agree unless their weights differ: by the
last place of `exp`, or by what the logits themselves differ. The canary is for that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from engine.coding.lockstep import TOTAL_LIMIT, Found, Step
from engine.contract.errors import BadData

TOTAL = TOTAL_LIMIT
"""Of one symbol's frequencies: the most that the coder takes."""
WEIGHT_BITS = 32
"""So w · T < 2⁵⁷, and the sum of 2²⁴ weights as well."""

Frequencies = NDArray[np.int64]
"""Shape (V,), each at least 1, adding up to the total."""


def frequencies(logits: NDArray[np.float32], total: int = TOTAL) -> Frequencies:
    """Frequencies of a distribution given by its logits, shape (V,), in natural logarithms.

    `BadData` unless 1 ≤ V ≤ total ≤ 2²⁴, every logit is a number or minus infinity, and one is a number.
    """
    if not 1 <= logits.size <= total <= TOTAL_LIMIT:
        problem = f"cannot give {logits.size} symbols one each of {total}."
        raise BadData("frequencies", problem, f"Keep 1 <= symbols <= total <= {TOTAL_LIMIT}.")
    return apportioned(weights(logits), total - logits.size) + 1


def weights(logits: NDArray[np.float32]) -> NDArray[np.int64]:
    """Step 1: whole numbers 0 … 2³² in proportion to the probabilities, the largest being 2³². Shape (V,)."""
    top = logits.max()
    if not np.isfinite(top):
        remedy = "The model, or its arithmetic, is broken here."
        raise BadData("logits", f"have no finite largest one, but {top}.", remedy)
    ratios = np.exp(logits.astype(np.float64) - np.float64(top))
    return np.rint(np.ldexp(ratios, WEIGHT_BITS)).astype(np.int64)


def apportioned(weighing: NDArray[np.int64], seats: int) -> NDArray[np.int64]:
    """Steps 2 and 3: `seats` shared out by largest remainders, lower symbols first of equals. (V,) → (V,)."""
    shares, remainders = np.divmod(weighing * seats, weighing.sum())
    left = seats - int(shares.sum())
    if left:
        least = np.partition(remainders, -left)[-left]
        above = remainders > least
        shares += above
        ties = np.flatnonzero(remainders == least)[: left - np.count_nonzero(above)]
        shares[ties] += 1
    return shares


class Shares:
    """Frequencies as the coder's model of one symbol; the next has its own."""

    def __init__(self, counts: Frequencies) -> None:
        self._ends = np.cumsum(counts)
        self.total = int(self._ends[-1])

    def _share(self, symbol: int) -> tuple[int, int]:
        start = int(self._ends[symbol - 1]) if symbol else 0
        return start, int(self._ends[symbol]) - start

    def steps(self, message: Iterable[int]) -> Iterator[Step]:
        """The step of the symbol; `BadData` for one outside 0 … V - 1."""
        for symbol in message:
            if not 0 <= symbol < self._ends.size:
                raise BadData(
                    f"symbol {symbol}", "is unknown to the model.", "Use the model's own tokenizer."
                )
            yield (*self._share(symbol), self.total)

    def find(self, slot: int) -> Found:
        """The symbol whose share holds `slot`."""
        symbol = int(np.searchsorted(self._ends, slot, side="right"))
        return (symbol, *self._share(symbol), self.total)
