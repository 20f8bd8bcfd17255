"""Make the conformance vectors that are missing: python tests/engine/coding/make_vectors.py

A vector that exists is golden and is never written again. The messages are chosen for what they force;
the codes come from the coder, once, and are held to exact fractions by the tests.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from engine.coding import lockstep
from engine.coding.conformance import FOLDER, model

THIRDS = {"kind": "static", "counts": [1, 1, 1]}
FOURTHS = {"kind": "static", "counts": [1, 1, 1, 1]}
SKEWED = {"kind": "static", "counts": [40, 1, 17, 0, 5, 90, 3, 100]}
RARE = {"kind": "static", "counts": [1, (1 << 24) - 2, 1]}
ENDED = {"kind": "static", "counts": [40, 17, 5, 90, 3, 100, 1]}
LEAST = {"kind": "cycle", "tables": [[1, 65535], [1, 1, 1]]}
SMALL = {"kind": "adaptive", "symbols": 8, "increment": 32, "limit": 256}
BYTES = {"kind": "adaptive", "symbols": 256, "increment": 24, "limit": 2048}
TEXT = (
    "A draft guesses, a target judges. Where the guess is right the target has read several tokens for the "
    "price of one; where it is wrong, the target's own token stands. What the traffic between them tells is "
    "another matter: to the draft, what comes next; to somebody listening, what was said. "
)
LAST = (1 << 24) - 1


def straddling(symbols: int) -> list[int]:
    """Thirds that keep one half, 0x8000…, strictly inside the interval for as long as asked."""
    return lockstep.Decoder(b"\x80" + bytes(symbols)).decode(model(THIRDS), symbols)


def drawn(counts: list[int], length: int, state: int) -> list[int]:
    """Symbols from a small congruential generator, as often as their counts say."""
    out = []
    for _ in range(length):
        state = (state * 1103515245 + 12345) % 2**31
        slot = (state >> 8) % sum(counts)
        out.append(model({"kind": "static", "counts": counts}).find(slot)[0])
    return out


def accepted() -> dict[str, tuple[str, dict[str, Any], list[int], int | None]]:
    """Name: what it shows, model, message, end symbol."""
    skewed = drawn(SKEWED["counts"], 300, 7)  # type: ignore[arg-type]
    drifting = [s for i in range(6) for s in drawn([1 + 30 * (j == i) for j in range(8)], 60, i)]
    return {
        "core-1-empty": ("no symbol, no byte", THIRDS, [], None),
        "core-2-one-symbol": ("one symbol", SKEWED, [4], None),
        "core-3-static": ("a skewed static model with a symbol of count zero", SKEWED, skewed, None),
        "core-4-carry": ("a carry through a run of ten words", THIRDS, straddling(115) + [2] * 30, None),
        "core-5-rescale": ("an adaptive model that rescales dozens of times", SMALL, drifting, None),
        "core-6-end": ("a message that says itself where it ends", ENDED, [0, 3, 5, 5, 1, 3, 2, 6], 6),
        "certain-power": ("a symbol without alternative, total a power of two", _static(4), [0] * 500, None),
        "certain-odd": ("a symbol without alternative, total five", _static(5), [0] * 500, None),
        "total-largest": ("the largest total, symbols of count one", RARE, [0, 1, 2, 1, 1, 0, 0, 2], None),
        "total-least": ("the smallest total", _static(1), [0] * 9, None),
        "total-searched": ("a total too large for a table", _static(70000, 1, 70000), [0, 1, 2] * 9, None),
        "total-tabled": ("the largest total with a table", _static(1, 65535), [0, 1, 0, 0, 1], None),
        "exactly-least": ("an interval exactly as narrow as allowed", LEAST, [0, 2] * 8, None),
        "run-released": (
            "a run of ten words that no carry reaches",
            THIRDS,
            straddling(115) + [0] * 30,
            None,
        ),
        "run-first": ("words of ones from the first on", _static(65535, 1), [1] * 6, None),
        "run-carried-at-end": ("a carry that only the ending makes", THIRDS, straddling(115), None),
        "run-open-at-end": ("a run that only the ending releases", THIRDS, [*straddling(115), 0], None),
        "carry-leaves-top": ("a carry in a word of ones", _cycle(3), [0, 1, 1, 0, 1, 1], None),
        "changing": ("totals that change from symbol to symbol", _cycle(5), [0, 1, 1, 2, 3] * 20, None),
        "zeros-between": ("counts of zero between others", _static(0, 2, 0, 3, 0), [1, 3, 3, 1] * 9, None),
        "ending-1": ("an ending of one byte", _static(1, 1), [1], None),
        "ending-2": ("an ending of two bytes", _static(1, 300), [0], None),
        "ending-3": ("an ending of three bytes", _static(5, 1, 65529), [1], None),
        "adaptive-one": ("an adaptive model of one symbol", _adaptive(1, 1, 2), [0] * 50, None),
        "adaptive-tight": ("limits that just fit", _adaptive(5, 3, 8), drawn([1, 2, 3, 4, 5], 80, 3), None),
        "adaptive-wide": ("blocks of unequal size", _adaptive(70, 9, 400), drawn([1] * 70, 150, 5), None),
        "adaptive-largest": ("the largest limit", _adaptive(3, 5592405, LAST + 1), [2, 1, 1, 0, 2] * 5, None),
        "adaptive-text": ("text as bytes, rescaled again and again", BYTES, list(TEXT.encode() * 2), None),
    }


def _static(*counts: int) -> dict[str, Any]:
    return {"kind": "static", "counts": list(counts)}


def _adaptive(symbols: int, increment: int, limit: int) -> dict[str, Any]:
    return {"kind": "adaptive", "symbols": symbols, "increment": increment, "limit": limit}


def _cycle(tables: int) -> dict[str, Any]:
    every = [[LAST, 1], [256, 256, LAST - 511], [LAST, 1], [7, 0, 5], [1, 2, 3, 4]]
    return {"kind": "cycle", "tables": every[:tables]}


def refused() -> dict[str, dict[str, Any]]:
    """Name: the vector. Codes are those of accepted vectors, spoilt."""
    code = lockstep.encode(accepted()["core-3-static"][2], model(SKEWED))
    ended = lockstep.encode([0, 3, 5, 5], model(ENDED)).hex()
    from_core = {"model": SKEWED, "count": 300, "end": None}
    from_ended = {"model": ENDED, "end": 6}
    thirds = {"model": THIRDS, "end": None}
    return {
        "bad-truncated-byte": {"refused": "truncated", **from_core, "code": code[:-1].hex()},
        "bad-truncated-half": {"refused": "truncated", **from_core, "code": code[: len(code) // 2].hex()},
        "bad-truncated-all": {"refused": "truncated", **from_core, "code": ""},
        "bad-truncated-ending": {"refused": "truncated", **thirds, "count": 1, "code": ""},
        "bad-truncated-endless": {
            "refused": "truncated",
            "model": ENDED,
            "count": 1000,
            "end": 6,
            "code": "",
        },
        "bad-trailing-zero": {"refused": "trailing", **from_core, "code": (code + b"\0").hex()},
        "bad-trailing-half": {"refused": "trailing", **from_core, "count": 150, "code": code.hex()},
        "bad-trailing-empty": {"refused": "trailing", **thirds, "count": 0, "code": "00"},
        "bad-flipped-end": {"refused": "canonical", **from_core, "code": _flipped(code, -1)},
        "bad-flipped-start": {"refused": "canonical", **from_core, "code": _flipped(code, 0)},
        "bad-slack": {"refused": "slack", **thirds, "count": 1, "code": "ff" * 7},
        "bad-wrong-model": {"refused": "truncated", **from_core, "model": FOURTHS, "code": code.hex()},
        "bad-endless": {"refused": "endless", **from_ended, "count": 4, "code": ended},
        "bad-endless-empty": {"refused": "endless", **from_ended, "count": 0, "code": ""},
        "bad-model-empty": _model(_static()),
        "bad-model-nothing": _model(_static(0, 0)),
        "bad-model-large": _model(_static(LAST, 2)),
        "bad-model-negative": _model(_static(3, -1, 2)),
        "bad-adaptive-symbols": _model(_adaptive(0, 1, 8)),
        "bad-adaptive-increment": _model(_adaptive(4, 0, 8)),
        "bad-adaptive-limit": _model(_adaptive(6, 3, 8)),
        "bad-adaptive-large": _model(_adaptive(6, 3, LAST + 2)),
        "bad-symbol-zero": _symbol(SKEWED, [0, 3]),
        "bad-symbol-negative": _symbol(SKEWED, [-1]),
        "bad-symbol-beyond": _symbol(SMALL, [0, 8]),
        "bad-symbol-below": _symbol(SMALL, [-1]),
    }


def _flipped(code: bytes, at: int) -> str:
    spoilt = bytearray(code)
    spoilt[at] ^= 1
    return spoilt.hex()


def _model(described: dict[str, Any]) -> dict[str, Any]:
    return {"refused": "model", "model": described, "count": 0, "end": None, "code": ""}


def _symbol(described: dict[str, Any], message: list[int]) -> dict[str, Any]:
    return {
        "refused": "symbol",
        "model": described,
        "count": len(message),
        "end": None,
        "message": message,
        "code": "",
    }


def vectors() -> dict[str, dict[str, Any]]:
    """Every vector, with the code that the coder gives it today."""
    made = {
        name: {
            "shows": shows,
            "model": described,
            "count": len(message) if end is None else 1000,
            "end": end,
            "message": message,
            "code": lockstep.encode(message, model(described)).hex(),
        }
        for name, (shows, described, message, end) in accepted().items()
    }
    return made | refused()


def text(vector: dict[str, Any]) -> str:
    """One key a line."""
    lines = (f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in vector.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def main(folder: Path = FOLDER) -> None:
    """Write what is missing, and say so."""
    for name, vector in vectors().items():
        path = folder / f"{name}.json"
        if not path.exists():
            path.write_text(text(vector), encoding="utf-8", newline="\n")
            print(f"wrote {path.name}")


if __name__ == "__main__":
    main()
