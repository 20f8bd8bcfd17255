"""The language between double braces: fields of payloads, four operations, and nothing that can run.

Its surface is that of Jinja, its grammar is closed: a name that is no payload alias, a call that is
not min, max, abs or computed, a filter that is no form, are refused where they stand. There is no
loop, no assignment, no attribute of any Python object, so a source can neither read a file nor call
out. Numerals are refused outside the arguments of forms, except where a claim or a rule allows
integers and fractions of integers. A form applies to the whole expression before its bar.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import NamedTuple, NoReturn

from generator.number.display import DIGIT_LIMIT, ROUNDED, WHOLE, Form
from generator.number.fragment import Fragment
from generator.number.syntax import (
    Anything,
    Comparison,
    Computed,
    Condition,
    Expression,
    Field,
    Interval,
    Literal,
    Logic,
    Operation,
    Output,
)
from generator.report.refusal import Refused

DEPTH_LIMIT = 50
"""Levels of brackets, signs and negations."""

TOKEN_LIMIT = 500
"""Words and signs of one expression."""

COMPARISONS = ("<=", ">=", "==", "!=", "<", ">")
FUNCTIONS = ("min", "max", "abs")

_KINDS = ("", "name", "operator", "number", "string", "end", "other")
_TOKEN = re.compile(
    r"""\s*(?: ([A-Za-z_]\w*) | (<=|>=|==|!=|[-+*/()<>.,|=\[\]]) | ([0-9][\w.]*)
    | ("[^"\n]*"|'[^'\n]*') | (\Z) | (.) )""",
    re.VERBOSE,
)


def output(fragment: Fragment, start: int, end: int) -> Output:
    """Read what stands between double braces; raises Refused at the place of a fault."""
    parser = _Parser(fragment, start, end, literals=False)
    expression = parser.sum()
    form = parser.form()
    parser.finish()
    if isinstance(expression, (Comparison, Logic, Literal)):
        parser.refuse(start, "bad-template", "A comparison prints nothing. Bind it to words with a claim.")
    return Output(expression, form)


def condition(fragment: Fragment, start: int, end: int) -> Condition:
    """Read a claim or a rule; raises Refused at the place of a fault."""
    parser = _Parser(fragment, start, end, literals=True)
    read = parser.condition(0)
    parser.finish()
    if isinstance(read, (Comparison, Logic)):
        return read
    return parser.refuse(start, "bad-template", "A claim or a rule compares two expressions.")


class _Token(NamedTuple):
    kind: str
    text: str
    offset: int


