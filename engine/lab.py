"""When a draft model helps and when it hurts: the arithmetic of a round, and a simulation beside it.

Standard library only, so that the file runs alone. `site_src/assets/lab.js` holds the same functions under
the same names; the same settings give the same JSON in both, byte for byte. So nothing here goes beyond
+ - x / and square root, which IEEE 754 fixes to the last bit, whole draws of one small generator, and one
printer of numbers.

A round drafts some tokens, checks them in one pass, keeps those before the first refused one and adds one of
the target's own. Source of the expectation: Leviathan et al., "Fast Inference from Transformers via
Speculative Decoding", equation 1, as a sum, which stays exact at acceptance 0 and 1.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

SCHEMA = "specdec-sidechannels/lab/1"
CODE = "lab/1"
"""Version of the arithmetic; a notebook entry names it."""

MODES = ("constant", "positions", "spread")
MEANINGS = ("conditional", "joint", "proposed")
LONGEST = 16
"""Tokens of the longest draft, and of the longest list of rates."""

Z = 1.959963984540054
"""Quantile of the normal law at (1 + level) / 2."""
LEVEL = 0.95
FEW = 30
"""Groups below which the interval is known to run narrow."""

COSTS = 10
ACCEPTANCES = 20
"""Steps of the map from 0 to 1: draft latency over plain latency, and acceptance."""


@dataclass(frozen=True)
class Field:
    """What may be entered: unit, least, most, what stands there at first, whether it is whole."""

    unit: str
    least: float
    most: float
    default: float
    whole: bool = False


FIELDS: Mapping[str, Field] = {
    "draft_length": Field("tokens", 0, LONGEST, 4, whole=True),
    "acceptance": Field("share", 0, 1, 0.8),
    "kept": Field("pseudo-tokens", 1, 1000, 4, whole=True),
    "refused": Field("pseudo-tokens", 1, 1000, 1, whole=True),
    "prompt_rounds": Field("rounds a prompt", 1, 1000, 20, whole=True),
    "draft": Field("milliseconds a token", 0, 10000, 3),
    "verify": Field("milliseconds a check", 0.001, 100000, 40),
    "growth": Field("milliseconds a token checked", 0, 10000, 0),
    "plain": Field("milliseconds a token", 0.001, 100000, 30),
    "rounds": Field("rounds", 1, 100000, 1000, whole=True),
    "seed": Field("seed", 0, 4294967295, 42, whole=True),
}


class Unusable(ValueError):
    """A setting or a pasted text that cannot be used: its field, the name of a message, limits."""

    def __init__(self, field: str, code: str, least: float = 0, most: float = 0) -> None:
        self.field, self.code, self.least, self.most = field, code, least, most
        super().__init__(f"{field}: {REASONS[code].format(least=number(least), most=number(most))}")


REASONS = {
    "range": "Give a number from {least} to {most}.",
    "whole": "Give a whole number from {least} to {most}.",
    "choice": "This is none of the choices.",
    "rates": "Give one to {most} rates between zero and one.",
    "rising": "A share of all rounds cannot rise from one position to the next; these are other rates.",
    "short": "The list has rates for {most} positions; draft no more tokens than that.",
    "meaning": "This meaning does not fit: a rate over all proposed tokens is one number, not a list.",
    "empty": "This meaning needs a draft of at least one token.",
    "multiple": "Give a multiple of the rounds a prompt.",
    "unreadable": "This is no list of rates, no metrics of vLLM and no record of AIPerf.",
    "no-drafts": "The metrics lack spec_decode_num_drafts, without which counts are no rates.",
}


@dataclass(frozen=True)
class Settings:
    """What is asked; latencies in milliseconds, shares between 0 and 1."""

    mode: str
    meaning: str
    draft_length: int
    acceptance: float
    rates: tuple[float, ...]
    kept: int
    refused: int
    prompt_rounds: int
    draft: float
    verify: float
    growth: float
    plain: float
    rounds: int
    seed: int


def settings(given: Mapping[str, Any]) -> Settings:
    """Settings with what is not given taken from the defaults; raises Unusable at the first that is none."""
    for name in given:
        if name not in FIELDS and name not in ("mode", "meaning", "rates"):
            raise Unusable(name, "choice")
    mode, meaning = given.get("mode", MODES[0]), given.get("meaning", MEANINGS[0])
    if mode not in MODES:
        raise Unusable("mode", "choice")
    if meaning not in MEANINGS:
        raise Unusable("meaning", "choice")
    values = {name: _entered(name, given.get(name, field.default)) for name, field in FIELDS.items()}
    rates = _rates(given.get("rates", ())) if mode == "positions" else ()
    found = Settings(mode=mode, meaning=meaning, rates=rates, **values)
    _fit(found)
    return found


def _entered(name: str, value: Any) -> Any:
    field = FIELDS[name]
    usable = isinstance(value, int | float) and not isinstance(value, bool)
    if not usable or not field.least <= value <= field.most:
        raise Unusable(name, "whole" if field.whole else "range", field.least, field.most)
    if field.whole and value != math.floor(value):
        raise Unusable(name, "whole", field.least, field.most)
    return int(value) if field.whole else value


def _rates(given: Any) -> tuple[float, ...]:
    usable = isinstance(given, list | tuple) and 1 <= len(given) <= LONGEST
    if not usable or not all(_share(rate) for rate in given):
        raise Unusable("rates", "rates", 0, LONGEST)
    return tuple(given)


def _share(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def _fit(s: Settings) -> None:
    """What settings must be to each other."""
    if s.mode == "positions":
        if s.meaning == "proposed":
            raise Unusable("meaning", "meaning")
        if s.meaning == "joint" and any(b > a for a, b in zip(s.rates, s.rates[1:], strict=False)):
            raise Unusable("rates", "rising")
        if s.draft_length > len(s.rates):
            raise Unusable("draft_length", "short", 0, len(s.rates))
    if s.mode == "constant" and s.meaning != "conditional" and s.draft_length == 0:
        raise Unusable("meaning", "empty")
    if s.mode == "spread" and s.rounds % s.prompt_rounds:
        raise Unusable("rounds", "multiple")


# What a round is worth


def kept_to(acceptance: float, length: int) -> list[float]:
    """Chance that each of the drafted tokens is kept, under one acceptance: its powers."""
    chances, chance = [], 1.0
    for _ in range(length):
        chance = chance * acceptance
        chances.append(chance)
    return chances


def total(values: Sequence[float]) -> float:
    """The sum, from left to right."""
    result = 0.0
    for value in values:
        result = result + value
    return result


def tokens(acceptance: float, length: int) -> float:
    """Expected tokens a check under one acceptance: 1 + a + ... + a^length."""
    kept, chance = 0.0, 1.0
    for _ in range(length):
        chance = chance * acceptance
        kept = kept + chance
    return 1 + kept


def solve(rising: Any, aim: float) -> float:
    """Where in 0 to 1 a rising function reaches an aim, to twelve decimals."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if rising(middle) < aim:
            low = middle
        else:
            high = middle
    return math.floor(high * 1e12 + 0.5) / 1e12


