"""One environment, in a process of its own: a request on standard input, a reply on standard output.

    python -m engine.coding.census_worker < request.json

Precision, rows, threads, attention and device are set here; processor capability and the torch that is
imported are set by the environment variables that the process was started with.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import torch

from engine.coding import amber, amber_rows
from engine.coding.amber_format import dump, parse
from engine.coding.canary import Environment
from engine.coding.census import Setting
from engine.coding.census_model import CastPredictor, cast
from engine.coding.chunks import chunks
from engine.coding.llama_predictor import LlamaPredictor, fetched
from engine.coding.predictor import Predictor
from engine.contract.errors import BadData, EngineError
from engine.decode.models import load, load_chat

MARGIN_SCALE = 1 << 20
"""Margins are told in whole 2^-20ths of a logit, rounded down, at most `MARGIN_MOST`."""
MARGIN_MOST = (1 << 31) - 1


def predictor(name: str, setting: Setting) -> Predictor:
    """The model under a setting; the coder's own class wherever that is what is asked for."""
    if setting.device != "cpu" and not torch.cuda.is_available():
        raise BadData(f"device {setting.device}", "is not there.", "Leave it out of the census.")
    model, first = cast(load(name), setting.precision, setting.device), load_chat(name).end
    if replace(setting, precision="fp32", device="cpu", attention="default") == setting:
        return LlamaPredictor(model, first, b"")
    return CastPredictor(model, first, b"", setting.attention)


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """What a request asks for, and where it was found out."""
    setting = Setting(**request["setting"])
    if setting.threads is not None:
        torch.set_num_threads(setting.threads)
    asked = predictor(request["model"], setting)
    reply = _JOBS[request["job"]](asked, setting.rows, request)
    here = asdict(Environment.here()) | {"words": str(Environment.here())}
    return reply | {"environment": here, "canary": amber_rows.rank_canary(asked, setting.rows).hex()}


def _pack(_: Predictor, rows: int, request: dict[str, Any]) -> dict[str, Any]:
    asked, tokenizer = fetched(request["model"])
    files = [text.encode() for text in request["files"]]
    settings = amber.Settings("ranks", rows=rows, piece=request["piece"], guard=request["guard"])
    archives = amber.pack_all(files, asked, tokenizer, settings, watch=_tell)
    tokens = [[t for c in chunks(file, tokenizer, settings.piece) for t in c.tokens or ()] for file in files]
    return {"archives": [dump(archive).hex() for archive in archives], "tokens": tokens}


def _unpack(_: Predictor, rows: int, request: dict[str, Any]) -> dict[str, Any]:
    asked, tokenizer = fetched(request["model"])
    archives = [parse(bytes.fromhex(packed)) for packed in request["archives"]]
    files = amber.unpack_all(archives, asked, tokenizer, watch=_tell)
    return {"files": [file.decode() for file in files]}


def _read(asked: Predictor, rows: int, request: dict[str, Any]) -> dict[str, Any]:
    out: dict[str, Any] = {"ranks": [], "margins": [], "best": []}
    for group in _watched(request["texts"], rows):
        reading = amber_rows.read(asked, group, rows)
        margins = np.minimum(np.floor(reading.margins.astype(np.float64) * MARGIN_SCALE), MARGIN_MOST)
        for row, text in enumerate(group):
            out["ranks"].append(reading.ranks[row, : len(text)].tolist())
            out["margins"].append(margins[row, : len(text)].astype(np.int64).tolist())
            out["best"].append(reading.best[row, : len(text)].tolist())
    return out


def _decode(asked: Predictor, rows: int, request: dict[str, Any]) -> dict[str, Any]:
    archives = [parse(bytes.fromhex(packed)) for packed in request["archives"]]
    records = [record for archive in archives for record in archive.records if record.tokens]
    found: list[list[int]] = []
    for group in _watched(records, rows):
        found += amber.decoded(group, asked, "ranks", rows)
    chunk = iter(found)
    return {"texts": [[t for r in archive.records if r.tokens for t in next(chunk)] for archive in archives]}


def _shares(asked: Predictor, rows: int, request: dict[str, Any]) -> dict[str, Any]:
    out: dict[str, Any] = {"codes": [], "ideal": [], "same": []}
    for group in _watched(request["texts"], rows):
        coded = amber_rows.encode_shares(asked, group, rows)
        back = amber_rows.decode_shares(asked, [c.code for c in coded], [len(text) for text in group], rows)
        out["codes"] += [each.code.hex() for each in coded]
        out["ideal"] += [each.ideal for each in coded]
        out["same"] += [list(a) == list(b) for a, b in zip(group, back, strict=True)]
    return out


_JOBS: dict[str, Callable[[Predictor, int, dict[str, Any]], dict[str, Any]]] = {
    "pack": _pack,
    "unpack": _unpack,
    "read": _read,
    "decode": _decode,
    "shares": _shares,
}


def _tell(tokens: int) -> None:
    print(f"{tokens} more tokens", file=sys.stderr, flush=True)


def _watched(items: list[Any], rows: int) -> Iterator[Any]:
    """The items, `rows` at a time, told on standard error."""
    for done, group in enumerate(amber.grouped(items, rows)):
        print(f"{done * rows}/{len(items)}", file=sys.stderr, flush=True)
        yield group


if __name__ == "__main__":
    try:
        json.dump(answer(json.load(sys.stdin)), sys.stdout)
    except EngineError as error:
        sys.exit(str(error))
