"""What a finding or a kill criterion binds itself to: its rules, its label, its payloads.

Front matter is read as text and nothing of the body is read at all. PyYAML is used here alone.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import yaml

from engine.contract.errors import BadData
from engine.critic import rule
from engine.critic.rule import Condition

NAME = re.compile(r"[FK]-[0-9]+")
_FRONT = re.compile(r"---\r?\n(.*?)^---\s*?$", re.DOTALL | re.MULTILINE)
_PAYLOAD = re.compile(r"payloads/([a-z0-9-]+)/([a-z0-9-]+)\.json")

Kind = Literal["status", "verdict", "outcome"]


class Unreadable(Exception):
    """Sources that cannot be read, each with its place."""

    def __init__(self, faults: Sequence[BadData]) -> None:
        self.faults = tuple(faults)
        super().__init__(f"{len(faults)} sources cannot be read")


@dataclass(frozen=True)
class Label:
    """A word that rules decide. `written` is the author's, None where the word is only computed."""

    kind: Kind
    written: str | None
    texts: Mapping[str, str]
    rules: Mapping[str, Condition]

    def key(self, name: str) -> str:
        """Where the front matter holds a rule."""
        return f"verdict_when {name}" if self.kind == "verdict" else f"{name}_when"

    def word(self, truths: Mapping[str, bool]) -> str:
        """What the rules give."""
        held = [name for name in self.rules if truths[name]]
        if self.kind == "outcome":
            return "fired" if held else "did not fire"
        if self.kind == "verdict":
            return held[0] if held else "no label"
        if held:
            return " and ".join(held)
        return str(self.written) if self.written not in self.rules else "neither"

    def decisive(self, truths: Mapping[str, bool]) -> tuple[str, ...]:
        """The rules that must all keep their truth for the word to stay."""
        names = tuple(self.rules)
        first = next((at for at, name in enumerate(names) if truths[name]), len(names))
        return names[: first + 1] if self.kind == "verdict" else names


@dataclass(frozen=True)
class Source:
    """A text with labels, by id; `record` is the one it belongs to."""

    id: str
    path: str
    sha256: str
    record: str
    payloads: Mapping[str, str]
    labels: tuple[Label, ...]


def read(root: Path, path: str) -> Source:
    """A finding or a kill criterion; `BadData` with the place of what cannot be read."""
    data = (root / path).read_bytes()
    front = _front(data, path)
    payloads = front.get("payloads", {})
    if not isinstance(payloads, dict) or not all(_PAYLOAD.fullmatch(str(p)) for p in payloads.values()):
        raise BadData(path, "has payloads that are no names with paths.", "Write alias: payloads/….json.")
    finding = Path(path).stem.startswith("F-")
    return Source(
        id=Path(path).stem,
        path=path,
        sha256=hashlib.sha256(data).hexdigest(),
        record=_text(front, "record", path) if finding else _record(payloads.values(), path),
        payloads=payloads,
        labels=tuple(_finding(front, path) if finding else _kill(front, path)),
    )


def read_all(root: Path) -> list[Source]:
    """Every finding and kill criterion of a record's folder, by id; `Unreadable` with all that is wrong."""
    names = [path.stem for path in (root / "findings").glob("*.md") if NAME.fullmatch(path.stem)]
    sources, faults = [], []
    for name in sorted(names, key=lambda name: (name[0], int(name[2:]))):
        try:
            sources.append(read(root, f"findings/{name}.md"))
        except BadData as error:
            faults.append(error)
    if faults:
        raise Unreadable(faults)
    return sources


def _finding(front: dict[str, Any], path: str) -> list[Label]:
    rules = {word: front[f"{word}_when"] for word in ("holds", "null") if f"{word}_when" in front}
    labels = [_label("status", _text(front, "status", path), rules, path)]
    if "verdict_when" in front:
        if not isinstance(front["verdict_when"], dict):
            raise BadData(f"{path} verdict_when", "is no list of labels with rules.", "Write label: rule.")
        labels.append(_label("verdict", None, front["verdict_when"], path))
    return labels


def _kill(front: dict[str, Any], path: str) -> list[Label]:
    return [_label("outcome", None, {"fires": _text(front, "fires_when", path)}, path)]


def _label(kind: Kind, written: str | None, texts: dict[str, Any], path: str) -> Label:
    plain = {name: " ".join(text.split()) for name, text in texts.items() if isinstance(text, str)}
    unread = Label(kind, written, plain, {})
    for name in texts:
        if name not in plain:
            raise BadData(
                f"{path} {unread.key(name)}", "is no rule.", "Write one comparison, or several joined."
            )
    rules = {name: rule.parse(text, f"{path} {unread.key(name)}") for name, text in plain.items()}
    return Label(kind, written, plain, rules)


def _record(paths: Any, path: str) -> str:
    """The record that a kill criterion is about: that of its first payload that is not a file of bars."""
    named = [match for each in paths if (match := _PAYLOAD.fullmatch(each))]
    measured = [match[1] for match in named if match[1] != "registered"]
    if not named:
        raise BadData(path, "names no payload.", "Write payloads: with an alias and a path.")
    return measured[0] if measured else named[0][2]


def _text(front: dict[str, Any], key: str, path: str) -> str:
    if not isinstance(front.get(key), str):
        raise BadData(path, f"has no {key}.", "Write it in the front matter.")
    return str(front[key])


def _front(data: bytes, path: str) -> dict[str, Any]:
    try:
        match = _FRONT.match(data.decode("utf-8"))
        node = yaml.compose(match[1], Loader=yaml.BaseLoader) if match else None
        front = _plain(node, set()) if node else None
    except (ValueError, TypeError, yaml.YAMLError, RecursionError) as error:
        first = str(error).splitlines()[0]
        raise BadData(path, f"has front matter that cannot be read: {first}.", "Correct it.") from None
    if not isinstance(front, dict):
        raise BadData(path, "has no front matter.", "Begin with keys between two lines of ---.")
    return front


def _plain(node: yaml.Node, seen: set[int]) -> Any:
    """Texts, lists and mappings of a YAML tree; no key twice, no node twice."""
    if id(node) in seen:
        raise ValueError("an alias stands for another value")
    seen.add(id(node))
    if isinstance(node, yaml.MappingNode):
        pairs = [(key.value, _plain(value, seen)) for key, value in node.value]
        names = [key for key, _ in pairs]
        if len(set(names)) < len(names):
            raise ValueError(f"{next(name for name in names if names.count(name) > 1)!r} stands twice")
        return dict(pairs)
    if isinstance(node, yaml.SequenceNode):
        return [_plain(value, seen) for value in node.value]
    return node.value
