"""What the source side refuses in prose that nobody here wrote, by class, and how much of it is wrong.

The prose is the first words of the README of each package that `false_alarms.toml` names, at the version
it names, each read with the package's own name as the one entry of terms.toml. A hundred refusals are
drawn by digest, and every number word: the file holds a judgement of each, and the run stops where one
is missing. Wrong are refusals of words that state no quantity, rank, result, date or version.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from benchmarks.section import replace
from generator.gate import markdown, masking
from generator.gate.numerals import find
from generator.gate.source import check_sources
from generator.record.source import Source
from generator.record.terms import Term
from generator.report.refusal import Refusal

JUDGED = Path(__file__).with_name("false_alarms.toml")
SEED = "false alarms"
DRAWN = 100
FIRST_WORDS = 1500
"""Words read of each README; what follows is mostly a changelog, all versions and issue numbers."""

SHOWN = 36
"""Characters of the line kept on either side of a refusal, to judge it by."""

_VERSION = re.compile(r"v?[0-9]+(\.[0-9]+){2,}|[0-9]{4}-[0-9]{2}-[0-9]{2}")
_KINDS = {
    "digit": "numeral",
    "identifier": "word that ends in digits",
    "word": "cardinal word",
    "ordinal": "ordinal word that ranks",
    "roman": "Roman numeral",
    **dict.fromkeys(("fold", "fraction", "ratio"), "word that relates (half, twice, none)"),
}


@dataclass(frozen=True)
class Alarm:
    """One refusal in strange prose."""

    package: str
    line: int
    column: int
    code: str
    kind: str
    text: str

    @property
    def key(self) -> str:
        return f"{self.package}:{self.line}:{self.column}"

    @property
    def lot(self) -> str:
        """What decides whether it is drawn; it does not depend on the other refusals."""
        return sha256(f"{SEED}\n{self.key}".encode()).hexdigest()

    @property
    def is_word(self) -> bool:
        return self.code == "untraced-word"


def readme(package: str) -> str:
    """The opening of a package's README, which its distribution carries; raises LookupError."""
    name, version = package.split()
    try:
        found = distribution(name)
    except PackageNotFoundError as error:
        raise LookupError(f"{package} is not installed. Install what constraints.txt pins.") from error
    if found.version != version:
        raise LookupError(f"{package} is installed as {found.version}. Install what constraints.txt pins.")
    return _opening(found.metadata["Description"])


def _opening(text: str) -> str:
    lines, words = [], 0
    for line in text.split("\n"):
        lines.append(line)
        words += len(line.split())
        if words >= FIRST_WORDS:
            break
    return "\n".join(lines)


def alarms(package: str, text: str) -> list[Alarm]:
    """Every refusal of one README; several numerals that one place prints are one."""
    name = package.split()[0]
    source = Source(package, "page", text, {}, {}, text, 1)
    report = check_sources([source], [Term(name, "the name of the package", 1)], frozenset())
    code = _code(text)
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    made = [
        Alarm(package, each.line, each.column, each.code, _kind(each, starts, code), _excerpt(each))
        for each in report.refusals
        if each.code != "unused-term"
    ]
    return list({each.key: each for each in made}.values())


def _code(text: str) -> frozenset[int]:
    """The places that print as code."""
    passages = markdown.read(masking.mask(text).text)
    return frozenset(
        place
        for each in passages
        if not isinstance(each, markdown.Fault) and each.surface == "code"
        for place in each.offsets
    )


def _kind(refusal: Refusal, starts: list[int], code: frozenset[int]) -> str:
    """The class of a refusal, told from what stands at its place."""
    if refusal.code not in ("untraced-number", "untraced-word"):
        return f"other ({refusal.code})"
    hits = [hit for hit in find(refusal.text) if hit.start <= refusal.column - 1 < hit.end]
    if not hits:
        return "numeral of the markup (a list, an entity)"
    hit = hits[0]
    if starts[refusal.line - 1] + refusal.column - 1 in code:
        return "numeral in code"
    if hit.kind == "digit" and _VERSION.fullmatch(hit.text):
        return "numeral: a version or a date"
    if hit.kind == "digit" and refusal.text[: hit.start].endswith("#"):
        return "numeral: an issue"
    return _KINDS[hit.kind]


def _excerpt(refusal: Refusal) -> str:
    """The line around the refusal, the place marked."""
    at = refusal.column - 1
    before, after = refusal.text[max(0, at - SHOWN) : at], refusal.text[at : at + SHOWN]
    return " ".join(f"{before}▸{after}".split())


def drawn(found: Iterable[Alarm]) -> list[Alarm]:
    """The random hundred."""
    return sorted(found, key=lambda each: each.lot)[:DRAWN]


@dataclass(frozen=True)
class Judgement:
    """What a person said of one refusal."""

    wrong: bool
    reason: str


def judgements() -> tuple[list[str], dict[str, Judgement]]:
    """The packages, and the judgement of each refusal by its place."""
    read = tomllib.loads(JUDGED.read_text("utf-8"))
    return read["packages"], {row["at"]: Judgement(row["wrong"], row["reason"]) for row in read["refusal"]}


def unjudged(wanted: Iterable[Alarm], rows: Mapping[str, Judgement]) -> Iterator[str]:
    """What is still to be judged, as entries of the file."""
    for each in wanted:
        if each.key not in rows:
            yield f"[[refusal]]\nat = '{each.key}'\ntext = {_quoted(each.text)}\nwrong =\nreason =\n"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def measure() -> tuple[int, list[Alarm]]:
    """How many words were read and what was refused in them; raises LookupError."""
    packages, _ = judgements()
    texts = {package: readme(package) for package in packages}
    words = sum(len(text.split()) for text in texts.values())
    return words, [alarm for package, text in texts.items() for alarm in alarms(package, text)]


def table(words: int, found: list[Alarm], rows: Mapping[str, Judgement]) -> str:
    """What is published: classes per thousand words, and how many of the judged are wrong."""
    classes = Counter(each.kind for each in found)
    lines = ["| what is refused | refusals | per thousand words |", "|---|---|---|"]
    lines += [f"| {kind} | {count} | {1000 * count / words:.2f} |" for kind, count in classes.most_common()]
    lines += [f"| all | {len(found)} | {1000 * len(found) / words:.2f} |", ""]
    lines += ["| judged one by one | refusals | wrong | what a person calls them |", "|---|---|---|---|"]
    spelled = [each for each in found if each.is_word]
    for what, judged in (("drawn at random from all", drawn(found)), ("every number word", spelled)):
        said = [rows[each.key] for each in judged]
        reasons = Counter(each.reason for each in said).most_common()
        shown = ", ".join(f"{reason} {count}" for reason, count in reasons)
        lines.append(f"| {what} | {len(judged)} | {sum(each.wrong for each in said)} | {shown} |")
    packages = len({each.package for each in found})
    return f"{words} words; {packages} packages have a refusal.\n\n" + "\n".join(lines)


def main() -> int:
    """Measure, and replace the section of `benchmarks/README.md`; exit 1 where a judgement is missing."""
    _, rows = judgements()
    try:
        words, found = measure()
    except LookupError as error:
        print(error, file=sys.stderr)
        return 1
    missing = list(unjudged({*drawn(found), *(each for each in found if each.is_word)}, rows))
    if missing:
        print("\n".join(sorted(missing)))
        print(f"{len(missing)} refusals are not judged. Judge them in {JUDGED.name}.", file=sys.stderr)
        return 1
    made = table(words, found, rows)
    print(made)
    replace("false alarms", made)
    return 0


if __name__ == "__main__":
    sys.exit(main())
