"""Amber: text as a draft model's mistakes, and back again with the draft alone.

For each token the archive holds where it stood in the draft's ranking (`ranks`), or its code under the
draft's probabilities (`lockstep`). Chunks start afresh, so many are unpacked side by side, always in as many
rows as when they were packed. What is asked of the machine, in fp32: where the archive's canary sings the
same, the model says the same to the same rows. Ranks ask less than shares: a rank holds while no value moves
by its margin, and where the margin is within the guard the token itself is told. Bytes that are no text stay
bytes, a chunk at a time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar
from zlib import crc32

from engine.coding import amber_rows, lockstep
from engine.coding.amber_format import Archive, Coder, Header, Record
from engine.coding.amber_journal import Journal
from engine.coding.canary import Environment
from engine.coding.chunks import Chunk, Tokenizer, chunks, untokenized
from engine.coding.predictor import Predictor
from engine.contract.errors import BadData

Item = TypeVar("Item")
Watch = Callable[[int], object]
"""Told of tokens that are done."""
BYTES = (256, 24, 1 << 13)
"""The adaptive model of a chunk that is no text: symbols, increment, limit."""


@dataclass(frozen=True)
class Settings:
    """How an archive is made."""

    coder: Coder = "ranks"
    rows: int = 32  # chunks side by side, in every pass, filled up where there are fewer
    piece: int = 1024  # bytes of a chunk, at most
    guard: int = 8  # 4096ths of a logit: some ten times what fp32 loses between shapes
    margins: bool = True


def _unwatched(_: int) -> None:
    return None


def pack(
    data: bytes,
    predictor: Predictor,
    tokenizer: Tokenizer,
    settings: Settings,
    journal: Journal | None = None,
    watch: Watch = _unwatched,
) -> Archive:
    """The archive of any bytes."""
    return pack_all([data], predictor, tokenizer, settings, journal, watch)[0]


def pack_all(
    files: Sequence[bytes],
    predictor: Predictor,
    tokenizer: Tokenizer,
    settings: Settings,
    journal: Journal | None = None,
    watch: Watch = _unwatched,
) -> list[Archive]:
    """An archive of each file, the chunks of all of them side by side."""
    pieces = [list(chunks(data, tokenizer, settings.piece)) for data in files]
    texts = [chunk.tokens for file in pieces for chunk in file if chunk.tokens]
    codes: list[tuple[bytes, bytes]] = []
    for number, group in enumerate(grouped(texts, settings.rows)):
        codes += _kept(journal, number, partial(_coded, group, predictor, settings))
        watch(sum(map(len, group)))
    coded, canary = iter(codes), amber_rows.canary(predictor, settings.coder, settings.rows)
    out = []
    for data, file in zip(files, pieces, strict=True):
        header = Header(
            coder=settings.coder,
            margins=settings.margins and settings.coder == "ranks",
            rows=settings.rows,
            guard=settings.guard,
            size=len(data),
            content=hashlib.sha256(data).digest(),
            model=predictor.sha256,
            tokenizer=tokenizer.sha256,
            canary=canary,
            environment=str(Environment.here()),
        )
        out.append(Archive(header, tuple(_record(chunk, coded) for chunk in file)))
    return out


def _coded(
    group: Sequence[Sequence[int]], predictor: Predictor, settings: Settings
) -> list[tuple[bytes, bytes]]:
    if settings.coder == "lockstep":
        return [(each.code, b"") for each in amber_rows.encode_shares(predictor, group, settings.rows)]
    reading = amber_rows.read(predictor, group, settings.rows)
    return [
        (each.code, each.margins if settings.margins else b"")
        for each in amber_rows.encode_ranks(reading, group, predictor.vocabulary, settings.guard)
    ]


def _record(chunk: Chunk, coded: Iterator[tuple[bytes, bytes]]) -> Record:
    size, check = len(chunk.data), crc32(chunk.data)
    if chunk.tokens:
        return Record(size, check, len(chunk.tokens), *next(coded))
    return Record(size, check, 0, lockstep.encode(chunk.data, lockstep.Adaptive(*BYTES)))


def unpack(
    archive: Archive,
    predictor: Predictor,
    tokenizer: Tokenizer,
    journal: Journal | None = None,
    watch: Watch = _unwatched,
) -> bytes:
    """The bytes that were packed; `BadData` where the model, this environment or the text is another."""
    return unpack_all([archive], predictor, tokenizer, journal, watch)[0]


def unpack_all(
    archives: Sequence[Archive],
    predictor: Predictor,
    tokenizer: Tokenizer,
    journal: Journal | None = None,
    watch: Watch = _unwatched,
) -> list[bytes]:
    """What was packed in each archive, the chunks of all side by side; they must agree in coder and rows."""
    head = archives[0].header
    if {(each.header.coder, each.header.rows) for each in archives} != {(head.coder, head.rows)}:
        raise BadData("archives", "differ in coder or rows.", "Unpack them one at a time.")
    for asked in {_asked(each.header): each.header for each in archives}.values():
        _same("model", asked.model, predictor.sha256)
        _same("tokenizer", asked.tokenizer, tokenizer.sha256)
        _sings(asked, predictor)
    told = [record for each in archives for record in each.records if record.tokens]
    texts: list[list[int]] = []
    for number, group in enumerate(grouped(told, head.rows)):
        texts += _kept(journal, number, partial(decoded, group, predictor, head.coder, head.rows))
        watch(sum(record.tokens for record in group))
    found = iter(texts)
    return [_whole(each, found, tokenizer) for each in archives]


def decoded(group: Sequence[Record], predictor: Predictor, coder: Coder, rows: int) -> list[list[int]]:
    """The tokens of chunks that are unpacked side by side, right or not: checks are the caller's."""
    codes = [record.code for record in group]
    lengths = [record.tokens for record in group]
    decode = amber_rows.decode_shares if coder == "lockstep" else amber_rows.decode_ranks
    return decode(predictor, codes, lengths, rows)


