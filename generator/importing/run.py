"""Makes a payload from a file of results: read, name, give units, write; lexemes stay as they are."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from generator.importing import document, names, rows, units
from generator.importing.found import Found, Left, Lexeme, Taken
from generator.record import envelope, repository, strict, writing
from generator.record.document import SIZE_LIMIT
from generator.record.version import DISTRIBUTION, installed
from generator.report.refusal import Refusal, Refused

OUT = re.compile(r"payloads/([a-z0-9-]+/[a-z0-9-]+)\.json")
NO_COMMIT = "0" * 40


class Misuse(Exception):
    """A request that cannot be served whatever the file holds; exit code 2."""


@dataclass(frozen=True)
class Request:
    """What is imported, where to, and what its file does not say."""

    root: Path
    file: Path
    out: str = ""
    question: str = ""
    keys: tuple[str, ...] = ()
    units: Mapping[str, str] = field(default_factory=dict)
    regime: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Imported:
    """The payload that was written, how names were changed, and what stayed behind."""

    path: str
    shape: str
    numbers: int
    renamed: dict[str, str]
    left: tuple[Left, ...]
    example: str


READERS = {
    ".json": lambda path, data, _: document.read(path, data),
    ".csv": rows.table,
    ".jsonl": rows.log,
}
"""How a file is read, by what its name ends with."""


def make(request: Request) -> Imported:
    """Write the payload; raises Refused with everything that stands against it, and Misuse."""
    shown, data = _shown(request), _bytes(request.file)
    said = Counter(map(names.identifier, request.regime))
    if twice := next((key for key in request.regime if said[names.identifier(key)] > 1), None):
        raise Misuse(f"--regime {twice}: another key becomes the same name. Name one otherwise.")
    out = request.out or f"payloads/imported/{_slug(request.file.stem)}.json"
    if not OUT.fullmatch(out):
        raise Misuse(f"--out {out}: a payload is payloads/<record>/<name>.json, of a-z, 0-9 and hyphens.")
    if (request.root / out).exists():
        raise Refused(
            [Refusal(out, 1, 1, "bad-payload", out, "This is here already. Name another with --out.")]
        )
    taken = _read(shown, data, request.keys)
    _check_names(shown, taken.numbers)
    payload = _written(_document(request, taken, shown, out, data)).encode()
    _check(out, payload)
    writing.replace(request.root / out, payload)
    return _imported(out, taken)


def _read(shown: str, data: bytes, keys: Sequence[str]) -> Taken:
    suffix = Path(shown).suffix.lower()
    if suffix not in READERS:
        raise Misuse(f"{shown}: only .json, .csv and .jsonl are read.")
    taken = READERS[suffix](shown, data, keys)
    if not taken.numbers:
        raise Refused([Refusal(shown, 1, 1, "bad-payload", "", "The file holds no number under a name.")])
    return taken


def _shown(request: Request) -> str:
    """The path of the file from the root, or its name where it lies elsewhere."""
    real = request.file.resolve()
    inside = real.is_relative_to(request.root)
    return real.relative_to(request.root).as_posix() if inside else real.name


def _bytes(file: Path) -> bytes:
    try:
        if file.stat().st_size > SIZE_LIMIT:
            raise Misuse(f"{file} has more than {SIZE_LIMIT} bytes. Leave out samples and keep the results.")
        return file.read_bytes()
    except OSError as error:
        raise Misuse(f"{file} cannot be read: {error.strerror}.") from None


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "results"


def _check_names(shown: str, numbers: list[Found]) -> None:
    """Two names that become one are refused where the second stands."""
    clashes = names.clashes(each.tokens for each in numbers)
    refusals = [
        Refusal(
            shown, each.line, each.column, "bad-payload", ".".join(each.tokens),
            f"{' and '.join('.'.join(other) for other in clashes[name])} become one name, {'.'.join(name)}. "
            "Rename one in the file.",
        )
        for each in numbers
        if (name := tuple(map(names.identifier, each.tokens))) in clashes
    ]  # fmt: skip
    if refusals:
        raise Refused(refusals)


def _document(request: Request, taken: Taken, shown: str, out: str, data: bytes) -> dict[str, object]:
    renamed = _renamed(taken)
    root = request.root
    commit = (repository.ask(root, "rev-parse", "HEAD") or NO_COMMIT).strip()
    match = OUT.fullmatch(out)
    return {
        "schema": "specdec-sidechannels/payload/1",
        "name": match[1] if match else "",
        "question": request.question or "What do the imported results report?",
        "regime": {names.identifier(key): text for key, text in {**taken.regime, **request.regime}.items()},
        "config": {"shape": taken.shape} | ({"names": renamed} if renamed else {}),
        "seeds": {},
        "provenance": {
            "command": _command(request, shown, out),
            "commit": commit,
            "dirty": repository.read(root).standing(shown) is not None,
            "versions": {DISTRIBUTION: installed(), **taken.versions},
            "device": "not stated by the file",
            "models": [],
            "inputs": [{"path": shown, "sha256": sha256(data).hexdigest()}],
        },
        "results": _results(shown, taken, request.units),
    } | ({"absent": _absent(taken)} if taken.absent else {})


def _command(request: Request, shown: str, out: str) -> list[str]:
    """The command line that makes the payload again."""
    command = ["findings", "import", shown, "--out", out]
    command += ["--question", request.question] if request.question else []
    command += [word for key in request.keys for word in ("--key", key)]
    command += [word for key, unit in request.units.items() for word in ("--unit", f"{key}={unit}")]
    return command + [word for key, text in request.regime.items() for word in ("--regime", f"{key}={text}")]


def _results(shown: str, taken: Taken, stated: Mapping[str, str]) -> dict[str, object]:
    found = units.given(shown, taken.numbers, stated)
    results: dict[str, object] = {}
    for each in taken.numbers:
        *outer, last = name = tuple(map(names.identifier, each.tokens))
        group = results
        for token in outer:
            below = group.setdefault(token, {})
            assert isinstance(below, dict)
            group = below
        group[last] = {"value": each.lexeme, **each.ends, "unit": found[name]}
    return results


def _absent(taken: Taken) -> dict[str, str]:
    return {".".join(map(names.identifier, tokens)): why for tokens, why in taken.absent.items()}


def _renamed(taken: Taken) -> dict[str, str]:
    """The names of the file by the identifiers that they became."""
    tokens = dict.fromkeys(token for each in taken.numbers for token in each.tokens)
    return {made: token for token in tokens if (made := names.identifier(token)) != token}


def _written(value: object, indent: str = "") -> str:
    """Canonical JSON: two spaces a level, one scalar a line, numbers as they were written."""
    if isinstance(value, Lexeme):
        return str(value)
    inner = f"{indent}  "
    if isinstance(value, dict) and value:
        rows = (f"{inner}{json.dumps(key)}: {_written(each, inner)}" for key, each in value.items())
        text = "{\n" + ",\n".join(rows) + f"\n{indent}}}"
    elif isinstance(value, list) and value:
        text = "[\n" + ",\n".join(f"{inner}{_written(each, inner)}" for each in value) + f"\n{indent}]"
    else:
        text = json.dumps(value, ensure_ascii=False)
    return text if indent else f"{text}\n"


def _check(out: str, data: bytes) -> None:
    """What is written is held against what a record takes, before it is written."""
    values = strict.load(out, data, data.decode())
    faults = list(envelope.faults("specdec-sidechannels/payload/1", values))
    if faults:
        raise Refused(
            Refusal(out, 1, 1, "bad-payload", where or "/", f"{where}: {message}.")
            for where, message in faults
        )


def _imported(out: str, taken: Taken) -> Imported:
    first = ".".join(map(names.identifier, taken.numbers[0].tokens))
    example = f"payloads:\n  a: {out}\n…\n{{{{ a.results.{first} }}}}"
    return Imported(out, taken.shape, len(taken.numbers), _renamed(taken), tuple(taken.left), example)
