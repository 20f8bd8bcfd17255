"""What a user of a retrieving server learns about its datastore from tokens a round alone.

A round of more than one token holds found ones: with the token before it, which ended the suffix that was
looked up, they stand next to each other in the datastore. Planted rows are found out by asking for a
sentence in several wordings: the one that the datastore holds comes in longer rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import comb
from typing import Literal

from engine.contract.errors import UnknownName
from engine.contract.seeds import Stream

Strategy = Literal["random", "common", "reuse"]
STRATEGIES: tuple[Strategy, ...] = ("random", "common", "reuse")


def leaked(before: int, tokens: Sequence[int], counts: Sequence[int]) -> list[tuple[int, ...]]:
    """The runs of tokens that an answer's rounds give away; `before` is the prompt's last token."""
    out, at = [], 0
    for count in counts:
        if count > 1:
            out.append((tokens[at - 1] if at else before, *tokens[at : at + count - 1]))
        at += count
    return out


@dataclass
class Loot:
    """What one attacker has; by request, new sequences and tokens, all sequences, those contained."""

    sequences: set[tuple[int, ...]] = field(default_factory=set)
    tokens: set[int] = field(default_factory=set)
    log: list[tuple[int, int, int, int]] = field(default_factory=list)

    def take(self, found: Sequence[tuple[int, ...]], contained: Callable[[tuple[int, ...]], bool]) -> None:
        """Add what one answer gave away."""
        before = len(self.sequences), len(self.tokens)
        self.sequences |= set(found)
        self.tokens |= {token for run in found for token in run}
        new = len(self.sequences) - before[0], len(self.tokens) - before[1]
        self.log.append((*new, len(found), sum(contained(run) for run in found)))


def request(
    strategy: Strategy,
    words: Sequence[str],
    common: Sequence[str],
    loot: Sequence[str],
    count: int,
    stream: Stream,
) -> str:
    """A request of `count` words: any, common ones, or common ones after a leaked text."""
    if strategy not in STRATEGIES:
        raise UnknownName(strategy, "is no strategy.", f"Known: {', '.join(STRATEGIES)}.")
    pool = words if strategy == "random" else common
    drawn = [pool[int(i)] for i in stream.below(len(pool), count)]
    start = loot[int(stream.below(len(loot), 1)[0])].split() if strategy == "reuse" and loot else []
    return "Continue this text: " + " ".join([*start, *drawn][:count])


def named_first(scores: Sequence[float], planted: int) -> bool:
    """Whether the planted wording alone has the highest score; a tie counts against the attacker."""
    best = max(scores)
    return scores[planted] == best and list(scores).count(best) == 1


def by_luck(named: int, rows: int, candidates: int) -> Fraction:
    """The probability that naming blindly among `candidates` is right at least `named` times in `rows`."""
    hit = Fraction(1, candidates)
    return sum(
        (comb(rows, k) * hit**k * (1 - hit) ** (rows - k) for k in range(named, rows + 1)), Fraction(0)
    )


def kept(counts: Sequence[int]) -> int:
    """Tokens that came beyond one a round."""
    return sum(counts) - len(counts)


def guessed_ngram(counts: Sequence[int]) -> int:
    """N of a lookahead decoder from the rounds of a text that repeats one token."""
    return max(counts) + 1


def guessed_guesses(rates: Sequence[tuple[int, float]]) -> int:
    """G of a lookahead decoder: of (sentences that begin alike, tokens a round), that of the highest rate.

    Up to G of them the pool knows how each goes on; beyond, some are missed in every turn.
    """
    return max(rates, key=lambda rate: (rate[1], rate[0]))[0]
