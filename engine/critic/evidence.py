"""Committed payloads, read strictly, and the measures that follow from their state."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from engine.contract import store
from engine.contract.errors import BadData
from engine.contract.payload import Lexeme
from engine.critic.counts import Spread, Sum
from engine.critic.draws import Integers
from engine.critic.measure import Measure
from engine.critic.ratios import Ratios
from engine.critic.rule import Field

PARTS = ("value", "low", "high", "clusters", "observations")
INNER = ("bootstrap_t", "cluster_t")
KINDS = ("sum", "ratio", "difference", "seed_spread")
"""Statistics that are made again here; numbers of another kind are taken as written, and said to be."""


@dataclass(frozen=True)
class Document:
    """A payload: its path, the digest of its bytes, and what they say, numbers as written."""

    path: str
    sha256: str
    content: Mapping[str, Any]


@dataclass(frozen=True)
class Reading:
    """What a field of a rule stands for: committed digits, and where they follow from state, the measure."""

    address: str
    committed: Fraction
    bare: bool
    leaf: Mapping[str, Any]
    part: str
    measure: Measure | None

    @property
    def leaf_address(self) -> str:
        """The address of the whole estimate."""
        return self.address.removesuffix("/" + self.part.replace(".", "/")) if self.measure else self.address


class Evidence:
    """The payloads of a folder, each read once; clusters are numbered over all of them."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._documents: dict[str, Document] = {}
        self._measures: dict[str, Measure] = {}
        self._numbers: dict[tuple[Any, int], int] = {}

    def there(self, path: str) -> bool:
        """Whether a payload was committed."""
        return (self.root / path).is_file()

    def document(self, path: str) -> Document:
        """A payload; `BadData` where it is not there or is no payload."""
        if path not in self._documents:
            if not self.there(path):
                raise BadData(path, "is not there.", "Run its experiment, or correct the path.")
            data = (self.root / path).read_bytes()
            store.parse(data, path)
            digest = hashlib.sha256(data).hexdigest()
            self._documents[path] = Document(path, digest, store.loads(data, path))
        return self._documents[path]

    def read(self, field: Field, payloads: Mapping[str, str], place: str) -> Reading:
        """What a field of a rule stands for; `BadData` at `place` where it names no number."""
        if field.alias not in payloads:
            raise BadData(place, f"names the payload {field.alias!r}, which is not declared.", "Declare it.")
        document = self.document(payloads[field.alias])
        keys, found, bare = field.keys, _at(document, field.keys, place), False
        if isinstance(found, dict) and "value" in found:
            keys, bare, found = (*keys, "value"), "low" in found, found["value"]
        if isinstance(found, bool) or not isinstance(found, (int, str)) or not _is_number(found):
            raise BadData(place, f"names {field}, which is no number.", "Name a quantity or a part of one.")
        leaf, part = self._leaf(document, keys)
        known = leaf.get("statistic", {}).get("kind") in KINDS
        measured = known and keys[0] == "results" and part in _PARTS
        return Reading(
            address=f"{document.path}#/{'/'.join(keys)}",
            committed=Fraction(str(found)),
            bare=bare,
            leaf=leaf,
            part=part,
            measure=self._measure(document, keys[: -1 - part.count(".")], leaf) if measured else None,
        )

    @staticmethod
    def _leaf(document: Document, keys: tuple[str, ...]) -> tuple[Mapping[str, Any], str]:
        """The leaf around a number, and which part of it the number is."""
        depth = 2 if len(keys) > 2 and keys[-2] in INNER else 1
        place: Any = document.content
        for key in keys[:-depth]:
            place = place[key]
        return place, ".".join(keys[-depth:])

    def _measure(self, document: Document, keys: tuple[str, ...], leaf: Mapping[str, Any]) -> Measure:
        address = f"{document.path}#/{'/'.join(keys)}"
        if address not in self._measures:
            try:
                self._measures[address] = self._make(document, leaf["statistic"], leaf)
            except (KeyError, TypeError, OverflowError) as error:
                raise BadData(address, f"does not say how it follows: {error}.", "Write it again.") from None
            except BadData as error:
                raise BadData(address, f"{error.place} {error.problem}", error.remedy) from None
        return self._measures[address]

    def _make(self, document: Document, how: Mapping[str, Any], leaf: Mapping[str, Any]) -> Measure:
        rows = self._rows(document, how.get("family"))
        clusters = [self._number(document, cluster) for cluster in rows["cluster"]]
        theirs = leaf.get("resamples", 1)
        if how["kind"] == "sum":
            return Sum(_total(rows, how["numerator"]), clusters)
        if how["kind"] == "seed_spread":
            above, below = (
                np.stack([rows[name] for name in how[side]], axis=1) for side in ("numerator", "denominator")
            )
            return Spread(above, below, clusters, how["prompts"], how["subsets"])
        columns = [_total(rows, how["numerator"]), _total(rows, how["denominator"])]
        if how["kind"] == "difference":
            minus = how["minus"]
            if minus.get("family") != how.get("family"):
                raise BadData("a difference", "is of two sets of clusters.", "Give both the same family.")
            columns += [_total(rows, minus["numerator"]), _total(rows, minus["denominator"])]
        return Ratios(np.stack(columns, axis=1), clusters, float(leaf["level"]), theirs)

    @staticmethod
    def _rows(document: Document, family: int | None) -> dict[str, Integers]:
        state = document.content.get("state")
        if not state or not state["rows"]:
            raise BadData("its payload", "holds no state.", "Write it again with state.")
        if any(len(row) != len(state["columns"]) for row in state["rows"]):
            raise BadData("the state", "has rows of another length than its columns.", "Write it again.")
        grid = np.array(state["rows"], dtype=np.int64)
        rows = {name: grid[:, at] for at, name in enumerate(state["columns"])}
        if len(set(rows["cluster"].tolist())) != len(grid):
            raise BadData("the state", "holds a cluster twice.", "Write one row a cluster.")
        if family is not None:
            rows = {name: column[rows["family"] == family] for name, column in rows.items()}
        return rows

    def _number(self, document: Document, cluster: int) -> int:
        """A cluster's number in the record: payloads that read the same files number them alike."""
        key = self._origin(document), int(cluster)
        return self._numbers.setdefault(key, len(self._numbers))

    @staticmethod
    def _origin(document: Document) -> Any:
        inputs = document.content["provenance"]["inputs"]
        return tuple(sorted(each["sha256"] for each in inputs)) or document.path

    def named(self, document: Document, clusters: frozenset[int]) -> list[int]:
        """Those of these clusters that a payload's state holds, by its own numbers for them."""
        origin = self._origin(document)
        return sorted(
            own for (whose, own), number in self._numbers.items() if whose == origin and number in clusters
        )


_PARTS = (*PARTS, *(f"{inner}.{end}" for inner in INNER for end in ("low", "high")))


def _at(document: Document, keys: tuple[str, ...], place: str) -> Any:
    found: Any = document.content
    for key in keys:
        if not isinstance(found, dict) or key not in found:
            raise BadData(place, f"names {key!r}, which {document.path} does not hold there.", "Correct it.")
        found = found[key]
    return found


def _is_number(found: int | str) -> bool:
    return isinstance(found, (int, Lexeme))


def _total(rows: Mapping[str, Integers], names: list[str]) -> Integers:
    if not names:
        raise BadData("a statistic", "names no state column.", "Name those it adds up.")
    summed: Integers = np.sum([rows[name] for name in names], axis=0)
    return summed
