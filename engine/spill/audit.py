"""Probe your own server on loopback: do the sizes of its rounds show on the wire?

Prompts are asked several times over; a listener is given the records of all answers but one and says which
prompt that one belongs to: the nearest by summed absolute differences. If it is right more often than
chance allows, sizes show. Nothing found is no evidence at this listener with this many answers, not more.
"""

from __future__ import annotations

import json
import ssl
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from engine.contract import store
from engine.contract.errors import BadData
from engine.spill.attack import Integers
from engine.spill.capture import Capture, Frame, by_gap, by_record, capture
from engine.spill.relay import Relay
from engine.spill.server_running import loopback
from engine.stats.share import wilson

PROMPTS = (
    "Repeat the word apple twenty times.",
    "List the days of the week, and then list them again.",
    "What is a fever?",
    "Tell me a short story about a lighthouse.",
    "Count from one to thirty in words.",
    "Why does the moon change its shape?",
    "Write the alphabet, one letter a line.",
    "Explain how bread is made.",
)
LEVEL = 0.95
LENGTH = 512


@dataclass(frozen=True)
class Probe:
    """What is asked: answers a prompt, their length and temperature, and the gap that parts rounds (s)."""

    repeats: int = 3
    max_tokens: int = 48
    temperature: float = 0.3
    gap: float = 0.005


@dataclass(frozen=True)
class Told:
    """How often a listener named the prompt, of how many answers, and Wilson's interval."""

    right: int
    answers: int
    low: float
    high: float
    chance: float

    @property
    def shows(self) -> bool:
        """Whether it was right more often than chance allows."""
        return self.low > self.chance

    def __str__(self) -> str:
        verdict = "shows" if self.shows else "no evidence at this listener"
        return (
            f"{self.right} of {self.answers} named [{self.low:.2f}, {self.high:.2f}], "
            f"chance {self.chance:.2f}: {verdict}"
        )


@dataclass(frozen=True)
class Report:
    """One audit: the listener by sizes, by sizes of answers cut to one length, by total length, by bursts."""

    asked_for_filling: bool
    sizes: Told
    equal_length: Told
    total: Told
    bursts: Told
    distinct_lengths: int
    several_records: int
    rounds: int


def port_of(url: str) -> tuple[str, int]:
    """Host and port of an `https` address on this machine; `BadData` for every other."""
    try:
        parts = urlsplit(url)
        port = parts.port or 443
    except ValueError:
        raise BadData(url, "is no address.", "Give https://127.0.0.1:PORT.") from None
    if parts.scheme != "https" or not parts.hostname or parts.path.strip("/"):
        raise BadData(url, "is not the root of an HTTPS server.", "Give https://127.0.0.1:PORT.")
    return loopback(parts.hostname), port


def audit(
    url: str,
    context: ssl.SSLContext,
    probe: Probe,
    *,
    filling: bool,
    each: Callable[[], object] = lambda: None,
) -> tuple[Report, list[dict[str, Any]]]:
    """Probe the server at `url`. Returns the report and the traces; `each` is called after every answer."""
    host, port = port_of(url)
    captures: list[tuple[int, Capture]] = []
    with Relay(port, host) as relay:
        for run in range(probe.repeats):
            for prompt, text in enumerate(PROMPTS):
                captures.append((prompt, capture(relay, context, body(text, run, probe, filling))))
                each()
    for _, found in captures:
        if found.answer.status != 200 or not found.answer.whole:
            said = found.answer.raw[:200].decode(errors="replace")
            raise BadData(url, f"answers {found.answer.status}: {said!r}.", "Give it a model that streams.")
    traces = [_trace(prompt, found, probe) for prompt, found in captures]
    return report(traces, filling), traces


def body(text: str, run: int, probe: Probe, filling: bool) -> dict[str, Any]:
    """The request, in the shape of the common chat API."""
    return {
        "model": "any",
        "messages": [{"role": "user", "content": text}],
        "stream": True,
        "max_tokens": probe.max_tokens,
        "temperature": probe.temperature,
        "seed": run,
        "stream_options": {"include_obfuscation": filling},
    }


def _trace(prompt: int, found: Capture, probe: Probe) -> dict[str, Any]:
    rounds = Frame.learn(found).rounds(found)
    grouped = by_gap(rounds, probe.gap)
    return {
        "prompt": prompt,
        "lengths": [group.length for group in by_record(rounds)],
        "times": [round(record.at - rounds[0].at, 6) for record in rounds],
        "burst_lengths": [group.length for group in grouped],
        "burst_records": [group.records for group in grouped],
    }


def report(traces: Sequence[dict[str, Any]], filling: bool) -> Report:
    """What the traces tell."""
    prompts = np.array([trace["prompt"] for trace in traces])
    sizes = _rows([trace["lengths"] for trace in traces])
    shortest = max(min(len(trace["lengths"]) for trace in traces), 1)
    groups = [trace["burst_lengths"] for trace in traces]
    return Report(
        asked_for_filling=filling,
        sizes=name(sizes, prompts),
        equal_length=name(sizes[:, :shortest], prompts),
        total=name(sizes.sum(axis=1, keepdims=True), prompts),
        bursts=name(_rows(groups), prompts),
        distinct_lengths=len({length for trace in traces for length in trace["lengths"]}),
        several_records=sum(records > 1 for trace in traces for records in trace["burst_records"]),
        rounds=sum(len(group) for group in groups),
    )


def name(vectors: Integers, prompts: Integers) -> Told:
    """Leave one answer out, name it by the nearest of the others; ties share the guess, rounded down."""
    right = 0.0
    for index, row in enumerate(vectors):
        away = np.abs(vectors - row).sum(axis=1)
        away[index] = np.iinfo(np.int64).max
        nearest = prompts[away == away.min()]
        right += float(np.mean(nearest == prompts[index]))
    ends = wilson(int(right), len(prompts), LEVEL)
    alike = [int((prompts == prompt).sum()) - 1 for prompt in prompts.tolist()]
    return Told(int(right), len(prompts), ends.low, ends.high, sum(alike) / len(prompts) / (len(prompts) - 1))


def _rows(values: Sequence[Sequence[int]]) -> Integers:
    out = np.zeros((len(values), LENGTH), dtype=np.int64)
    for row, each in zip(out, values, strict=True):
        row[: len(each[:LENGTH])] = each[:LENGTH]
    return out


def write(path: Path, report: Report, traces: Sequence[dict[str, Any]]) -> None:
    """Keep report and traces as JSON, whole or not at all."""
    document = {"report": asdict(report), "traces": list(traces)}
    store.write_text(path, json.dumps(document, indent=1) + "\n")


def lines(report: Report) -> list[str]:
    """The report as a person reads it."""
    asked = "the client asked for filling" if report.asked_for_filling else "as the server is set up"
    return [
        f"{asked}: {report.rounds} bursts, {report.distinct_lengths} different record lengths, "
        f"{report.several_records} bursts of several records",
        f"  sizes of records         {report.sizes}",
        f"  cut to equal length      {report.equal_length}",
        f"  total length alone       {report.total}",
        f"  sizes of bursts          {report.bursts}",
    ]