class _Parser:
    """Recursive descent, one method a level of precedence, loosest first."""

    def __init__(self, fragment: Fragment, start: int, end: int, *, literals: bool) -> None:
        self.fragment = fragment
        self.literals = literals
        self.tokens = self._scan(start, end)
        self.at = 0
        self.depth = 0

    def _scan(self, start: int, end: int) -> list[_Token]:
        tokens = []
        for match in _TOKEN.finditer(self.fragment.text, start, end):
            index = match.lastindex or 0
            token = _Token(_KINDS[index], match[index], match.start(index))
            if token.kind == "other":
                self.refuse(token.offset, "bad-template", "This character has no meaning here.", token.text)
            tokens.append(token)
            if len(tokens) > TOKEN_LIMIT:
                self.refuse(token.offset, "bad-template", f"Longer than {TOKEN_LIMIT} words and signs.")
        return tokens

    def refuse(self, offset: int, code: str, message: str, text: str = "") -> NoReturn:
        raise Refused([self.fragment.refusal(offset, code, text, message)])

    @property
    def token(self) -> _Token:
        return self.tokens[self.at]

    def take(self, *texts: str) -> _Token | None:
        """The next token where it is one of these operators or words."""
        token = self.token
        if token.kind in ("operator", "name") and token.text in texts:
            self.at += 1
            return token
        return None

    def expect(self, text: str) -> None:
        if self.take(text) is None:
            found = self.token.text or "the end"
            self.refuse(
                self.token.offset, "bad-template", f'Expected "{text}", found {found}.', self.token.text
            )

    def finish(self) -> None:
        if self.token.kind != "end":
            message = f'"{self.token.text}" is not understood here.'
            if self.token.text in COMPARISONS:
                message = "Comparisons do not chain. Join two of them with and."
            if self.token.text == "|":
                message = "One form prints a number, and only the whole of it: (a / b) | times(n)."
            self.refuse(self.token.offset, "bad-template", message, self.token.text)

    def nested(self) -> None:
        self.depth += 1
        if self.depth > DEPTH_LIMIT:
            self.refuse(self.token.offset, "bad-template", f"Nested deeper than {DEPTH_LIMIT} levels.")

    def condition(self, level: int) -> Anything:
        """Or, and, not, comparison, by level."""
        word = ("or", "and")[level] if level < 2 else ""
        if not word:
            return self.negation()
        left = self.condition(level + 1)
        while token := self.take(word):
            right = self.condition(level + 1)
            left = Logic(word, (self._truth(left), self._truth(right)), token.offset)
        return left

    def negation(self) -> Anything:
        if token := self.take("not"):
            self.nested()
            return Logic("not", (self._truth(self.negation()),), token.offset)
        left = self.sum()
        if token := self.take(*COMPARISONS):
            return Comparison(token.text, self._value(left), self._value(self.sum()), token.offset)
        return left

    def sum(self) -> Anything:
        left = self.product()
        while token := self.take("+", "-"):
            left = Operation(token.text, (self._value(left), self._value(self.product())), token.offset)
        return left

    def product(self) -> Anything:
        left = self.sign()
        while token := self.take("*", "/"):
            left = self._ratio(token, self._value(left), self._value(self.sign()))
        return left

    def _ratio(self, token: _Token, left: Expression, right: Expression) -> Expression:
        """An operation, or one exact literal where two integers are written as a fraction."""
        if token.text == "/" and isinstance(left, Literal) and isinstance(right, Literal):
            if right.value == 0:
                self.refuse(right.offset, "bad-template", "A fraction has no zero below.")
            return Literal(left.value / right.value, left.offset)
        return Operation(token.text, (left, right), token.offset)

    def sign(self) -> Anything:
        if token := self.take("-"):
            self.nested()
            operand = self._value(self.sign())
            if isinstance(operand, Literal):
                return Literal(-operand.value, token.offset)
            return Operation("neg", (operand,), token.offset)
        return self.atom()

    def atom(self) -> Anything:
        token = self.token
        self.at += 1
        if token.kind == "name":
            return self.call(token) if token.text in (*FUNCTIONS, "computed") else self.field(token)
        if token.kind == "number":
            return self.literal(token)
        if token.text == "(":
            self.nested()
            inner = self.condition(0) if self.literals else self.sum()
            self.expect(")")
            return inner
        found = token.text or "the end"
        return self.refuse(token.offset, "bad-template", f"Expected a field, found {found}.", token.text)

    def literal(self, token: _Token) -> Literal:
        if not self.literals:
            message = "A numeral typed into an expression has no trace. Take it from a payload."
            self.refuse(token.offset, "literal-in-expression", message, token.text)
        if not token.text.isdecimal() or len(token.text) > 300:
            message = "Only integers and fractions such as 1/2 stand in a claim or a rule."
            self.refuse(token.offset, "literal-in-expression", message, token.text[:40])
        return Literal(Fraction(int(token.text)), token.offset)

    def call(self, token: _Token) -> Anything:
        self.expect("(")
        self.nested()
        if token.text == "computed":
            rule = self.token
            self.at += rule.kind == "string"
            self.expect(")")
            return Computed(rule.text.strip("\"'"), token.offset)
        operands = [self._value(self.sum())]
        while self.take(","):
            operands.append(self._value(self.sum()))
        self.expect(")")
        if (len(operands) == 1) != (token.text == "abs"):
            counts = "one value" if token.text == "abs" else "two values or more"
            self.refuse(token.offset, "bad-template", f"{token.text} takes {counts}.", token.text)
        return Operation(token.text, tuple(operands), token.offset)

    def field(self, token: _Token) -> Field:
        keys = []
        while opener := self.take(".", "["):
            key, wanted = self.token, "name" if opener.text == "." else "string"
            self.at += 1
            if key.kind != wanted:
                code = "literal-in-expression" if key.kind == "number" else "bad-template"
                self.refuse(key.offset, code, "Expected the name of a field.", key.text)
            keys.append(key.text.strip("\"'") if wanted == "string" else key.text)
            if wanted == "string":
                self.expect("]")
        return Field(token.text, tuple(keys), token.offset)

    def form(self) -> Form | Interval | None:
        """The form after a bar, None where there is no bar."""
        if self.take("|") is None:
            return None
        name = self.token
        if name.text not in (*ROUNDED, *WHOLE, "ci"):
            known = ", ".join((*ROUNDED, *WHOLE, "ci"))
            self.refuse(name.offset, "bad-template", f'"{name.text}" is no form. Known: {known}.', name.text)
        self.at += 1
        digits, options = self.arguments()
        read: Form | Interval = Form(name.text, digits)
        if name.text == "ci":
            read = Interval(Form("signed" if options.pop("signed", False) else "places", digits))
        if options or (digits is None) != (name.text in WHOLE):
            self.refuse(name.offset, "bad-template", _usage(name.text), name.text)
        return read

    def arguments(self) -> tuple[int | None, dict[str, bool]]:
        """The digits and the named options of a form."""
        digits: int | None = None
        options: dict[str, bool] = {}
        if self.take("(") is None:
            return None, {}
        while self.take(")") is None:
            token = self.token
            self.at += 1
            if token.kind == "number" and token.text.isdecimal() and digits is None and not options:
                digits = int(token.text[:9])
                if digits > DIGIT_LIMIT:
                    self.refuse(token.offset, "bad-template", f"At most {DIGIT_LIMIT} digits.", token.text)
            elif token.kind == "name" and token.text not in options and self.take("="):
                options[token.text] = self.take("true", "True") is not None
                if not options[token.text] and self.take("false", "False") is None:
                    self.refuse(self.token.offset, "bad-template", "Expected true or false.", self.token.text)
            else:
                message = "A form takes a number of digits, then named options."
                self.refuse(token.offset, "bad-template", message, token.text)
            if self.take(",") is None and self.token.text != ")":
                self.expect(")")
        return digits, options

    def _value(self, read: Anything) -> Expression:
        if isinstance(read, (Field, Literal, Operation)):
            return read
        return self.refuse(read.offset, "bad-template", "A number is expected here.")

    def _truth(self, read: Anything) -> Condition:
        if isinstance(read, (Comparison, Logic)):
            return read
        return self.refuse(read.offset, "bad-template", "A comparison is expected here.")


def _usage(name: str) -> str:
    if name in WHOLE:
        return f"{name} takes no arguments."
    options = ", then signed=true where signs are wanted" if name == "ci" else ""
    return f"{name} takes a number of digits, as in {name}(2){options}."
