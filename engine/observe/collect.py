"""Make a harvest: write texts in batches, read each once with everything hooked, seal it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from tqdm import tqdm

from engine.contract.errors import BadData
from engine.contract.provenance import ROOT, sha256_file
from engine.contract.seeds import Stream
from engine.decode.llama import Llama
from engine.decode.sample import Row, generate
from engine.observe.capture import Capture, Source
from engine.observe.constants import Sideband
from engine.observe.harvest import Harvest, Writing, folder_of
from engine.observe.streams import STREAMS

CODE = ("capture.py", "collect.py", "streams/tap.py", "streams/pages.py", "streams/experts.py")


@dataclass(frozen=True)
class Loaded:
    """A target twice, and its tokenizer's two ends: our form writes texts, transformers' module is hooked."""

    writer: Llama
    module: Any
    prompt: Callable[[str], list[int]]
    end: int


@dataclass(frozen=True)
class Wanted:
    """One harvest of one model: `seeds` names its random streams, `prompts` are (id, text)."""

    name: str
    seeds: str
    model: str
    model_sha256: str
    prompts: Sequence[tuple[str, str]]
    streams: tuple[str, ...]
    constants: Sideband

    def plan(self) -> dict[str, Any]:
        """Everything that decides what is harvested, as plain data."""
        prompts = hashlib.sha256(json.dumps(list(self.prompts)).encode()).hexdigest()
        here = ROOT / "engine" / "observe"
        constants = {
            part: asdict(self.constants)[part] for part in ("harvest", "label", "tap", "pages", "experts")
        }
        plan = {
            "name": self.name,
            "seeds": self.seeds,
            "root": self.constants.root,
            "model": self.model_sha256,
            "model_name": self.model,
            "prompts": prompts,
            "streams": list(self.streams),
            "constants": constants,
            "code": {path: sha256_file(here / path) for path in CODE},
        }
        plain: dict[str, Any] = json.loads(json.dumps(plan))
        return plain

    def keys(self) -> list[tuple[int, int]]:
        """(cluster, text) of every text, in order."""
        return [(c, t) for c in range(len(self.prompts)) for t in range(self.constants.harvest.texts)]


def collect(wanted: Wanted, load: Callable[[], Loaded]) -> Harvest:
    """The finished harvest, made as far as it is not there. `load` is called only if there is work."""
    if (folder_of(wanted.name) / "index.json").is_file():
        found = Harvest.open(wanted.name, model=wanted.model_sha256)
        if found.index["plan"] != wanted.plan():
            raise BadData(
                str(found.folder),
                "was made by another plan.",
                "Delete the folder, or restore what was changed.",
            )
        return found
    writing = Writing(wanted.name, wanted.plan())
    loaded = load()
    prompts = [loaded.prompt(text) for _, text in wanted.prompts]
    texts = list(_texts(wanted, writing, loaded, prompts))
    return writing.seal(_rows(wanted, writing, loaded, prompts, texts))


def _texts(
    wanted: Wanted, writing: Writing, loaded: Loaded, prompts: Sequence[Sequence[int]]
) -> Iterator[list[int]]:
    """Sampled texts of all prompts, a batch at a time; batches that are there are read."""
    keys, size = wanted.keys(), wanted.constants.harvest.batch
    for batch, start in enumerate(
        tqdm(range(0, len(keys), size), desc=f"{wanted.name}: texts", unit="batch")
    ):
        texts = writing.texts(batch)
        if texts is None:
            rows = [_row(wanted, prompts[c], c, t) for c, t in keys[start : start + size]]
            new = wanted.constants.harvest.new_tokens
            made = generate(loaded.writer, rows, new_tokens=new, end=loaded.end)
            texts = [list(text) for text in made.texts]
            writing.keep_texts(batch, texts)
        yield from texts


def _row(wanted: Wanted, prompt: Sequence[int], cluster: int, text: int) -> Row:
    settings = wanted.constants.harvest
    name = f"sideband/text/{wanted.seeds}/{wanted.prompts[cluster][0]}/{text}"
    uniform = Stream(wanted.constants.root, name).uniform(settings.new_tokens)
    return Row(tuple(prompt), uniform, float(settings.temperature))


def _rows(
    wanted: Wanted,
    writing: Writing,
    loaded: Loaded,
    prompts: Sequence[Sequence[int]],
    texts: Sequence[Sequence[int]],
) -> int:
    """Read every text that is not yet on disk; returns how many rows there are."""
    counts = [max(0, len(text) + 1 - wanted.constants.label.ahead) for text in texts]
    total, first, done = sum(counts), 0, writing.done()
    makers = [STREAMS[name].recorder for name in wanted.streams]
    recorders = [make(wanted.constants) for make in makers if make is not None]
    with Capture(loaded.module, recorders, wanted.constants) as capture:
        jobs = list(zip(wanted.keys(), texts, counts, strict=True))
        for (cluster, text), tokens, count in tqdm(jobs, desc=f"{wanted.name}: states", unit="text"):
            name = f"{wanted.prompts[cluster][0]}/{text}"
            if name not in done and count:
                arrays = capture.read(Source(cluster, text, name), prompts[cluster], tokens)
                writing.keep_rows(name, first, total, arrays)
            first += count
    return total
