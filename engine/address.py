"""What a reader may point at to have it recomputed: ids, statements, payloads, addresses of the site.

Standard library only.

    F-01  F-01#tokens  K-2                            a finding, one of its statements, a kill criterion
    acceptance/lookup-greedy                          a payload, also as a file
    …/payloads/acceptance/lookup-greedy.html#L720     a pasted address: the line of a number
    …/findings/F-01.html#F-01-tokens                  a pasted address: a statement
    …/index.html#n-lookup-greedy.length_4.tokens_…    a pasted address: a number, on whatever page
    payloads/acceptance/lookup-greedy.json#/results/… a field
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from engine.contract.errors import UnknownName

Pointer = tuple[str, ...]

FORMS = "Give F-01, F-01#statement, record/payload, a file, or an address pasted from a page of this site."

_SOURCE = re.compile(r"(?:(?:.*/)?findings/)?([FK]-[0-9]+)(?:\.html|\.md)?")
_KILLS = re.compile(r"(?:.*/)?kill-criteria\.html")
_PAYLOAD = re.compile(r"(?:(?:.*/)?payloads/)?([a-z0-9-]+/[a-z0-9.-]+?)(?:\.html|\.json)?")
_AT_LINE = re.compile(r"(.+\.json):([1-9][0-9]*)(?::[0-9]+)?")
_FRONT = re.compile(r"---\n(.*?)^---\s*?$", re.DOTALL | re.MULTILINE)
_ALIAS = re.compile(r"([A-Za-z_]\w*)\s*:\s*[\"']?(payloads/[\w./-]+\.json)\b")
_BRACES = re.compile(r"\{\{.*?\}\}|\{%.*?%\}", re.DOTALL)
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')


@dataclass(frozen=True)
class Wanted:
    """A payload's file, and the fields asked for; all of its numbers where there are none."""

    path: Path
    pointers: tuple[Pointer, ...] = ()
    exact: bool = False
    """Whether one field is asked for and not the number around it."""


def resolve(root: Path, reference: str) -> list[Wanted]:
    """What a reference means; `UnknownName` with what would be understood."""
    path, fragment = _split(reference)
    if fragment.startswith("n-") and not fragment.startswith("n-derived-"):
        return _numbered(root, reference, fragment.removeprefix("n-"))
    if _KILLS.fullmatch(path) and fragment.startswith("K-"):
        path, fragment = fragment, ""
    if found := _SOURCE.fullmatch(path):
        return _source(root, found[1], fragment)
    return [_payload(_file(root, path, reference), fragment)]


def _numbered(root: Path, reference: str, name: str) -> list[Wanted]:
    """The field in the address of a number, in every payload that is called so."""
    wanted = []
    for each in all_payloads(root):
        stem = each.rpartition("/")[2]
        if name.startswith(f"{stem}."):
            path = root / "payloads" / f"{each}.json"
            found = (pointer for _, pointer in scalars(path.read_text(encoding="utf-8", errors="replace")))
            pointers = tuple(pointer for pointer in found if _is_called(name, stem, pointer))
            wanted += [Wanted(path, pointers, exact=True)] if pointers else []
    if not wanted:
        raise UnknownName(reference, "is the address of no number that was read from a payload.", FORMS)
    return wanted


def _is_called(name: str, stem: str, pointer: Pointer) -> bool:
    """Whether the site calls a field so; where a page shows it again, a count follows."""
    keys = pointer[pointer[:1] == ("results",) :]
    keys = keys[:-1] if keys[-1:] == ("value",) else keys
    called = re.sub(r"[^A-Za-z0-9_.-]+", "-", ".".join([stem, *keys]))
    return name == called or (name.startswith(f"{called}-") and name[len(called) + 1 :].isdecimal())


def all_payloads(root: Path) -> list[str]:
    """Every committed payload, by name."""
    folder = root / "payloads"
    return sorted(path.relative_to(folder).with_suffix("").as_posix() for path in folder.glob("*/*.json"))


def _split(reference: str) -> tuple[str, str]:
    try:
        parts = urlsplit(reference.strip())
    except ValueError:
        raise UnknownName(reference, "is no address.", FORMS) from None
    path, fragment = unquote(parts.path), unquote(parts.fragment)
    if at_line := _AT_LINE.fullmatch(path):
        return at_line[1], fragment or f"L{at_line[2]}"
    return path, fragment


def _file(root: Path, path: str, reference: str) -> Path:
    """The file of a payload, committed or anywhere on this machine."""
    found = _PAYLOAD.fullmatch(path)
    if found and (committed := root / "payloads" / f"{found[1]}.json").is_file():
        return committed
    if path.endswith(".json") and "://" not in reference and Path(path).is_file():
        return Path(path)
    known = f"Known: {', '.join(all_payloads(root))}."
    if found:
        raise UnknownName(reference, "is no payload.", known)
    raise UnknownName(reference, "is no payload, and no address of this record.", f"{FORMS} {known}")


