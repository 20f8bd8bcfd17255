"""What an interval says about a cell, by the registered rule."""

from __future__ import annotations

from engine.contract.payload import Leaf

ABSORBED = "absorbed at this reader"
SIGNAL = "signal"
OPEN = "open"


def verdict(margin: Leaf, floor: float) -> str:
    """The verdict for stream minus twin: absorbed below the floor, a signal at it and above zero, or open."""
    assert margin.low is not None and margin.high is not None
    low, value, high = float(margin.low), float(margin.value), float(margin.high)
    if high < floor:
        return ABSORBED
    return SIGNAL if low > 0 and value >= floor else OPEN


def overturned(margin: Leaf, floor: float) -> bool:
    """Whether a stronger reader shows a signal where the registered one showed none."""
    return verdict(margin, floor) == SIGNAL
