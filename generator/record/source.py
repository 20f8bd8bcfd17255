"""A Markdown source: its text, its front matter with places, and the line where its body starts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Literal, NoReturn

from generator.record import front_matter, keys
from generator.record.encoding import decoded
from generator.record.front_matter import FrontMatter, Place
from generator.report.refusal import Refusal, Refused

Kind = Literal["finding", "kill", "erratum", "pass", "unrun", "withheld", "deviations", "page", "template"]

PASS = "findings/ERRATA-PASS.md"
"""The ruling on every statement of a record."""

DISCLOSURES: dict[str, Kind] = {
    "findings/UNRUN.md": "unrun",
    "findings/WITHHELD.md": "withheld",
    "findings/DEVIATIONS.md": "deviations",
}
"""What a record does not show, and where it went another way than it had said."""

BOUND = ("finding", "kill", "erratum", "pass", *DISCLOSURES.values())
"""Kinds of sources that say in their front matter what they are about."""

SIZE_LIMIT = 4 * 1024 * 1024
"""Bytes of the largest source that is read."""

_FRONT = re.compile(r"---[ \t]*\r?\n(?P<yaml>.*?)^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_PRIVATE = re.compile("[\ue000-\uf8ff\U000f0000-\U000ffffd\U00100000-\U0010fffd]")


@dataclass(frozen=True)
class Source:
    """One file that an author writes; path is relative to the root, with forward slashes."""

    path: str
    kind: Kind
    text: str = field(repr=False)
    front: Mapping[str, object]
    front_lines: Mapping[str, Place] = field(repr=False)
    body: str = field(repr=False)
    body_line: int

    @property
    def id(self) -> str:
        """The id of a finding, kill criterion or erratum; the file's stem for any other source."""
        return self.string("id") or PurePosixPath(self.path).stem

    @property
    def title(self) -> str:
        return self.string("title")

    @cached_property
    def payloads(self) -> Mapping[str, str]:
        """Payload paths by the alias that the front matter gives them."""
        declared = self.front.get("payloads")
        return {str(k): str(v) for k, v in declared.items()} if isinstance(declared, dict) else {}

    def string(self, key: str) -> str:
        """The text under a front matter key, empty where there is none."""
        value = self.front.get(key, "")
        return value if isinstance(value, str) else ""

    def place(self, key: str) -> Place:
        """Line and column of the value under a dotted key; the file's start where it has none."""
        return self.front_lines.get(key, (1, 1))


def read(root: Path, path: str) -> Source:
    """Read the source at a path relative to the root; raises Refused with every fault of its front matter."""
    return parse(path, _text(root, path))


def parse(path: str, text: str) -> Source:
    """The source that a text at a path would be; raises Refused with every fault of its front matter."""
    kind = kind_of(path)
    match = _FRONT.match(text)
    if match is None and (kind in BOUND or text.startswith("---\n")):
        message = "The file does not start with front matter between two lines of three hyphens."
        _refuse(path, 1, 1, "bad-front-matter", "", message)
    written = match is not None and match["yaml"].strip()
    front = front_matter.parse(path, match["yaml"], 2) if match and written else FrontMatter({}, {})
    faults = list(keys.faults(path, kind, front))
    if faults:
        raise Refused(faults)
    start = match.end() if match else 0
    body_line = text.count("\n", 0, start) + 1
    return Source(path, kind, text, front.values, front.places, text[start:], body_line)


def kind_of(path: str) -> Kind:
    """What a path makes of the source that stands there."""
    parts = PurePosixPath(path).parts
    if path == PASS:
        return "pass"
    if path in DISCLOSURES:
        return DISCLOSURES[path]
    if parts[:2] == ("findings", "errata"):
        return "erratum"
    if parts[0] == "findings":
        return "kill" if parts[-1].startswith("K-") else "finding"
    return "template" if parts[0] == "templates" else "page"


def _text(root: Path, path: str) -> str:
    """The file's text: UTF-8, no byte order mark, no private-use characters (pages use them as marks)."""
    try:
        file = (root / path).resolve(strict=True)
        if not file.is_relative_to(root.resolve()):
            _refuse(path, 1, 1, "bad-front-matter", path, "A symbolic link leads out of the repository.")
        if file.stat().st_size > SIZE_LIMIT:
            _refuse(path, 1, 1, "too-large", path, f"A source has at most {SIZE_LIMIT} bytes.")
        data = file.read_bytes()
    except (OSError, RuntimeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "a loop of symbolic links"
        _refuse(path, 1, 1, "bad-front-matter", path, f"The file cannot be read: {reason}.")
    text = decoded(path, data)
    private = _PRIVATE.search(text)
    if private:
        line = text.count("\n", 0, private.start()) + 1
        column = private.start() - (text.rfind("\n", 0, private.start()) + 1) + 1
        message = f"U+{ord(private[0]):04X} is a private-use character, which has no meaning to a reader."
        _refuse(path, line, column, "bad-encoding", "", message)
    return text


def _refuse(path: str, line: int, column: int, code: str, text: str, message: str) -> NoReturn:
    raise Refused([Refusal(path, line, column, code, text, message)])
