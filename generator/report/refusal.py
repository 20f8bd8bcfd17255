"""One reason not to publish, and the closed list of its codes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

CODES: dict[str, str] = {
    "untraced-number": "a numeral without a trace",
    "untraced-word": "a number word without a trace",
    "number-in-code": "a number placed where it would print as markup",
    "literal-in-expression": "a numeral typed inside an expression",
    "unknown-payload": "an alias or path that names no payload",
    "unknown-field": "a pointer that does not resolve",
    "unknown-id": "a finding, kill criterion, erratum or statement that does not exist",
    "duplicate-id": "one id or alias declared twice",
    "claim-false": "words bound to a comparison that does not hold",
    "unit-mismatch": "quantities of different units put together",
    "display-mismatch": "shown text that is not its source value, rounded",
    "zero-shown": "a non-zero value that would print as zero",
    "place-mismatch": "a line, span or pointer that is not where the value stands",
    "no-regime": "a finding without its exact conditions",
    "no-source": "a finding that cites no payload",
    "untracked-source": "a source that git does not track, or that differs from its commit",
    "bad-front-matter": "front matter that is missing, malformed or has unknown keys",
    "bad-template": "a template that does not parse or render",
    "bad-encoding": "bytes that are not UTF-8, or a byte order mark",
    "bad-payload": "a payload that is missing, not strict JSON, or against its schema",
    "too-large": "a file over its size limit",
    "payload-changed": "a payload whose bytes differ from the digest that was recorded",
    "payload-unused": "a payload declared and not cited",
    "payload-undeclared": "a payload cited and not declared",
    "registered-text-changed": "frozen text or a frozen payload that was edited",
    "history-missing": "a check that needs git history which is not there",
    "bad-erratum": "an erratum that does not stand on what it corrects",
    "verdict-mismatch": "a status or verdict that its rule does not give",
    "stale-critic": "a critic older than the state it judged",
    "unaccounted": "an experiment or a release that the record does not account for",
    "unused-term": "a term in findings/terms.toml that no text uses",
    "leftover-template": "template markup in the finished page",
    "bad-page": "a finished page that cannot be read, or a site without pages",
    "unknown-file": "a file of the site that is neither read, proved nor known by its bytes",
}


@dataclass(frozen=True, slots=True, order=True)
class Refusal:
    """A place (1-based line and column, in characters) and what is wrong with it."""

    path: str
    line: int
    column: int
    code: str
    text: str
    message: str

    def __post_init__(self) -> None:
        if self.code not in CODES:
            raise ValueError(f"{self.code!r} is not a refusal code")


@dataclass(slots=True)
class Report:
    """What a command found: refusals stop it, warnings do not, counts are its denominators."""

    refusals: list[Refusal] = field(default_factory=list)
    warnings: list[Refusal] = field(default_factory=list)
    numbers: int = 0
    derived: int = 0
    claims: int = 0
    computed: int = 0
    pages: int = 0
    exempt: dict[str, int] = field(default_factory=dict)

    def extend(self, refusals: Iterable[Refusal]) -> None:
        self.refusals.extend(refusals)

    def below(self, folder: str) -> Report:
        """The same report with its places seen from outside a folder, given with its final slash."""

        def moved(refusals: list[Refusal]) -> list[Refusal]:
            return [
                each if each.path.startswith("/") else replace(each, path=folder + each.path)
                for each in refusals
            ]

        return replace(self, refusals=moved(self.refusals), warnings=moved(self.warnings))


class Refused(Exception):
    """Raised by a step that cannot go on; carries every refusal it collected."""

    def __init__(self, refusals: Iterable[Refusal]) -> None:
        self.refusals = tuple(refusals)
        super().__init__("; ".join(f"{r.path}:{r.line}:{r.column}: {r.code}" for r in self.refusals))
