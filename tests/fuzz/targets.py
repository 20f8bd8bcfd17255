"""What is fuzzed: each parser with texts that it accepts, and the one exception that it may end with."""

from __future__ import annotations

import hashlib
import io
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from hypothesis import strategies as st

from engine.coding import amber_format, container
from engine.coding.amber_format import Archive, Header, Record
from engine.coding.container import Coded
from engine.coding.profiles import AdaptiveBytes, profile_of
from engine.contract.errors import BadData
from generator.gate.source import check_sources
from generator.number.evaluate import evaluate
from generator.record import payload, terms
from generator.record import record as records
from generator.record import source as sources
from generator.report.refusal import Refused

HERE = Path(__file__).parent
CRASHERS = HERE / "crashers"
ROOT = HERE.parents[1]
PIECES = (
    *(b"{{", b"}}", b"{%", b"%}", b"{#", b"---\n", b"\n\n", b"| ", b"```", b"<!--", b"[^1]", b"&#55;", b"\r"),
    *(b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b"null", b"1e999", b"-0", b"0.1e-400", b"\\ud800"),
    *(b"\xef\xbb\xbf", b"\xff", b"\0", b"\xe2\x80\xae", b"\xf3\xb0\x80\x80", b"9" * 400, b"[" * 200),
    *(b"\x00\x00\x00\x00", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"&x ", b"*x", b"!!python/none ", b"? "),
)


@dataclass(frozen=True)
class Target:
    """A parser: ends well or with its refusal; anything else is a crasher."""

    parse: Callable[[bytes], object]
    refusal: type[Exception]
    seeds: tuple[bytes, ...]

    def survives(self, data: bytes) -> bool:
        """Whether the parser accepts or refuses; what else it raises goes through."""
        try:
            self.parse(data)
        except self.refusal:
            return False
        return True


@st.composite
def spoiled(draw: st.DrawFn, seeds: tuple[bytes, ...]) -> bytes:
    """A seed with a few pieces taken out, put in, moved or doubled; sometimes any bytes at all."""
    if draw(st.integers(0, 19)) == 0:
        return draw(st.binary(max_size=200))
    data = draw(st.sampled_from(seeds))
    for _ in range(draw(st.integers(1, 4))):
        at, gone = draw(st.integers(0, len(data))), draw(st.sampled_from((0, 0, 1, 2, 4, 30)))
        start = draw(st.integers(0, len(data)))
        put = draw(
            st.one_of(st.sampled_from(PIECES), st.binary(max_size=8), st.just(data[start : start + 40]))
        )
        data = data[:at] + put + data[at + gone :]
    return data


def keep(name: str, data: bytes) -> Path:
    """Store what broke a parser, under its digest."""
    file = CRASHERS / name / f"{hashlib.sha256(data).hexdigest()[:16]}.bin"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    return file


@cache
def _record() -> records.Record:
    return records.load(ROOT / "tests/cases/accepted/claims")


@cache
def _folder() -> Path:
    made = tempfile.TemporaryDirectory()
    _kept.append(made)
    (Path(made.name) / "payloads").mkdir()
    (Path(made.name) / "findings").mkdir()
    return Path(made.name)


_kept: list[tempfile.TemporaryDirectory[str]] = []


def _payload(data: bytes) -> object:
    (_folder() / "payloads/x.json").write_bytes(data)
    return payload.read(_folder(), "payloads/x.json")


def _terms(data: bytes) -> object:
    (_folder() / terms.PATH).write_bytes(data)
    return terms.read(_folder())


def _finding(data: bytes) -> object:
    """Read, evaluate and judge; each collects its refusals, and reading raises them."""
    record = _record()
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    source = sources.parse("findings/F-01.md", text)
    evaluate(records.revised(record, source), source)
    return check_sources([source], record.terms, record.ids)


def _container(data: bytes) -> object:
    """Unpacking ends with the bytes that were packed, or is refused."""
    sink = io.BytesIO()
    container.unpack(io.BytesIO(data), sink, profile_of)
    assert sink.getvalue() == TEXT or data != CONTAINER
    return sink


def _code(data: bytes) -> object:
    """The code of a chunk, below the sums that keep damage away from it."""
    return AdaptiveBytes().decode(Coded(len(TEXT), data))


def _archive(data: bytes) -> object:
    """An archive whose sum is right, so that what it says is read."""
    return amber_format.parse(data + hashlib.sha256(data).digest())


TEXT = b"A draft guesses, a target judges. " * 5


def _packed() -> bytes:
    sink = io.BytesIO()
    container.pack(io.BytesIO(TEXT), sink, AdaptiveBytes())
    return sink.getvalue()


CONTAINER = _packed()
ARCHIVE = amber_format.dump(
    Archive(
        Header("lockstep", True, 4, 2, 9, *(bytes(32) for _ in range(4)), "an environment"),
        (Record(5, 7, 3, b"code!", b"\0"), Record(4, 8, 0, b"text", b"")),
    )
)[:-32]
_CASES = ROOT / "tests/cases/accepted"
TARGETS = {
    "payload": Target(
        _payload,
        Refused,
        tuple(file.read_bytes() for file in sorted(_CASES.glob("*/payloads/a/x.json"))[:3]),
    ),
    "finding": Target(
        _finding, Refused, tuple(file.read_bytes() for file in sorted(_CASES.glob("*/findings/F-01.md")))
    ),
    "terms": Target(_terms, Refused, (b'[[term]]\ntext = "top-1"\nreason = "a measure"\n',)),
    "container": Target(_container, BadData, (CONTAINER,)),
    "code": Target(_code, BadData, (AdaptiveBytes().encode(TEXT).code,)),
    "archive": Target(_archive, BadData, (ARCHIVE,)),
}
