"""Amber: decoding an archive's chunks side by side against one token of one chunk at a time.

    python -m benchmarks.amber

One archive of this repository's own prose, packed once under the draft, of so many chunks that passes are
full; both sides give its tokens back or nothing is timed. The same archive, the same model, by turns.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from benchmarks.measure import HEADER, Ratio, paired
from engine.coding import amber
from engine.coding.amber_format import Record
from engine.coding.llama_predictor import LlamaPredictor, fetched

FILES = ("README.md", "CHANGELOG.md", "docs/*.md", "docs/decisions/*.md")
DRAFT = "smollm2-draft"
SIZE = 32_768
"""Bytes of prose that are packed."""
PAIRS = 3


def prose() -> bytes:
    """The first bytes of the repository's own pages."""
    root = Path(__file__).resolve().parents[1]
    files = [file for name in FILES for file in sorted(root.glob(name))]
    text = "".join(file.read_text(encoding="utf-8") for file in files)
    return text.encode()[:SIZE]


def decoder(records: list[Record], predictor: LlamaPredictor, rows: int) -> Callable[[], list[list[int]]]:
    """Decode all chunks, so many at a time."""

    def work() -> list[list[int]]:
        groups = amber.grouped(records, rows)
        return [text for group in groups for text in amber.decoded(group, predictor, "ranks", rows)]

    return work


def rows() -> list[Ratio]:
    """The ratio on one archive; refuses to time what does not come back."""
    predictor, tokenizer = fetched(DRAFT)
    data, settings = prose(), amber.Settings("ranks")
    archive = amber.pack(data, predictor, tokenizer, settings)
    records = [record for record in archive.records if record.tokens]
    side_by_side, alone = decoder(records, predictor, settings.rows), decoder(records, predictor, 1)
    if side_by_side() != alone():
        raise SystemExit("one chunk at a time gives other tokens; nothing to compare")
    what = f"Amber: decoding {len(records)} chunks, {sum(r.tokens for r in records)} tokens"
    return [paired(what, "a token of one chunk at a time", [(side_by_side, alone)] * PAIRS)]


if __name__ == "__main__":
    print(HEADER)
    for row in rows():
        print(row.row())