def _asked(head: Header) -> tuple[bytes, bytes, bytes]:
    return head.model, head.tokenizer, head.canary


def _sings(head: Header, predictor: Predictor) -> None:
    if amber_rows.canary(predictor, head.coder, head.rows) != head.canary:
        raise BadData(
            "archive",
            f"was packed where the model ranks otherwise ({head.environment}; here {Environment.here()}).",
            "Unpack it in the environment that packed it; nothing was given out.",
        )


def _whole(archive: Archive, texts: Iterator[list[int]], tokenizer: Tokenizer) -> bytes:
    """All bytes, each chunk's compared with its check."""
    out = []
    for number, record in enumerate(archive.records, 1):
        data = untokenized(next(texts), tokenizer) if record.tokens else _bytes(record)
        if len(data) != record.size or crc32(data) != record.check:
            raise BadData(
                f"archive, chunk {number} of {len(archive.records)}",
                "unpacks to another text here, though the canary sang the same.",
                "Unpack it in the environment that packed it; nothing was given out.",
            )
        out.append(data)
    whole = b"".join(out)
    if hashlib.sha256(whole).digest() != archive.header.content:
        raise BadData("archive", "unpacks to other bytes than were packed.", "Get an undamaged copy.")
    return whole


def _bytes(record: Record) -> bytes:
    return bytes(lockstep.decode(record.code, lockstep.Adaptive(*BYTES), record.size))


def _kept(journal: Journal | None, number: int, work: Callable[[], list[Item]]) -> list[Item]:
    """What the journal kept of a group, or the work done and kept now."""
    return work() if journal is None else journal.kept(number, work)


def grouped(items: Sequence[Item], rows: int) -> Iterator[Sequence[Item]]:
    """The items in order, `rows` at a time."""
    for start in range(0, len(items), rows):
        yield items[start : start + rows]


def _same(what: str, packed: bytes, here: bytes) -> None:
    if packed != here:
        raise BadData(
            "archive",
            f"was packed with the {what} {packed.hex()[:16]}…, and here is {here.hex()[:16]}….",
            f"Unpack it with the {what} that packed it.",
        )
