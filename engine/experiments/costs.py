"""What a packed file costs and saves, in units that a library carries; the only door to pint.

Costs are those of one byte before packing. Against a rival, with shares of its size `ours` and `theirs`, kept
for a time and read some times over,

    saved = (theirs − ours) · (storage · retention + transfer · reads)
    paid  = machine · (packing + reads · unpacking)

where packing and unpacking are seconds a byte beyond the rival's own. Break-even is saved = paid.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pint

UNITS: pint.UnitRegistry[Any] = pint.UnitRegistry()
UNITS.define("USD = [currency]")
Quantity = Any
"""A pint quantity; pint's own types say nothing of dimensions."""


def quantity(leaf: Mapping[str, Any]) -> Quantity:
    """A leaf of a registered document, `value` and `unit`, as a quantity."""
    unit = {"reads": "dimensionless", "cores": "dimensionless"}.get(leaf["unit"], leaf["unit"])
    return UNITS.Quantity(float(leaf["value"]), unit)


@dataclass(frozen=True)
class Prices:
    """Constants fixed in advance; wrong dimensions are refused by pint when they meet."""

    machine: Quantity
    storage: Quantity
    transfer: Quantity
    retention: Quantity
    reads: Quantity

    @classmethod
    def registered(cls, results: Mapping[str, Mapping[str, Any]]) -> Prices:
        """From the group `prices` of the registered document."""
        names = ("machine_hour", "storage_gigabyte_month", "transfer_gigabyte", "retention", "reads")
        return cls(*(quantity(results[name]) for name in names))


@dataclass(frozen=True)
class Rates:
    """Bytes before packing in a time, both ways."""

    pack: Quantity
    unpack: Quantity

    @classmethod
    def timed(cls, size: int, pack_seconds: float, unpack_seconds: float) -> Rates:
        """From the size of what was packed and unpacked, and the seconds that took."""
        bytes_ = UNITS.Quantity(size, "byte")
        return cls(bytes_ / (pack_seconds * UNITS.second), bytes_ / (unpack_seconds * UNITS.second))


@dataclass(frozen=True)
class Case:
    """Ours and a rival on the same bytes."""

    ours: float
    theirs: float
    our_rates: Rates
    their_rates: Rates

    def packing(self, prices: Prices, paid: bool) -> Quantity:
        """The price of packing one byte beyond the rival's; nothing where it is free."""
        if not paid:
            return UNITS.Quantity(0.0, "USD/byte")
        return (prices.machine / self.our_rates.pack - prices.machine / self.their_rates.pack).to("USD/byte")

    def rate(self, prices: Prices, *, paid: bool) -> Quantity | None:
        """The decode rate from which on packing saves in the reference case; None where no rate does."""
        kept = prices.storage * prices.retention + prices.transfer * prices.reads
        left = (self.theirs - self.ours) * kept - self.packing(prices, paid)
        left += prices.machine * prices.reads / self.their_rates.unpack
        if left.to("USD/byte").magnitude <= 0:
            return None
        return (prices.machine * prices.reads / left).to("megabyte/second")

    def retention(self, prices: Prices, *, paid: bool) -> Quantity | None:
        """How long a file has to be kept for packing to save at the measured rate; None where never."""
        if self.theirs <= self.ours:
            return None
        unpacking = prices.machine / self.our_rates.unpack - prices.machine / self.their_rates.unpack
        spent = self.packing(prices, paid) + prices.reads * unpacking
        saved_a_time = (self.theirs - self.ours) * prices.storage
        saved_at_once = (self.theirs - self.ours) * prices.transfer * prices.reads
        needed = ((spent - saved_at_once) / saved_a_time).to("month")
        return max(needed, UNITS.Quantity(0.0, "month"))