def acceptance_of(s: Settings) -> float:
    """The constant chance that a token is kept, given those before it, from what was entered."""
    if s.meaning == "conditional" or s.acceptance in (0, 1):
        return s.acceptance
    if s.meaning == "proposed":
        return solve(lambda a: total(kept_to(a, s.draft_length)), s.acceptance * s.draft_length)
    return solve(lambda a: kept_to(a, s.draft_length)[-1], s.acceptance)


def joints(s: Settings, length: int) -> list[float]:
    """Chance of a round to keep the token at each position, over all rounds."""
    if s.mode == "constant":
        return kept_to(acceptance_of(s), length)
    if s.mode == "positions" and s.meaning == "joint":
        return list(s.rates[:length])
    chances, chance = [], 1.0
    for index in range(length):
        if s.mode == "positions":
            chance = chance * s.rates[index]
        else:
            chance = chance * ((s.kept + index) / (s.kept + s.refused + index))
        chances.append(chance)
    return chances


def conditionals(s: Settings) -> list[float]:
    """Chance of each position to keep its token, given that all before it were kept."""
    if s.mode == "positions" and s.meaning == "conditional":
        return list(s.rates[: s.draft_length])
    if s.mode == "constant":
        return [acceptance_of(s)] * s.draft_length
    before, found = 1.0, []
    for chance in joints(s, s.draft_length):
        found.append(chance / before if before > 0 else 0)
        before = chance
    return found


def round_cost(s: Settings, length: int, draft: float) -> float:
    """Milliseconds of a round: the drafted tokens, one check, and what each checked token adds to it."""
    return length * draft + s.verify + length * s.growth


