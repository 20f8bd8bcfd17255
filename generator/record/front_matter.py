"""Front matter: strict YAML in which every value knows its place. The one door to PyYAML.

Scalars stay strings unless they are plain true or false: a status of `null`, a date and a version
keep the characters that the author typed.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import yaml

from generator.report.refusal import Refusal, Refused

try:
    from yaml import CSafeLoader as _Loader
except ImportError:  # pragma: no cover - PyYAML without its C library
    from yaml import SafeLoader as _Loader  # type: ignore[assignment]

Place = tuple[int, int]


@dataclass(frozen=True)
class FrontMatter:
    """The values of a front matter, and line and column of each by dotted key."""

    values: dict[str, object]
    places: dict[str, Place]


def parse(path: str, text: str, first_line: int) -> FrontMatter:
    """Read YAML text that starts at a line of its file; raises Refused with the place of any fault."""
    try:
        root = yaml.compose(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line, mark.column) if mark else (0, 0)
        message = f"The front matter is not YAML: {error.problem or error.context}."
        raise Refused([_refusal(path, first_line + line, column + 1, "", message)]) from None
    except yaml.YAMLError as error:
        message = f"The front matter is not YAML: {str(error).splitlines()[0]}."
        raise Refused([_refusal(path, first_line, 1, "", message)]) from None
    if not isinstance(root, yaml.MappingNode):
        message = "The front matter is not a mapping of keys to values."
        raise Refused([_refusal(path, first_line, 1, "", message)])
    reader = _Reader(path, first_line, [], {})
    values = reader.mapping(root, "")
    if reader.refusals:
        raise Refused(reader.refusals)
    return FrontMatter(values, reader.places)


def _refusal(
    path: str, line: int, column: int, text: str, message: str, code: str = "bad-front-matter"
) -> Refusal:
    return Refusal(path, line, column, code, text, message)


@dataclass
class _Reader:
    """Turns YAML nodes into values, and notes where each stood."""

    path: str
    first_line: int
    refusals: list[Refusal]
    places: dict[str, Place]
    seen: set[int] = field(default_factory=set)

    def mapping(self, node: yaml.MappingNode, prefix: str) -> dict[str, object]:
        values: dict[str, object] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                self._refuse(key_node, "", "A key is a plain word.", "bad-front-matter")
                continue
            key = str(key_node.value)
            if key in values:
                code = "duplicate-id" if prefix == "payloads." else "bad-front-matter"
                self._refuse(key_node, key, f'"{key}" is declared twice.', code)
                continue
            self.places[f"{prefix}{key}:key"] = self._place(key_node)
            values[key] = self.value(value_node, f"{prefix}{key}")
        return values

    def value(self, node: yaml.Node, name: str) -> object:
        self.places[name] = self._place(node)
        if id(node) in self.seen:
            self._refuse(
                node, "", "Write the value out; aliases of YAML are not followed.", "bad-front-matter"
            )
            return ""
        self.seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            return self.mapping(node, f"{name}.")
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item, f"{name}.{index}") for index, item in enumerate(node.value)]
        if getattr(node, "style", None) is None and node.value in ("true", "false"):
            return bool(node.value == "true")
        return str(node.value)

    def _place(self, node: yaml.Node) -> Place:
        """Line and column of the first character of a value, after its quotation mark."""
        quoted = isinstance(node, yaml.ScalarNode) and node.style in ("'", '"')
        return self.first_line + node.start_mark.line, node.start_mark.column + 1 + quoted

    def _refuse(self, node: yaml.Node, text: str, message: str, code: str) -> None:
        line, column = self._place(node)
        self.refusals.append(_refusal(self.path, line, column, text, message, code))
