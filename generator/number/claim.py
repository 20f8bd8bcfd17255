"""Words bound to comparisons: the rules of findings and kill criteria."""

from __future__ import annotations

from dataclasses import dataclass

from generator.number import exact, expression
from generator.number.exact import Scope, Verdict
from generator.number.fragment import Fragment, front
from generator.number.number import Leaf, Prefix
from generator.record.source import Source
from generator.report.refusal import Refused

FIRED = "fired"
NOT_FIRED = "did not fire"
UNTESTED = "untested"


@dataclass(frozen=True)
class Judgement:
    """A word or two, the condition that binds them, None where none does, and all rules that were read."""

    words: str
    prefix: Prefix | None = None
    leaves: tuple[Leaf, ...] = ()
    rules: tuple[Prefix, ...] = ()


def rule(scope: Scope, fragment: Fragment) -> Verdict:
    """Evaluate the text of a rule; raises Refused at the place of a fault."""
    return exact.judge(scope, fragment, expression.condition(fragment, 0, len(fragment.text)))


def status(scope: Scope, source: Source) -> Judgement:
    """The status that the author wrote, bound to its rule; raises Refused where a rule disagrees."""
    written = source.string("status")
    judged = Judgement(written)
    for word in ("holds", "null"):
        key = f"{word}_when"
        if not source.string(key):
            continue
        found = rule(scope, front(source, key))
        if found.holds != (written == word):
            gives = "true" if found.holds else "false"
            line, column = source.place("status")
            message = f'The status is "{written}", and {key} is {gives}. Correct the one that is wrong.'
            place = Fragment(source.path, written, line, column)
            raise Refused([place.refusal(0, "verdict-mismatch", written, message)])
        prefix = found.prefix if found.holds else judged.prefix
        judged = Judgement(written, prefix, (*judged.leaves, *found.leaves), (*judged.rules, found.prefix))
    return judged


def verdict(scope: Scope, source: Source) -> Judgement | None:
    """The first label of verdict_when whose rule holds, None where there are none; reads all rules."""
    labels = source.front.get("verdict_when")
    if not isinstance(labels, dict):
        return None
    rules = {label: rule(scope, front(source, "verdict_when", label)) for label in labels}
    for label, found in rules.items():
        if found.holds:
            leaves = tuple(leaf for each in rules.values() for leaf in each.leaves)
            return Judgement(label, found.prefix, leaves, tuple(each.prefix for each in rules.values()))
    line, column = source.place("verdict_when")
    place = Fragment(source.path, "", line, column)
    raise Refused([place.refusal(0, "verdict-mismatch", "verdict_when", "No rule of verdict_when holds.")])


def outcome(scope: Scope, source: Source) -> Judgement:
    """Whether a kill criterion fired; untested while one of its payloads does not exist."""
    if any(path not in scope.payloads for path in source.payloads.values()):
        return Judgement(UNTESTED)
    found = rule(scope, front(source, "fires_when"))
    prefix: Prefix = found.prefix if found.holds else ["not", found.prefix]
    return Judgement(FIRED if found.holds else NOT_FIRED, prefix, found.leaves, (found.prefix,))
