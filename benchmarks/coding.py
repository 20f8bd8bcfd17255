"""Lockstep against coders from PyPI on the same static model: times by turns, and sizes.

    python -m benchmarks.coding

arithmetic-compressor is pure Python, as Lockstep is; range-coder and constriction are compiled, and far
ahead. A pair packs and unpacks the same message of random symbols; both sides give it back or nothing is
timed. Overhead is the size over the ideal length of that very message under the model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.measure import HEADER, Ratio, paired
from engine.experiments.coders import MODELS, PEERS, Coder, Lockstep, built, drawn, ideal

SYMBOLS = 20_000
LONG = 200_000
"""Symbols of the message whose size is taken, so that the ending counts for little."""
SEED = 20261130
PAIRS = 5


@dataclass(frozen=True)
class Size:
    """How much longer a code is than the message's ideal length."""

    coder: str
    model: str
    bits: int
    ideal: float

    def row(self) -> str:
        """One row of the Markdown table."""
        over = 100 * (self.bits / self.ideal - 1)
        return f"| {self.coder} | {self.model} | {self.bits} | {self.ideal:.1f} | {over:.4f} % |"


SIZES = "| coder | model | bits | ideal | over |\n|---|---|---|---|---|"


def rows() -> list[Ratio]:
    """Packing and unpacking under each model against each peer."""
    out = []
    for name, counts in MODELS.items():
        message = drawn(counts, SYMBOLS, SEED)
        ours = built(Lockstep, counts, message)
        for peer, kind in PEERS.items():
            theirs = built(kind, counts, message)
            out += [_row("packing", name, peer, ours.pack, theirs.pack)]
            out += [_row("unpacking", name, peer, ours.unpack, theirs.unpack)]
    return out


def _row(what: str, name: str, peer: str, ours: Callable[[], object], theirs: Callable[[], object]) -> Ratio:
    return paired(f"{what} {SYMBOLS} symbols, static, {name}", peer, [(ours, theirs)] * PAIRS)


def sizes() -> list[Size]:
    """Overhead over the ideal length, every coder under each model."""
    out = []
    for name, counts in MODELS.items():
        message = drawn(counts, LONG, SEED)
        coders: list[tuple[str, type[Coder]]] = [("Lockstep", Lockstep), *PEERS.items()]
        for coder, kind in coders:
            packed = kind(counts, message)
            packed.pack()
            out.append(Size(coder, name, packed.bits(), ideal(counts, message)))
    return out


def main() -> None:
    """Print both tables, and symbols a second."""
    print(HEADER)
    measured = rows()
    for row in measured:
        print(row.row())
    print("\n| what | coder | symbols a second |\n|---|---|---|")
    for row in measured:
        for coder, seconds in (("Lockstep", row.ours_seconds), (row.peer, row.peer_seconds)):
            print(f"| {row.what} | {coder} | {SYMBOLS / seconds:,.0f} |")
    print(f"\n{SIZES}")
    for size in sizes():
        print(size.row())


if __name__ == "__main__":
    main()
