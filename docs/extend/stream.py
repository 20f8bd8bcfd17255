"""S4: which slot of its cache page a position takes, an address that needs no value."""

from __future__ import annotations

import numpy as np

from engine.observe.constants import Sideband
from engine.observe.streams.stream import Arrays, Features, Stream


def features(arrays: Arrays, constants: Sideband) -> Features:
    """One column a slot, one in the slot that is taken. (N, slots)"""
    slot = arrays["position"].astype(np.int64) % constants.pages.size
    return np.eye(constants.pages.size, dtype=np.float32)[slot]


STREAM = Stream(
    name="s4",
    title="slot of the cache page, addresses only",
    pure=True,
    needs=("position",),
    features=features,
)
