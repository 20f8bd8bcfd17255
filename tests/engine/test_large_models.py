"""Models of a graphics card, as far as they go without one: fetched by revision, packed, labelled, read."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.cli import main
from engine.contract.errors import BadData, FetchFailed
from engine.contract.seeds import Stream
from engine.decode import fetch, models, registry
from engine.decode.registry import Entry
from engine.decode.sample import Row, generate
from engine.experiments import existence
from engine.experiments.existence_large import LargeExistence
from engine.experiments.prompts import named
from engine.observe import constants as registered
from engine.observe import labels
from engine.run import run

NEW, END, LAYERS = 12, 7, 25
"""New tokens a text; the token that ends one; layers, so that the registered ones can be tapped."""


SMALL = {"prompts": 14, "train": 2, "validation": 2, "held_out": 10, "new_tokens": 6, "batch": 28}
"""A rehearsal of a rehearsal."""


# texts


@pytest.mark.parametrize("temperature", [0.0, 0.8])
def test_a_module_writes_the_texts_of_our_own_form(
    tiny: Callable[..., tuple[Any, Any]], temperature: float
) -> None:
    module, own = tiny(5)
    draws = np.random.default_rng(1)
    rows = []
    for number, length in enumerate((3, 9, 1, 6)):
        uniform = Stream(11, f"text/{number}").uniform(NEW) if temperature else None
        rows.append(Row(tuple(int(i) for i in draws.integers(0, 41, length)), uniform, temperature or 1.0))
    wanted = generate(own, rows, new_tokens=NEW, end=END)
    assert generate(module, rows, new_tokens=NEW, end=END) == wanted
    assert len({len(text) for text in wanted.texts}) > 1 or not temperature


# fetching


class Hub:
    """A double of the hub: gives the files of a folder, or fails; notes what it was asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.failure, self.asked = folder, None, []  # type: ignore[var-annotated]

    def snapshot_download(self, repo: str, **options: Any) -> str:
        """What huggingface_hub would do."""
        self.asked.append((repo, options["revision"], options["allow_patterns"]))
        if self.failure:
            raise self.failure
        for file in self.folder.iterdir():
            shutil.copyfile(file, options["local_dir"] / file.name)
        return str(options["local_dir"])


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hub:
    """A hub with one small model, which the registry knows; its cache is a folder of the test."""
    source = tmp_path / "source"
    source.mkdir()
    (source / "model.safetensors").write_bytes(b"weights")
    (source / "config.json").write_text("{}")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    made = Hub(source)
    monkeypatch.setattr("huggingface_hub.snapshot_download", made.snapshot_download)
    entry = Entry(
        "small", "Small", "target", "hub", "MIT", "NF4", hub="somebody/small", revision="a" * 40, gigabytes=1
    )
    monkeypatch.setattr(registry, "entries", lambda: {"small": entry})
    return made


def test_the_pinned_revision_is_fetched_once_and_its_files_are_listed(hub: Hub) -> None:
    found = fetch.fetch("small")
    fetch.fetch("small")
    assert [asked[:2] for asked in hub.asked] == [("somebody/small", "a" * 40)]
    assert not any("pickle" in each or ".bin" in each for each in hub.asked[0][2])
    listed = (found.folder / registry.HUB_SUMS).read_text()
    assert [line.split()[1] for line in listed.splitlines()] == ["config.json", "model.safetensors"]
    assert json.loads((found.folder / "model.json").read_text())["sha256"] == found.digest


