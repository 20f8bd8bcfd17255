"""The audit: planted sizes show, equal ones do not, and only this machine is probed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from loopback_site import Written

from engine.contract.errors import BadData
from engine.spill.audit import PROMPTS, Probe, Report, audit, lines, name, port_of, write
from engine.spill.cli import spill

PROBE = Probe(repeats=2, max_tokens=10, temperature=0.0, gap=0.005)


class ByPrompt(Written):
    """Rounds whose sizes follow from the prompt, as a draft's luck does."""

    def rounds(self, request: Any) -> Any:
        """The third letters of the prompt decide."""
        sizes = tuple(1 + letter % 4 for letter in request.prompt[2:20:3])
        return Written(sizes).rounds(request)


@pytest.mark.parametrize(
    ("mitigation", "shows"),
    [("none", True), ("fixed:64", False), ("aggregate:2", True), ("constant:8", False)],
)
def test_sizes_show_unless_they_are_filled(serve: Any, mitigation: str, shows: bool) -> None:
    site = serve(ByPrompt(), mitigation, period=0.002)
    context = site.authority.client_context()
    report, traces = audit(f"https://localhost:{site.running.port}", context, PROBE, filling=False)
    assert report.equal_length.shows == shows
    assert (report.distinct_lengths == 1) != shows
    assert len(traces) == 2 * len(PROMPTS)


def test_a_client_that_asks_for_filling_gets_an_event_a_token(serve: Any) -> None:
    site = serve(ByPrompt())
    context = site.authority.client_context()
    report, traces = audit(f"https://127.0.0.1:{site.running.port}", context, PROBE, filling=True)
    assert report.asked_for_filling
    assert all(len(trace["lengths"]) == PROBE.max_tokens for trace in traces)


def test_a_listener_is_right_where_prompts_differ_and_at_chance_where_they_do_not() -> None:
    prompts = np.repeat(np.arange(5), 4)
    apart = name(prompts[:, None] * np.ones((20, 3), np.int64), prompts)
    alike = name(np.ones((20, 3), np.int64), prompts)
    assert (apart.right, apart.shows) == (20, True)
    assert (alike.right, alike.shows) == (3, False)
    assert alike.chance == pytest.approx(3 / 19)


@pytest.mark.parametrize(
    "url",
    [
        "https://example.org:443",
        "https://10.1.2.3:8443",
        "http://127.0.0.1:80",
        "127.0.0.1:8443",
        "https://[::2]:1",
    ],
)
def test_an_address_elsewhere_is_refused_before_anything_is_sent(url: str) -> None:
    with pytest.raises(BadData):
        port_of(url)


def test_report_and_traces_are_kept_and_read_well(tmp_path: Path) -> None:
    told = name(np.eye(4, dtype=np.int64), np.array([0, 0, 1, 1]))
    report = Report(False, told, told, told, told, 2, 0, 8)
    write(tmp_path / "audit" / "as-it-is.json", report, [{"prompt": 0, "lengths": [1]}])
    assert '"distinct_lengths": 2' in (tmp_path / "audit" / "as-it-is.json").read_text()
    assert "no evidence at this listener" in "\n".join(lines(report))


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["audit", "https://127.0.0.1:9"], 2),
        (["audit", "https://127.0.0.1:9", "--authority", "absent.pem"], 2),
        (["serve", "--port", "0"], 2),
        (["serve", "--port", "x"], 2),
    ],
)
def test_misuse_of_the_command_is_told_as_such(arguments: list[str], code: int) -> None:
    assert CliRunner().invoke(spill, arguments).exit_code == code


def test_a_server_that_is_not_there_is_told_as_such(authority: Any) -> None:
    from engine.spill.server_running import listen

    free = listen(0)
    port = free.getsockname()[1]
    free.close()
    with pytest.raises(BadData, match="gives no answer"):
        audit(f"https://127.0.0.1:{port}", authority.client_context(), PROBE, filling=False)
