"""Prints exact values as a page must show them: half to even, digit by digit. The audit's own rule."""

from __future__ import annotations

import re
from fractions import Fraction

from generator.audit.fault import Fault

FORMAT = re.compile(r"(plain|group|words|ordinal)|(places|signed|percent|times|sig)\(([0-9]{1,2})\)")
LEXEME = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,4})?")

_SMALL = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS = ["_", "_", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]


def exact(lexeme: str) -> Fraction:
    """The value of a JSON number, exactly; raises Fault where it is none or astronomically large."""
    if not LEXEME.fullmatch(lexeme):
        raise Fault("display-mismatch", f"{lexeme[:40]} is no number that can be shown.")
    return Fraction(lexeme)


def shown(value: Fraction, form: str, lexeme: str | None = None) -> str:
    """What must stand on the page for a value in a form; raises Fault where nothing can."""
    match = FORMAT.fullmatch(form)
    if not match:
        raise Fault("display-mismatch", f"{form[:40]!r} is no form in which a number is shown.")
    if match[1]:
        return _whole(value, match[1], lexeme)
    digits = int(match[3])
    if match[2] == "sig":
        return _significant(value, digits)
    scale, suffix = {"percent": (100, "%"), "times": (1, "×")}.get(match[2], (1, ""))
    text = _fixed(value * scale, digits)
    plus = "+" if match[2] == "signed" and value > 0 else ""
    return plus + text + suffix


def _whole(value: Fraction, form: str, lexeme: str | None) -> str:
    """Forms that do not round."""
    if form == "plain" and lexeme is not None:
        return ("−" if value < 0 else "") + lexeme.lstrip("-").replace("-", "−")
    if form == "group":
        return _grouped(value, lexeme)
    if value.denominator != 1 or value < 0:
        raise Fault("display-mismatch", f"{value} is not an integer that {form} can show.")
    number = value.numerator
    if form == "ordinal" and number:
        tail = "th" if number // 10 % 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
        return f"{number}{tail}"
    if form == "words" and number <= 100:
        return _word(number)
    raise Fault("display-mismatch", f"{value} cannot be shown in the form {form}.")


def _word(number: int) -> str:
    if number < len(_SMALL):
        return _SMALL[number]
    if number == 100:
        return "one hundred"
    return _TENS[number // 10] + ("-" + _SMALL[number % 10] if number % 10 else "")


def _grouped(value: Fraction, lexeme: str | None) -> str:
    """All digits of a decimal, commas between thousands."""
    written = re.fullmatch(r"-?[0-9]+(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?", lexeme or str(value))
    if not written:
        raise Fault("display-mismatch", f"{value} has no finite digits to group.")
    places = max(0, len(written[1] or "") - int(written[2] or 0))
    whole, _, tail = _fixed(value, places).lstrip("−").partition(".")
    first = len(whole) % 3
    groups = ([whole[:first]] if first else []) + [whole[i : i + 3] for i in range(first, len(whole), 3)]
    return ("−" if value < 0 else "") + ",".join(groups) + (f".{tail}" if tail else "")


def _fixed(value: Fraction, places: int) -> str:
    """A number of decimals, rounded half to even; raises Fault where a value would vanish."""
    quotient, rest = divmod(abs(value.numerator) * 10**places, value.denominator)
    if 2 * rest > value.denominator or (2 * rest == value.denominator and quotient % 2):
        quotient += 1
    if quotient == 0 and value:
        raise Fault("zero-shown", "The value is not zero and would show as zero. Ask for more digits.")
    digits = f"{quotient:0{places + 1}d}"
    text = digits if not places else f"{digits[:-places]}.{digits[-places:]}"
    return ("−" if value < 0 else "") + text


def _significant(value: Fraction, digits: int) -> str:
    """Significant digits, as a power of ten where the rounded value leaves 10⁻⁴ … 10⁶."""
    if digits < 1:
        raise Fault("display-mismatch", "At least one significant digit must be shown.")
    power = 0
    while value and abs(value) >= Fraction(10) ** (power + 1):
        power += 1
    while value and abs(value) < Fraction(10) ** power:
        power -= 1
    mantissa = _fixed(value / Fraction(10) ** power, digits - 1)
    if re.match("−?10", mantissa):
        power, mantissa = power + 1, _fixed(value / Fraction(10) ** (power + 1), digits - 1)
    if power < -4 or power >= 6:
        return f"{mantissa} × 10" + "".join("⁰¹²³⁴⁵⁶⁷⁸⁹"[int(c)] if c != "-" else "⁻" for c in str(power))
    if power >= digits - 1:
        figures = mantissa.replace(".", "")
        return figures + "0" * (power - digits + 1)
    return _fixed(value, digits - 1 - power)
