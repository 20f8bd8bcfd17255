"""What badges say of findings and kill criteria; the rule of a criterion is read and judged again.

Rules are written in the syntax of Python's expressions, so Python's own parser reads them; what else that
parser knows is refused.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from typing import NoReturn

from generator.audit.evidence import Evidence
from generator.audit.fault import Fault, Placed
from generator.audit.predicate import Trace

OUTCOMES = ("fired", "did-not-fire", "untested")

_RULE = re.compile(r"^fires_when:[ \t]*((?:[^\n]*)(?:\n[ \t]+[^\n]*)*)", re.MULTILINE)
_COMPARED = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
_JOINED = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}

_BADGE = re.compile(
    r">(K-[0-9]+)</a>\s*<span class=\"(?:claim )?badge outcome outcome-([a-z-]+)\"[^<>]*>([^<>]*)<",
    re.IGNORECASE,
)
_OUTCOME = re.compile(
    r"<[a-z][^<>]*\bclass\s*=\s*[\"'][^\"'<>]*\boutcome-(?:fired|did-not-fire|untested)\b[^<>]*>",
    re.IGNORECASE,
)
_STATUS = re.compile(r"status-(?:holds|null|open|unrun)\b")
_BOUND = re.compile(r"<span class=\"claim badge status status-[a-z]+\" data-claim=\"[^\"<>]*\">")
_BARE = re.compile(r"<span class=\"badge status status-([a-z]+)\">([^<>]*)<")
_NAMED = re.compile(r">(F-[0-9]+)</a>\s*\Z")


def statuses(html: str, own: str, known: Mapping[str, str]) -> Iterator[Placed]:
    """Badges that no condition binds here and that say another status than the source of their finding.

    Such a badge stands beside the link to its finding, or on the page of it, which is `own`.
    """
    for found in _STATUS.finditer(html) if "status-" in html else ():
        start = max(html.rfind("<", 0, found.start()), 0)
        if html.find(">", start, found.start()) >= 0 or _BOUND.match(html, start):
            continue  # in text, or a claim
        badge, named = _BARE.match(html, start), _NAMED.search(html, max(0, start - 40), start)
        name = named[1] if named else own
        expected = known.get(name, "")
        if badge is None:
            yield Placed(start, "verdict-mismatch", "A status stands in the form of a badge.")
        elif not expected or {badge[1], badge[2].strip()} != {expected}:
            said = badge[2].strip()[:40]
            message = f'The page says "{said}" of {name or "no finding"}, whose source says "{expected}".'
            yield Placed(start, "verdict-mismatch", message)


def judge(html: str, outcomes: Mapping[str, str]) -> Iterator[Placed]:
    """Badges of kill criteria that say another outcome than the rule of their source gives."""
    badges = list(_BADGE.finditer(html)) if "outcome-" in html else []
    for each in _OUTCOME.finditer(html) if "outcome-" in html else ():
        if not any(badge.start() < each.start() < badge.end() for badge in badges):
            message = "An outcome stands beside the link to its kill criterion, in the form of a badge."
            yield Placed(each.start(), "verdict-mismatch", message)
    for badge in badges:
        name, kind, words = badge.groups()
        expected = outcomes.get(name, "")
        if {kind, words.strip().replace(" ", "-")} != {expected}:
            message = f'The page says "{words.strip()[:40]}" of {name}, and its rule gives "{expected}".'
            yield Placed(badge.start(1), "verdict-mismatch", message)


def outcome(front: str, paths: Mapping[str, str], present: frozenset[str], evidence: Evidence) -> str:
    """What became of a kill criterion, from the text of its front matter; raises Fault."""
    if not set(paths.values()) <= present:
        return "untested"
    try:
        tree = ast.parse(_written(front), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        _refuse()
    holds = Trace(evidence, literals=True).holds(_Reader(paths, evidence).condition(tree))
    return "fired" if holds else "did-not-fire"


def _written(front: str) -> str:
    """The rule on one line, without the quotation marks and the folding of YAML."""
    found = _RULE.search(front)
    text = " ".join(line.strip() for line in (found[1] if found else "").splitlines()).strip()
    text = re.sub(r"^[>|][-+]?\s+", "", text)
    if text[:1] == text[-1:] == "'":
        text = text[1:-1].replace("''", "'")
    elif text[:1] == text[-1:] == '"':
        text = text[1:-1].replace('\\"', '"')
    return text


def _refuse() -> NoReturn:
    raise Fault("bad-front-matter", "The rule of a kill criterion cannot be read again.")


class _Reader:
    """Turns the syntax tree of a rule into nested lists, operator first."""

    def __init__(self, paths: Mapping[str, str], evidence: Evidence) -> None:
        self._paths = paths
        self._evidence = evidence

    def condition(self, node: ast.expr) -> list[object]:
        if isinstance(node, ast.BoolOp):
            name = "and" if isinstance(node.op, ast.And) else "or"
            return [name, *(self.condition(each) for each in node.values)]
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return ["not", self.condition(node.operand)]
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _COMPARED:
            name = _COMPARED[type(node.ops[0])]
            return [name, self.operand(node.left), self.operand(node.comparators[0])]
        _refuse()

    def operand(self, node: ast.expr) -> object:
        if isinstance(node, ast.Constant) and type(node.value) is int:
            return str(node.value)
        if isinstance(node, ast.BinOp) and type(node.op) in _JOINED:
            return self._joined(_JOINED[type(node.op)], self.operand(node.left), self.operand(node.right))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            inner = self.operand(node.operand)
            return f"-{inner}".replace("--", "") if isinstance(inner, str) else ["neg", inner]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
            return [node.func.id, *(self.operand(each) for each in node.args)]
        return self._leaf(node)

    def _joined(self, name: str, left: object, right: object) -> object:
        """An operation, or one literal where two integers are written as a fraction."""
        if name == "/" and isinstance(left, str) and isinstance(right, str) and "/" not in left + right:
            return f"{left}/{right}"
        return [name, left, right]

    def _leaf(self, node: ast.expr) -> object:
        keys: list[str] = []
        while isinstance(node, ast.Attribute | ast.Subscript):
            if isinstance(node, ast.Attribute):
                keys.append(node.attr)
            elif isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
                keys.append(node.slice.value)
            else:
                _refuse()
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self._paths:
            _refuse()
        path = self._paths[node.id]
        digest = self._evidence.read(path).sha256
        pointer = "".join("/" + key.replace("~", "~0").replace("/", "~1") for key in reversed(keys))
        found = self._evidence.value(path, pointer, digest)
        return [path, f"{pointer}/value" if found.kind == "object" else pointer, digest]