def break_even(s: Settings, draft: float) -> float | None:
    """The constant acceptance at which a round costs what plain decoding costs; None where none does."""
    aim = round_cost(s, s.draft_length, draft) / s.plain
    if aim <= 1:
        return 0
    if aim > s.draft_length + 1:
        return None
    return 1 if aim == s.draft_length + 1 else solve(lambda a: tokens(a, s.draft_length), aim)


def equivalent(s: Settings, expected: float) -> float | None:
    """The constant acceptance that would give as many tokens a check; None for a draft of nothing."""
    if s.draft_length == 0:
        return None
    if s.mode == "constant":
        return acceptance_of(s)
    if expected == 1:
        return 0
    if expected == s.draft_length + 1:
        return 1
    return solve(lambda a: tokens(a, s.draft_length), expected)


def curve(s: Settings) -> list[dict[str, float]]:
    """Every draft length that the settings say something about."""
    longest = len(s.rates) if s.mode == "positions" else LONGEST
    chances, rows = joints(s, longest), []
    for length in range(longest + 1):
        expected = 1 + total(chances[:length])
        cost = round_cost(s, length, s.draft)
        rows.append(
            {
                "draft_length": length,
                "expected": expected,
                "round_cost": cost,
                "speedup": expected * s.plain / cost,
            }
        )
    return rows


