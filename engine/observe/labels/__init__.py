"""Concept buckets of tokens, in three label spaces, fixed before any harvest and pinned by digest.

One committed file holds them: a line a space, one hexadecimal digit a token id. L1 and L2 need no
judgement: L1 cuts the ids of a byte-pair vocabulary, which rise with the order of merging and so
fall with frequency; L2 halves the output embeddings again and again along their first principal
direction, so that each half holds as much of running text. L3 groups tokens by a rule on their text.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.contract.errors import BadData
from engine.contract.provenance import ROOT
from engine.observe.constants import Labelling

Buckets = NDArray[np.int64]
SPACES = ("l1", "l2", "l3")
UNSEEN = 0.02
"""Weight of a token that the reference text does not hold, in occurrences."""

WORDS = """
a an the and or but nor so yet if than then that this these those i you he she it we they me him her us them
my your his its our their who whom whose which what when where why how of in on at by for with from to into
onto over under about as be am is are was were been being do does did have has had will would can could shall
should may might must not no there here very just also too more most
"""
FUNCTION_WORDS = frozenset(WORDS.split())


def load(constants: Labelling, root: Path = ROOT) -> dict[str, Buckets]:
    """The bucket of each token id in every space, or `BadData` where the file is not the registered one."""
    path = root / constants.file
    data = path.read_bytes() if path.is_file() else b""
    found = hashlib.sha256(data).hexdigest()
    if found != constants.sha256:
        raise BadData(
            str(path),
            f"has digest {found[:12]}, registered is {constants.sha256[:12]}: a label space was changed.",
            "Restore the registered file; new spaces are a new registration.",
        )
    return parse(data.decode("ascii"), constants, str(path))


def parse(text: str, constants: Labelling, place: str) -> dict[str, Buckets]:
    """Label spaces from the text of their file; each bucket must lie below its space's size."""
    out = {}
    for line in text.splitlines():
        name, digits = line.split(" ")
        out[name] = np.array([int(digit, 16) for digit in digits])
        size = {"l1": constants.l1, "l2": constants.l2, "l3": constants.l3}.get(name, 0)
        if out[name].max() >= size:
            raise BadData(f"{place}, {name}", f"holds bucket {out[name].max()} of {size}.", "Write it again.")
    return out


def write(spaces: Mapping[str, Buckets]) -> str:
    """The text of the file."""
    return "".join(
        f"{name} {''.join(format(int(bucket), 'x') for bucket in spaces[name])}\n" for name in SPACES
    )


def made(
    tokenizer: Any, matrix: NDArray[np.float32], texts: Sequence[str], constants: Labelling
) -> dict[str, Buckets]:
    """Every space of a model, by the registered rules. `matrix` (tokens, width) holds the output embeddings.

    `texts` are the reference; control tokens are those that were added to the tokenizer.
    """
    reference = np.array([i for text in texts for i in tokenizer.encode(text, add_special_tokens=False)])
    spelled = [tokenizer.decode([i]) for i in range(len(matrix))]
    return {
        "l1": frequency(len(matrix), reference, constants.l1),
        "l2": embedding(matrix, reference, constants.l2.bit_length() - 1),
        "l3": classes(spelled, frozenset(tokenizer.added_tokens_decoder)),
    }


def frequency(tokens: int, reference: NDArray[np.int64], buckets: int) -> Buckets:
    """L1: ranges of ids that hold equal shares of the reference text's tokens. (tokens,)"""
    edges = np.quantile(reference, np.arange(1, buckets) / buckets)
    return np.searchsorted(edges, np.arange(tokens), side="left")


def embedding(matrix: NDArray[np.float32], reference: NDArray[np.int64], levels: int) -> Buckets:
    """L2: leaves of a tree that halves output embeddings by weight. `matrix` (tokens, width) → (tokens,)"""
    weight = (np.bincount(reference, minlength=len(matrix)) + UNSEEN).astype(np.float64)
    out = np.zeros(len(matrix), dtype=np.int64)
    for _ in range(levels):
        halves = np.zeros_like(out)
        for leaf in np.unique(out):
            members = np.flatnonzero(out == leaf)
            halves[members] = _upper_half(matrix[members], weight[members])
        out = 2 * out + halves
    return out


def _upper_half(rows: NDArray[np.float32], weight: NDArray[np.float64]) -> Buckets:
    """One where a row lies beyond the weighted median along the first principal direction."""
    centred = rows - np.average(rows, axis=0, weights=weight).astype(np.float32)
    scaled = centred * np.sqrt(weight / weight.sum()).astype(np.float32)[:, None]
    direction = np.linalg.eigh((scaled.T @ scaled).astype(np.float64))[1][:, -1]
    direction *= np.sign(direction[np.abs(direction).argmax()])
    along = centred @ direction
    order = np.argsort(along, kind="stable")
    risen = np.cumsum(weight[order])
    out = np.zeros(len(rows), dtype=np.int64)
    out[order[risen - weight[order] / 2 > risen[-1] / 2]] = 1
    return out


def classes(texts: Sequence[str], control: Collection[int]) -> Buckets:
    """L3: ten classes of tokens by their text, control tokens one of them. (tokens,)"""
    return np.array([0 if i in control else _class(text) for i, text in enumerate(texts)])


def _class(text: str) -> int:
    """1 space, 2 end of sentence, 3 signs, 4 digits, 5 function word, 6 capital, 7 word, 8 rest of one."""
    bare = text.strip()
    if not bare:
        return 1
    if bare in {".", "!", "?"} or bare.rstrip('"”)') in {".", "!", "?"}:
        return 2
    if not any(c.isalnum() for c in bare):
        return 3
    if bare.isdigit():
        return 4
    if not bare.isalpha():
        return 9
    starts = text[0].isspace() or bare[0].isupper()
    if starts and bare.lower() in FUNCTION_WORDS:
        return 5
    if bare[0].isupper():
        return 6
    return 7 if starts else 8
