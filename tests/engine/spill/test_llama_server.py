"""A server that is not ours, asked through the relay: it streams, its rounds are counted, it goes away."""

from __future__ import annotations

import json
import shutil
import socket
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from engine.contract.errors import BadData
from engine.decode import registry
from engine.experiments.spill_llama_cpp import MODEL, SpillLlamaCpp
from engine.run import run
from engine.spill import llama_server
from engine.spill.audit import Probe, audit, port_of
from engine.spill.llama_server import LlamaServer
from engine.spill.tls import Authority

there = pytest.mark.skipif(
    find_spec("xllamacpp") is None or shutil.which("nginx") is None,
    reason="xllamacpp or nginx is not here: make server-check",
)


@pytest.fixture
def gguf(need: Callable[[str], None]) -> Path:
    """The weights."""
    need(MODEL)
    entry = registry.require(MODEL)
    assert entry.member is not None
    return entry.folder / entry.member.rpartition("/")[2]


@pytest.fixture
def serving(gguf: Path) -> Iterator[tuple[LlamaServer, Authority]]:
    """The server with drafts looked up, and who signed its certificate."""
    authority = Authority.make()
    with LlamaServer(gguf, authority, (2, 4)) as server:
        yield server, authority


@there
def test_the_audit_reads_it_as_it_reads_our_own(serving: tuple[LlamaServer, Authority]) -> None:
    server, authority = serving
    url = f"https://127.0.0.1:{server.port}"
    found, traces = audit(url, authority.client_context(), Probe(repeats=1, max_tokens=6), filling=False)
    assert port_of(url)[1] == server.port
    assert found.rounds and found.distinct_lengths > 1
    assert all(1 <= len(trace["lengths"]) <= 6 for trace in traces)


@there
def test_it_is_gone_when_the_block_ends(gguf: Path) -> None:
    with LlamaServer(gguf, Authority.make(), None) as server:
        port, processes = server.port, list(server._processes)
        assert [process.poll() for process in processes] == [None, None]
    assert all(process.returncode is not None for process in processes)
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", port), timeout=2).close()


@there
def test_weights_that_are_none_are_refused_and_nothing_stays(tmp_path: Path) -> None:
    (tmp_path / "none.gguf").write_bytes(b"not weights")
    server = LlamaServer(tmp_path / "none.gguf", Authority.make(), None)
    with pytest.raises(BadData, match="did not start"), server:
        pass
    assert all(process.returncode is not None for process in server._processes)


@there
def test_the_experiment_counts_the_rounds_that_the_server_owns_to(
    need: Callable[[str], None], tmp_path: Path
) -> None:
    need(MODEL)
    [path] = run("spill-llama-cpp", SpillLlamaCpp().rehearsal(), tmp_path)
    found = json.loads(path.read_text())["results"]
    for way in ("plain", "ngram"):
        assert 0 < found[way]["rounds"]["value"] <= found[way]["tokens"]["value"]
    assert found["plain"]["rounds"]["value"] == found["plain"]["tokens"]["value"]


@pytest.mark.parametrize(
    ("missing", "remedy"), [("xllamacpp", "pip install 'specdec-sidechannels"), ("nginx", "apt-get install")]
)
def test_what_is_not_installed_is_named_with_its_command(
    missing: str, remedy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(llama_server, "find_spec", lambda name: None if name == missing else object())
    monkeypatch.setattr(shutil, "which", lambda name: None if name == missing else f"/bin/{name}")
    with pytest.raises(BadData, match="is not installed") as refused:
        LlamaServer(Path("any.gguf"), Authority.make(), None)
    assert remedy in str(refused.value)
