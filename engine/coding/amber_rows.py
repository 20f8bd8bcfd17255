"""Chunks side by side: what the model says of each next token, turned into codes and back.

Both directions ask the model in the same shapes, one token a row at each step; a row that has ended is fed
the token that stands before every text. Shapes: B rows, S steps, V vocabulary.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log2

import numpy as np
from numpy.typing import NDArray

from engine.coding import amber_symbols
from engine.coding import canary as exact
from engine.coding.amber_format import Coder
from engine.coding.amber_ranks import (
    MARGIN_UNIT,
    Integers,
    Logits,
    first_places,
    margin_classes,
    ranked,
    tokens_at,
)
from engine.coding.amber_symbols import LITERAL, Correction
from engine.coding.frequencies import TOTAL, Shares, frequencies
from engine.coding.lockstep import Decoder, Encoder
from engine.coding.predictor import Predictor
from engine.contract.errors import BadData

CANARY_TEXTS = 8
CANARY_RANKS = 16
"""Places of the ranking, from the first, that the canary of `ranks` tells."""


@dataclass(frozen=True)
class Reading:
    """Along the texts of a group, (B, S) each; what lies beyond a text's end means nothing."""

    ranks: Integers
    """Where the text's token stands, from 0; -1 out of the ranking."""
    margins: NDArray[np.float32]
    """Its gap to the nearer neighbour, in logits."""
    best: Integers
    """The token that stands first."""


@dataclass(frozen=True)
class Ranks:
    """The code of a text's ranks, and of their margins."""

    code: bytes
    margins: bytes


@dataclass(frozen=True)
class Coded:
    """The code of a text under the model's shares, and its ideal length under them in bits."""

    code: bytes
    ideal: float


Choice = Callable[[int, Logits], Integers]


def walk(predictor: Predictor, texts: int, rows: int, steps: int, choose: Choice) -> None:
    """Ask for every next token of `texts` texts in passes of `rows` rows, those beyond being filled.

    `choose(step, logits)` gets the logits of the texts (texts, V) and names the tokens that stand there.
    """
    if not 0 < texts <= rows:
        raise BadData(f"{texts} texts", f"do not go into {rows} rows.", "Group them.")
    running = predictor.begin(rows, steps)
    tokens = [predictor.first] * rows
    for step in range(steps):
        tokens[:texts] = [int(token) for token in choose(step, running.step(tokens)[:texts])]


def read(predictor: Predictor, texts: Sequence[Sequence[int]], rows: int) -> Reading:
    """Where each token of each text stands when the model is fed the text."""
    truth = padded(texts, predictor.first)
    ranks, margins = np.zeros_like(truth), np.zeros(truth.shape, dtype=np.float32)
    best = np.zeros_like(truth)

    def choose(step: int, logits: Logits) -> Integers:
        found = ranked(logits, truth[:, step])
        ranks[:, step], margins[:, step] = found.ranks, found.margins
        best[:, step] = logits.argmax(axis=1)
        return truth[:, step]

    walk(predictor, len(texts), rows, truth.shape[1], choose)
    return Reading(ranks, margins, best)


def padded(texts: Sequence[Sequence[int]], filling: int) -> Integers:
    """Texts as a matrix (B, S), the shorter ones filled up."""
    truth = np.full((len(texts), max(map(len, texts))), filling, dtype=np.int64)
    for row, text in zip(truth, texts, strict=True):
        row[: len(text)] = text
    return truth


def literal(ranks: Integers, margins: NDArray[np.float32], guard: int) -> NDArray[np.bool_]:
    """Which tokens are told outright: far down, out of the ranking, or with a margin within the guard."""
    near: NDArray[np.bool_] = margins <= guard * MARGIN_UNIT
    return near | (ranks < 0) | (ranks >= LITERAL)


def encode_ranks(
    reading: Reading, texts: Sequence[Sequence[int]], vocabulary: int, guard: int
) -> list[Ranks]:
    """The codes of texts as they were read."""
    outright = literal(reading.ranks, reading.margins, guard)
    out = []
    for row, text in enumerate(texts):
        told = corrections(text, reading.ranks[row], outright[row])
        classes = margin_classes(reading.margins[row, : len(text)])[~outright[row, : len(text)]]
        margins = amber_symbols.encode_margins(classes.tolist())
        out.append(Ranks(amber_symbols.encode(told, vocabulary), margins))
    return out