def best_of(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The shortest draft length with the highest speedup."""
    best = rows[0]
    for row in rows:
        if row["speedup"] > best["speedup"]:
            best = row
    return {"draft_length": best["draft_length"], "speedup": best["speedup"]}


def map_of(s: Settings) -> dict[str, Any]:
    """Speedup over constant acceptance (rows) and draft latency over plain latency (columns)."""
    costs = [index / COSTS for index in range(COSTS + 1)]
    acceptances = [index / ACCEPTANCES for index in range(ACCEPTANCES + 1)]
    gains = [
        [
            tokens(acceptance, s.draft_length) * s.plain / round_cost(s, s.draft_length, cost * s.plain)
            for cost in costs
        ]
        for acceptance in acceptances
    ]
    even = [break_even(s, cost * s.plain) for cost in costs]
    return {"costs": costs, "acceptances": acceptances, "speedup": gains, "break_even": even}


# What a run of rounds gives

_WORD = 4294967296


def _mixed(word: int) -> int:
    """The finaliser of MurmurHash3, which spreads a seed over 32 bits."""
    word = ((word ^ (word >> 16)) * 0x85EBCA6B) % _WORD
    word = ((word ^ (word >> 13)) * 0xC2B2AE35) % _WORD
    return word ^ (word >> 16)


class Generator:
    """xoshiro128** of Blackman and Vigna: 32-bit words from four of state."""

    def __init__(self, state: Sequence[int]) -> None:
        self.state = list(state)

    @classmethod
    def of(cls, seed: int) -> Generator:
        """The generator of a seed between 0 and 2^32 - 1."""
        return cls([_mixed((seed + 0x9E3779B9 * step) % _WORD) for step in range(1, 5)])

    def word(self) -> int:
        """The next word, from 0 to 2^32 - 1."""
        a, b, c, d = self.state
        result = (_turned(b * 5 % _WORD, 7) * 9) % _WORD
        c, d = c ^ a, d ^ b
        self.state = [a ^ d, b ^ c, c ^ (b << 9) % _WORD, _turned(d, 11)]
        return result

    def below(self, count: int) -> int:
        """A whole number below a count, all alike; words that would favour some are thrown away."""
        limit = _WORD - _WORD % count
        word = self.word()
        while word >= limit:
            word = self.word()
        return word % count


def _turned(word: int, by: int) -> int:
    return (word << by) % _WORD | word >> (32 - by)


def rounds_kept(s: Settings) -> Iterator[int]:
    """Drafted tokens that each round keeps.

    A chance is compared with a word: the token is kept where word < chance x 2^32, so that 0 never and 1
    always keeps. Under `spread` a prompt is an urn of kept and refused pseudo-tokens: each drafted token
    draws one, which goes back with one more of its kind. That is a Beta law of acceptance between prompts
    (Pólya), drawn in whole numbers.
    """
    generator = Generator.of(s.seed)
    if s.mode != "spread":
        chances = [chance * _WORD for chance in conditionals(s)]
        for _ in range(s.rounds):
            kept = 0
            while kept < s.draft_length and generator.word() < chances[kept]:
                kept += 1
            yield kept
        return
    for _ in range(s.rounds // s.prompt_rounds):
        good, all_ = s.kept, s.kept + s.refused
        for _ in range(s.prompt_rounds):
            kept = 0
            while kept < s.draft_length:
                accepted = generator.below(all_) < good
                all_ += 1
                if not accepted:
                    break
                good += 1
                kept += 1
            yield kept


def simulation(s: Settings) -> dict[str, Any]:
    """What the rounds gave: mean, interval over independent groups, how many rounds kept how many tokens.

    A group is a round, or under `spread` a prompt, within which rounds share their acceptance.
    """
    size = s.prompt_rounds if s.mode == "spread" else 1
    counts, means, tokens_, at = [0] * (s.draft_length + 1), [], 0, 0
    for index, kept in enumerate(rounds_kept(s), 1):
        counts[kept] += 1
        tokens_ += kept + 1
        at += kept + 1
        if index % size == 0:
            means.append(at / size)
            at = 0
    observed = tokens_ / s.rounds
    return {
        "observed": observed,
        "interval": _interval(means, observed),
        "groups": len(means),
        "few": len(means) < FEW,
        "kept": counts,
    }


def _interval(means: Sequence[float], observed: float) -> dict[str, float] | None:
    """Mean and normal quantile; None where the groups are one or all alike, and the spread is not known."""
    if len(means) < 2:
        return None
    squares = total([(mean - observed) * (mean - observed) for mean in means])
    if squares == 0:
        return None
    half = Z * math.sqrt(squares / (len(means) - 1) / len(means))
    return {"low": observed - half, "high": observed + half, "level": LEVEL}


def record_of(s: Settings, counts: Sequence[int]) -> dict[str, Any]:
    """The simulated rounds as AIPerf records acceptance, so that other tools read them."""
    accepted = sum(kept * count for kept, count in enumerate(counts))
    drafted = s.draft_length * s.rounds
    return {
        "engine": "simulation",
        "mean_acceptance_length": 1 + accepted / s.rounds,
        "draft_acceptance_rate": accepted / drafted if drafted else None,
        "acceptance_histogram": {str(kept): count for kept, count in enumerate(counts) if count},
        "num_accepted_draft_tokens": accepted,
        "num_draft_tokens": drafted,
        "num_spec_steps": s.rounds,
        "num_spec_tokens": s.draft_length,
    }


def report(given: Mapping[str, Any]) -> dict[str, Any]:
    """Everything that the settings give; raises Unusable where they give nothing."""
    s = settings(given)
    chances = joints(s, s.draft_length)
    expected = 1 + total(chances)
    cost = round_cost(s, s.draft_length, s.draft)
    speedup = expected * s.plain / cost
    found, rows = simulation(s), curve(s)
    return {
        "schema": SCHEMA,
        "code": CODE,
        "settings": {**asdict(s), "rates": list(s.rates)},
        "expected": expected,
        "observed": found["observed"],
        "interval": found["interval"],
        "discrepancy": found["observed"] - expected,
        "groups": found["groups"],
        "few": found["few"],
        "round_cost": cost,
        "speedup": speedup,
        "verdict": "faster" if speedup > 1 else "slower" if speedup < 1 else "even",
        "acceptance": {
            "conditional": conditionals(s),
            "joint": chances,
            "proposed": total(chances) / s.draft_length if s.draft_length else None,
            "equivalent": equivalent(s, expected),
        },
        "break_even": break_even(s, s.draft),
        "best": best_of(rows),
        "curve": rows,
        "map": map_of(s),
        "record": record_of(s, found["kept"]),
    }


# What is pasted

_NUMBER = r"[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
_LIST = re.compile(rf"\s*\[?\s*({_NUMBER}(?:[\s,;]+{_NUMBER})*)[\s,;]*\]?\s*")
_LOGGED = re.compile(rf"[Pp]er-position acceptance rate:\s*({_NUMBER}(?:\s*,\s*{_NUMBER})*)")
_COUNTED = re.compile(
    rf"^[a-z_:]*spec_decode_num_(accepted_tokens_per_pos|drafts)(?:_total)?(?:\{{([^}}\n]*)\}})?\s+({_NUMBER})",
    re.MULTILINE,
)
_POSITION = re.compile(r'position="([0-9]+)"')


def pasted(text: str) -> dict[str, Any]:
    """Rates by position from a text: vLLM's metrics or log, a record of AIPerf, or a plain list.

    Gives `source`, `rates` and their `meaning`, which is None for a plain list: only the reader knows it.
    """
    if "{" in text and text.lstrip()[:1] == "{":
        return _from_record(text)
    if "spec_decode_num_accepted_tokens_per_pos" in text:
        return _from_metrics(text)
    logged = _LOGGED.findall(text)
    if logged:
        return _read("vllm-log", _numbers(logged[-1]), "joint")
    plain = _LIST.fullmatch(text)
    if not plain:
        raise Unusable("paste", "unreadable")
    return _read("list", _numbers(plain[1]), None)


def _read(source: str, rates: Sequence[float], meaning: str | None) -> dict[str, Any]:
    return {"source": source, "rates": list(_rates(list(rates))), "meaning": meaning}


def _numbers(text: str) -> list[float]:
    return [float(each) for each in re.findall(_NUMBER, text)]


def _from_metrics(text: str) -> dict[str, Any]:
    """Counts a position over counted drafts, summed over engines."""
    drafts, counts = 0.0, [0.0] * LONGEST
    longest = 0
    for kind, labels, value in _COUNTED.findall(text):
        position = _POSITION.search(labels)
        if kind == "drafts":
            drafts += float(value)
        elif position and int(position[1]) < LONGEST:
            counts[int(position[1])] += float(value)
            longest = max(longest, int(position[1]) + 1)
    if drafts <= 0:
        raise Unusable("paste", "no-drafts")
    return _read("vllm-metrics", [count / drafts for count in counts[:longest]], "joint")


def _from_record(text: str) -> dict[str, Any]:
    """A histogram of kept tokens, as AIPerf and vLLM write it, at any depth."""
    try:
        record = _holder(json.loads(text, parse_constant=_none), 8)
    except (ValueError, RecursionError):
        record = None
    if record is None:
        raise Unusable("paste", "unreadable")
    steps = 0
    kept: list[int] = [0] * (LONGEST + 1)
    for key, count in record["acceptance_histogram"].items():
        if not re.fullmatch(r"[0-9]{1,2}", key) or int(key) > LONGEST or not _count(count, 2**40):
            raise Unusable("paste", "unreadable")
        kept[int(key)] += int(count)
        steps += int(count)
    drafted = record.get("num_spec_tokens")
    used = max((place for place, count in enumerate(kept) if count), default=0)
    longest: int = int(drafted) if _count(drafted, LONGEST) and drafted else used
    if steps == 0 or longest == 0 or any(kept[longest + 1 :]):
        raise Unusable("paste", "unreadable")
    return _read("aiperf", [sum(kept[k:]) / steps for k in range(1, longest + 1)], "joint")


def _none(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON")


def _count(value: Any, most: float) -> bool:
    """A whole number from 0, however it is written."""
    counts = isinstance(value, int | float) and not isinstance(value, bool)
    return counts and 0 <= value <= most and value == math.floor(value)


def _holder(value: Any, depth: int) -> dict[str, Any] | None:
    """The first object that holds a histogram, in the order of the text."""
    if not isinstance(value, dict) or depth == 0:
        return None
    if isinstance(value.get("acceptance_histogram"), dict):
        return value
    return next(filter(None, (_holder(below, depth - 1) for below in value.values())), None)


# How it is written


def number(value: float) -> str:
    """A number in plain decimal notation: the shortest digits that read back as the same one."""
    if not math.isfinite(value):
        raise ValueError("a number that is not finite cannot be written")
    if value == math.floor(value) and abs(value) < 2**53:
        return str(int(value))
    digits, _, exponent = repr(float(value)).removesuffix(".0").partition("e")
    if not exponent:
        return digits
    sign = "-" if digits.startswith("-") else ""
    whole, _, fraction = digits.lstrip("-").partition(".")
    power = int(exponent)
    if power < 0:
        return f"{sign}0.{'0' * (-power - 1)}{whole}{fraction}"
    return f"{sign}{whole}{fraction}{'0' * (power - len(fraction))}"


def written(value: Any, indent: str = "") -> str:
    """JSON with two spaces of indentation, lists of plain values on one line."""
    if isinstance(value, str):
        return json.dumps(value)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int | float):
        return number(value)
    inner = indent + "  "
    if isinstance(value, Mapping):
        if not value:
            return "{}"
        members = [f"{inner}{json.dumps(key)}: {written(below, inner)}" for key, below in value.items()]
        return "{\n" + ",\n".join(members) + f"\n{indent}}}"
    if all(not isinstance(each, Mapping | list | tuple) for each in value):
        return "[" + ", ".join(written(each) for each in value) + "]"
    return "[\n" + ",\n".join(inner + written(each, inner) for each in value) + f"\n{indent}]"


def text(value: Any) -> str:
    """A report as a file."""
    return written(value) + "\n"
