"""The one rounding rule: half to even, on exact values, never through float.

Every form prints an exact rational (or, for plain and group, the lexeme as it is written). Minus is
U+2212. A zero never carries a sign. A value that is not zero is never printed as zero.

places(n)   n decimals                                     2.60
signed(n)   n decimals, + or − before anything but zero    +2.598
percent(n)  a hundred times the value, n decimals, %       12.5%
times(n)    n decimals, ×                                  2.60×
sig(n)      n significant digits; where the rounded value is below 10⁻⁴ or not below 10⁶,
            as a mantissa with n − 1 decimals and a power of ten                    1.50 × 10⁻⁷
group       the exact value without exponent, commas between thousands              14,456,199,684
words       an integer from zero to one hundred            twelve
ordinal     an integer from one                            12th
plain       the lexeme                                     2.5978
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

MINUS = "\N{MINUS SIGN}"

DIGIT_LIMIT = 30
"""The most places or significant digits that a form may ask for."""

ROUNDED = ("places", "signed", "percent", "times", "sig")
WHOLE = ("group", "words", "ordinal")

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
# fmt: off
_ONES = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)
# fmt: on
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]


class Undisplayable(ValueError):
    """A value that a form cannot print; code says what kind of refusal that is."""

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        super().__init__(message)


@dataclass(frozen=True)
class Form:
    """How a value is printed: the name of the form, and its digits where it takes any."""

    name: str
    digits: int | None = None

    def __str__(self) -> str:
        """The form as the page carries it: places(2), group, plain."""
        return self.name if self.digits is None else f"{self.name}({self.digits})"


PLAIN = Form("plain")


def named(text: str) -> Form:
    """The form that a page names so."""
    name, _, digits = text.rstrip(")").partition("(")
    return Form(name, int(digits) if digits else None)


def lexeme(written: str, form: Form) -> str:
    """Print a decimal lexeme in a form; raises Undisplayable."""
    if form.name == "plain":
        return _minus(written.removeprefix("-") if Fraction(written) == 0 else written)
    if form.name == "group":
        return _grouped(Decimal(written))
    return rational(Fraction(written), form)


def rational(value: Fraction, form: Form) -> str:
    """Print an exact rational in a form that rounds or wants an integer; raises Undisplayable."""
    digits = form.digits or 0
    match form.name:
        case "places":
            return _places(value, digits)
        case "signed":
            return ("+" if value > 0 else "") + _places(value, digits)
        case "percent":
            return _places(value * 100, digits) + "%"
        case "times":
            return _places(value, digits) + "×"
        case "sig":
            return _significant(value, digits)
        case "group":
            return _grouped(Decimal(_integer(value, "group")))
        case "words":
            return _words(_integer(value, "words"))
        case "ordinal":
            return _ordinal(_integer(value, "ordinal"))
    message = "Arithmetic gives an exact fraction. Round it with a form such as places(2)."
    raise Undisplayable("bad-template", message)


def _minus(text: str) -> str:
    return text.replace("-", MINUS)


def _places(value: Fraction, places: int) -> str:
    """Round half to even at a number of decimals."""
    scaled = round(value * 10**places)
    if scaled == 0 and value != 0:
        message = f"The value is not zero and would print as zero with {places} decimals. Ask for more."
        raise Undisplayable("zero-shown", message)
    return _positional(scaled, places)


def _positional(scaled: int, places: int) -> str:
    """The digits of scaled / 10**places, all places shown."""
    digits = str(abs(scaled)).rjust(places + 1, "0")
    sign = MINUS if scaled < 0 else ""
    return sign + (f"{digits[:-places]}.{digits[-places:]}" if places else digits)


def _significant(value: Fraction, digits: int) -> str:
    """Round half to even at a number of significant digits."""
    if digits < 1:
        raise Undisplayable("bad-template", "sig wants at least one digit.")
    if value == 0:
        return _positional(0, digits - 1)
    exponent = _exponent(value)
    scaled = round(value / Fraction(10) ** (exponent - digits + 1))
    if abs(scaled) == 10**digits:
        exponent, scaled = exponent + 1, scaled // 10
    if not -4 <= exponent < 6:
        power = str(exponent).translate(_SUPERSCRIPTS)
        return f"{_positional(scaled, digits - 1)} × 10{power}"
    places = digits - 1 - exponent
    return _positional(scaled, places) if places > 0 else _positional(scaled * 10**-places, 0)


def _exponent(value: Fraction) -> int:
    """The power of ten of the leading digit, exactly."""
    size = abs(value)
    guess = len(str(size.numerator)) - len(str(size.denominator))
    return guess if Fraction(10) ** guess <= size else guess - 1


def _grouped(value: Decimal) -> str:
    text = f"{value:,f}"
    return _minus(text.removeprefix("-") if value == 0 else text)


def _integer(value: Fraction, form: str) -> int:
    if value.denominator != 1:
        raise Undisplayable("bad-template", f"{form} prints integers, and the value is none.")
    return value.numerator


def _words(value: int) -> str:
    if not 0 <= value <= 100:
        raise Undisplayable("bad-template", "words prints integers from zero to one hundred.")
    if value == 100:
        return "one hundred"
    if value < 20:
        return _ONES[value]
    tens, ones = divmod(value, 10)
    return _TENS[tens - 2] + (f"-{_ONES[ones]}" if ones else "")


def _ordinal(value: int) -> str:
    if value < 1:
        raise Undisplayable("bad-template", "ordinal prints integers from one.")
    teen = value % 100 in (11, 12, 13)
    return f"{value}{'th' if teen else {1: 'st', 2: 'nd', 3: 'rd'}.get(value % 10, 'th')}"