def corrections(text: Sequence[int], ranks: Integers, outright: NDArray[np.bool_]) -> list[Correction]:
    """What an archive tells of each token of one text."""
    return [
        Correction(int(token) if told else int(rank), bool(told))
        for token, rank, told in zip(text, ranks, outright, strict=False)
    ]


def decode_ranks(
    predictor: Predictor, codes: Sequence[bytes], lengths: Sequence[int], rows: int
) -> list[list[int]]:
    """The tokens of each text, by the draft's ranking."""
    told = [
        amber_symbols.decode(code, length, predictor.vocabulary)
        for code, length in zip(codes, lengths, strict=True)
    ]
    numbers = padded([[each.number for each in row] for row in told], predictor.first)
    outright = padded([[each.literal for each in row] for row in told], True).astype(bool)
    texts = np.zeros_like(numbers)

    def choose(step: int, logits: Logits) -> Integers:
        ranks = np.where(outright[:, step], 0, numbers[:, step])
        texts[:, step] = np.where(outright[:, step], numbers[:, step], tokens_at(logits, ranks))
        chosen: Integers = texts[:, step]
        return chosen

    walk(predictor, len(codes), rows, numbers.shape[1], choose)
    return [row[:length].tolist() for row, length in zip(texts, lengths, strict=True)]


def encode_shares(predictor: Predictor, texts: Sequence[Sequence[int]], rows: int) -> list[Coded]:
    """The code of each text under the model's own probabilities."""
    truth = padded(texts, predictor.first)
    encoders = [Encoder() for _ in texts]
    ideal = [0.0] * len(texts)

    def choose(step: int, logits: Logits) -> Integers:
        for row, text in enumerate(texts):
            if step < len(text):
                shares = frequencies(logits[row])
                encoders[row].encode(Shares(shares).steps([text[step]]))
                ideal[row] += log2(TOTAL / int(shares[text[step]]))
        return truth[:, step]

    walk(predictor, len(texts), rows, truth.shape[1], choose)
    return [Coded(encoder.finish(), bits) for encoder, bits in zip(encoders, ideal, strict=True)]


def decode_shares(
    predictor: Predictor, codes: Sequence[bytes], lengths: Sequence[int], rows: int
) -> list[list[int]]:
    """The tokens of each text, by the model's own probabilities; `BadData` where a code is nobody's."""
    decoders = [Decoder(code) for code in codes]
    texts: list[list[int]] = [[] for _ in codes]

    def choose(step: int, logits: Logits) -> Integers:
        for row, length in enumerate(lengths):
            if step < length:
                texts[row] += decoders[row].decode(Shares(frequencies(logits[row])), 1)
        return np.array([text[step] if step < len(text) else predictor.first for text in texts])

    walk(predictor, len(codes), rows, max(lengths), choose)
    for decoder in decoders:
        decoder.finish()
    return texts


def canary(predictor: Predictor, coder: Coder, rows: int) -> bytes:
    """What the model says to a fixed text in this shape: its exact shares for `lockstep`, else its ranks."""
    if coder == "lockstep":
        return exact.canary(predictor, rows)
    return rank_canary(predictor, rows)


def rank_canary(predictor: Predictor, rows: int) -> bytes:
    """sha256 of the first places of the ranking along fixed texts, as big-endian 32-bit words, 32 bytes.

    The texts are the same whatever the number of rows; they are read in passes of `rows` rows.
    """
    digest = hashlib.sha256()
    for start in range(0, CANARY_TEXTS, rows):
        for text in _places(predictor, range(start, min(start + rows, CANARY_TEXTS)), rows):
            digest.update(text.astype(">u4").tobytes())
    return digest.digest()


def _places(predictor: Predictor, numbers: Sequence[int], rows: int) -> list[Integers]:
    """The first places at every step of the fixed texts of these numbers."""
    found: list[list[Integers]] = [[] for _ in numbers]

    def choose(step: int, logits: Logits) -> Integers:
        for text, row in zip(found, logits, strict=True):
            text.append(first_places(row, CANARY_RANKS))
        fixed = [predictor.first + (number + 1) * exact.STRIDE * (step + 1) for number in numbers]
        return np.array(fixed) % predictor.vocabulary

    walk(predictor, len(numbers), rows, exact.TOKENS, choose)
    return [np.concatenate(text) for text in found]