def _payload(path: Path, fragment: str) -> Wanted:
    """All of a payload, or the field that a fragment names by pointer or by line."""
    if not fragment:
        return Wanted(path)
    if fragment.startswith("/"):
        keys = tuple(key.replace("~1", "/").replace("~0", "~") for key in fragment[1:].split("/"))
        return Wanted(path, (keys,), exact=True)
    if line := re.fullmatch(r"L([1-9][0-9]*)", fragment):
        text = path.read_text(encoding="utf-8", errors="replace")
        here = [pointer for at, pointer in scalars(text) if at == int(line[1])]
        if not here:
            raise UnknownName(f"{path.name} line {line[1]}", "holds no value.", "Give the line of a number.")
        return Wanted(path, (_shared(here),), exact=True)
    raise UnknownName(
        f"#{fragment}", "is no place in a payload.", "Give a line, #L12, or a field, #/results/…."
    )


def _shared(pointers: list[Pointer]) -> Pointer:
    """The way that pointers have in common: a row of state stands on one line."""
    first, last = min(pointers), max(pointers)
    length = next((at for at, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
    return first[:length]


def scalars(text: str) -> Iterator[tuple[int, Pointer]]:
    """Line and pointer of every scalar of a JSON text, in order."""
    inside: list[str | int | None] = []
    line, passed = 1, 0
    for token in _TOKEN.finditer(text):
        line, passed = line + text.count("\n", passed, token.start()), token.start()
        if token[0] in ("{", "["):
            inside.append(None if token[0] == "{" else 0)
        elif token[0] in ("}", "]"):
            del inside[-1:]
        elif token[0] == "," and inside:
            inside[-1] = inside[-1] + 1 if isinstance(inside[-1], int) else None
        elif token[0] not in (",", ":"):
            if inside and inside[-1] is None:
                inside[-1] = _key(token[0])
            else:
                yield line, tuple(str(key) for key in inside)


def _key(token: str) -> str:
    try:
        return str(json.loads(token))
    except ValueError:
        return token


def _source(root: Path, name: str, fragment: str) -> list[Wanted]:
    """The numbers that a source cites, or one of its statements."""
    path = root / "findings" / f"{name}.md"
    if not path.is_file():
        kind = "finding" if name.startswith("F") else "kill criterion"
        raise UnknownName(name, f"is no {kind}.", "See findings/.")
    text = path.read_text(encoding="utf-8", errors="replace")
    front = _FRONT.match(text)
    aliases = dict(_ALIAS.findall(front[1])) if front else {}
    if not front or not aliases:
        raise UnknownName(name, "names no payload.", "There is nothing to recompute.")
    derived = fragment.removeprefix("n-derived-") if fragment.startswith("n-derived-") else ""
    statement = "" if derived else fragment.removeprefix(f"{name}-")
    body = text[front.end() :]
    part = _statement(body, name, statement) if statement else front[1] + " ".join(_BRACES.findall(body))
    wanted = []
    for alias, payload in aliases.items():
        pointers = tuple(
            each
            for each in dict.fromkeys(_fields(part, alias))
            if not derived or f"-{_last(each)}-" in f"-{derived}-"
        )
        if pointers or not (statement or derived):
            wanted.append(Wanted(_file(root, payload, payload), pointers))
    return wanted


def _last(pointer: Pointer) -> str:
    """The key that the address of a derived number says of a field."""
    keys = pointer[:-1] if pointer[-1:] == ("value",) else pointer
    return keys[-1] if keys else ""


def _statement(body: str, name: str, statement: str) -> str:
    opened = r"\{%-?\s*statement\s+[\"']([a-z0-9-]+)[\"']\s*-?%\}(.*?)\{%-?\s*endstatement\s*-?%\}"
    known = dict(re.findall(opened, body, re.DOTALL))
    if statement not in known:
        there = ", ".join(f"{name}#{each}" for each in known) or "none"
        raise UnknownName(f"{name}#{statement}", "is no statement of it.", f"Known: {there}.")
    return " ".join(_BRACES.findall(known[statement]))


def _fields(text: str, alias: str) -> Iterator[Pointer]:
    """The fields of a payload that expressions name."""
    named = rf"(?<![\w./\"'-]){alias}((?:\.[A-Za-z_]\w*|\[(?:\"[^\"]+\"|'[^']+')\])+)"
    for keys in re.findall(named, text):
        yield tuple(re.sub(r"[\[\]\"'.]", "", key) for key in re.findall(r"\.\w+|\[[^\]]+\]", keys))