def test_other_weights_have_another_digest(hub: Hub, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    before = fetch.fetch("small").digest
    (hub.folder / "model.safetensors").write_bytes(b"other weights")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
    assert fetch.fetch("small").digest != before


def _failures() -> dict[str, tuple[Exception, str]]:
    import httpx2
    from huggingface_hub import errors

    answer = httpx2.Response(401, request=httpx2.Request("GET", "https://example.invalid"))
    return {
        "gated": (errors.GatedRepoError("no", response=answer), "licence is accepted.*HF_TOKEN"),
        "no revision": (errors.RevisionNotFoundError("no", response=answer), "is not there"),
        "no network": (errors.LocalEntryNotFoundError("no"), "could not be reached"),
        "offline": (errors.OfflineModeIsEnabled("no"), "could not be reached"),
        "full disk": (OSError(28, "No space left on device"), "the disk is full"),
    }


@pytest.mark.parametrize("what", ["gated", "no revision", "no network", "offline", "full disk"])
def test_a_fetch_that_fails_says_what_to_do_and_leaves_no_model(hub: Hub, what: str) -> None:
    hub.failure, message = _failures()[what]  # type: ignore[assignment]
    with pytest.raises(FetchFailed, match=message):
        fetch.fetch("small")
    assert not registry.entry("small").present


def test_files_without_weights_are_no_model(hub: Hub) -> None:
    (hub.folder / "model.safetensors").rename(hub.folder / "model.bin")
    with pytest.raises(FetchFailed, match="without weights in safetensors"):
        fetch.fetch("small")
    assert not registry.entry("small").present


# label spaces


def test_the_rules_make_the_committed_label_spaces_again(need: Callable[[str], None]) -> None:
    need("smollm2")
    constants = registered.read().label
    matrix = models.load("smollm2").head.matrix.numpy()
    texts = [prompt.text for prompt in named("acceptance")]
    made = labels.made(models.load_chat("smollm2").tokenizer, matrix, texts, constants)
    committed = labels.load(constants)
    assert all((made[name] == committed[name]).all() for name in committed)


# the experiment


@pytest.fixture
def cached(
    need: Callable[[str], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str, str, Any], None]:
    """A function that keeps a tiny random model under the name of a large one, in a cache of the test."""
    need("smollm2")
    tokenizer = models.load_chat("smollm2").tokenizer

    def keep(name: str, precision: str, module: Any) -> None:
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        monkeypatch.setattr(existence, "QUICK", SMALL)
        entry = Entry(name, name, "target", "hub", "MIT", precision, hub="somebody/it", revision="b" * 40)
        monkeypatch.setattr(registry, "entries", lambda: {name: entry})
        module.save_pretrained(entry.folder)
        tokenizer.save_pretrained(entry.folder)
        (entry.folder / registry.HUB_SUMS).write_text("digests of its files\n")
        (entry.folder / "model.json").write_text("{}")

    return keep


def _module(kind: str) -> Any:
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM, OlmoeConfig, OlmoeForCausalLM

    torch.manual_seed(3)
    common: dict[str, Any] = {
        "vocab_size": 49152,
        "hidden_size": 64,
        "intermediate_size": 64,
        "num_hidden_layers": LAYERS if kind == "llama" else 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 16,
        "eos_token_id": 2,
        "pad_token_id": 2,
        "initializer_range": 0.2,
    }
    if kind == "llama":
        return LlamaForCausalLM(LlamaConfig(**common))
    return OlmoeForCausalLM(OlmoeConfig(**common, num_experts=64, num_experts_per_tok=8))


def test_a_packed_target_is_harvested_and_read(
    cached: Callable[[str, str, Any], None], tmp_path: Path
) -> None:
    cached("llama-8b", "NF4", _module("llama"))
    study = LargeExistence(
        "llama-8b", ("s1",), "sideband-llama", what="existence-llama", on="cpu"
    ).rehearsal()
    made = run("sideband-llama", study, tmp_path / "out")
    assert [each.stem for each in made] == ["existence-llama-s1", "existence-llama-s1-replication"]
    first = json.loads(made[0].read_text())
    assert first["regime"]["precision"] == "NF4"
    assert first["config"]["label"]["file"] == "llama-8b.txt"
    assert first["config"]["label"]["sha256"] == study.constants.label.sha256
    assert first["provenance"]["models"][0]["sha256"] == registry.entry("llama-8b").digest
    assert len(first["state"]["rows"]) == 10


def test_experts_are_read_from_the_module_of_the_large_model(
    cached: Callable[[str, str, Any], None], tmp_path: Path
) -> None:
    cached("olmoe-1b-7b", "bf16", _module("olmoe"))
    study = LargeExistence(
        "olmoe-1b-7b", ("s3",), "sideband-olmoe", what="existence-olmoe", on="cpu"
    ).rehearsal()
    made = run("sideband-olmoe", study, tmp_path / "out")
    assert [each.stem for each in made] == ["existence-olmoe-s3", "existence-olmoe-s3-replication"]


def test_experts_that_stay_unpacked_are_not_called_packed(cached: Callable[[str, str, Any], None]) -> None:
    cached("olmoe-1b-7b", "NF4", _module("olmoe"))
    with pytest.raises(BadData, match="was asked for in 4 bits"):
        _ = LargeExistence("olmoe-1b-7b", ("s3",), "sideband-olmoe", on="cpu").module


def test_without_a_graphics_card_it_is_refused_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("sys.argv", ["engine", "run", "sideband-llama", "--out", str(tmp_path / "out")])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    assert "needs a graphics card" in capsys.readouterr().err
    assert not (tmp_path / "out").exists() or not any((tmp_path / "out").rglob("*.json"))
