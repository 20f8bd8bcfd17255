"""Prose that says more than was found: an unrun thing called null, an absorbed one called absent.

A sentence is about the findings and criteria that it names, and about its own source where it names none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from generator.number.claim import UNTESTED
from generator.number.evaluate import REFERENCE, Evaluation
from generator.number.fragment import Fragment, body, front
from generator.report.refusal import Refusal

State = Literal["unrun", "untested", "absorbed"]

_SENTENCE = re.compile(r"(?:[^.!?\n]|[.!?](?!\s|$)|\n(?!\s*\n))+")
_DENIED = re.compile(r"\b(?:not|never|neither|nor|cannot|than)\s+(?:\w+\s+){0,2}$", re.IGNORECASE)
_WORDS: Mapping[State, re.Pattern[str]] = {
    "unrun": re.compile(
        r"\bnulls?\b|\bno (?:effect|signal|gain|difference)\b|\bfound nothing\b|\bnothing (?:was )?found\b",
        re.IGNORECASE,
    ),
    "untested": re.compile(r"\bnulls?\b|\bdid not fire\b|\bhas not fired\b", re.IGNORECASE),
    "absorbed": re.compile(
        r"\babsent\b|\babsence\b|\bdoes not (?:exist|leak)\b|\bis not there\b|\bsafe\b"
        r"|\bno (?:signal|leak|channel|side channel|information)\b",
        re.IGNORECASE,
    ),
}
_MESSAGES: Mapping[State, str] = {
    "unrun": "was not run, and what was not run is no null. Say that it was not run.",
    "untested": "is untested, which is neither null nor outlived. Say that it is untested.",
    "absorbed": "was absorbed at this reader, which is not absence. Name the reader.",
}


def faults(evaluations: Iterable[Evaluation]) -> Iterator[Refusal]:
    """Sentences of all sources that call an unrun thing null, or an absorbed one absent."""
    evaluations = tuple(evaluations)
    states = {each.source.id: state for each in evaluations if (state := _state(each))}
    for each in evaluations:
        own = each.source.id if each.source.kind in ("finding", "kill") else ""
        for text in (front(each.source, "title"), body(each.source)):
            yield from _read(text, own, states)


def _state(evaluation: Evaluation) -> State | None:
    """What must not be said otherwise of a source, None where nothing is at stake."""
    status = evaluation.status.words if evaluation.status else ""
    if status == "unrun":
        return "unrun"
    if status == UNTESTED:
        return "untested"
    return "absorbed" if evaluation.verdict and "absorbed" in evaluation.verdict.words else None


def _read(text: Fragment, own: str, states: Mapping[str, State]) -> Iterator[Refusal]:
    for sentence in _SENTENCE.finditer(text.text):
        named = REFERENCE.findall(sentence[0]) or [own]
        for name in dict.fromkeys(each for each in named if each in states):
            for word in _WORDS[states[name]].finditer(sentence[0]):
                if not _DENIED.search(sentence[0][: word.start()]):
                    message = f"{name} {_MESSAGES[states[name]]}"
                    yield text.refusal(sentence.start() + word.start(), "verdict-mismatch", word[0], message)
