"""What an audit looked at: how much of each kind, where, and how often each exemption was used.

A page of the site may print these counts; the rules that do so are settled here, once every page is read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from generator.audit.fault import Fault

PROVED = ("numbers", "derived", "claims", "computed")
"""Kinds of marks that carry a proof; every other kind is an exemption, which passes without one."""

NAMES = {"number": "numbers", "derived": "derived", "claim": "claims", "computed": "computed"}
"""What the marks of a page are called where they are counted."""

EXEMPTIONS = (
    "name",
    "id",
    "quoted text",
    "verbatim lines",
    "line numbers",
    "illustration",
    "footnote",
    "theme",
)
"""Kinds of exemptions: the closed list."""

RULES = ("coverage", "exempt", "exemption", "file")
"""First words of the rules that are settled here."""

Used = Counter[tuple[str, str]]
"""How often each exemption was used: its kind, and what passed by it."""


@dataclass(frozen=True)
class Coverage:
    """Proved marks and used exemptions of every file that was read, by its path from the site's root."""

    marks: Mapping[str, Mapping[str, int]]
    exempt: Mapping[str, Used]

    def files(self) -> list[str]:
        """Every page, and every other file in which an exemption was used."""
        return sorted({*self.marks, *(path for path, used in self.exempt.items() if used)})

    def used(self) -> Used:
        """The exemptions of all files together."""
        found: Used = Counter()
        for used in self.exempt.values():
            found.update(used)
        return found

    def counts(self, path: str | None = None) -> Counter[str]:
        """How much of each kind there is in a file, or in all of them."""
        counts: Counter[str] = Counter()
        for each in self.files() if path is None else [path]:
            counts.update(self.marks.get(each, {}))
            for (kind, _), count in self.exempt.get(each, Counter()).items():
                counts[kind] += count
        return counts

    def values(self) -> dict[str, str]:
        """Every rule that a page can print, with its value: nothing is counted that it could leave out."""
        values = dict(self._totals())
        for path in self.files():
            values[f"file:{path}"] = path
            values |= {f"coverage:{kind}:{path}": str(n) for kind, n in self.counts(path).items() if n}
        for (kind, what), count in self.used().items():
            values[f"exemption:{kind}:{what}"] = what
            values[f"exempt:{kind}:{what}"] = str(count)
        return values

    def _totals(self) -> Iterator[tuple[str, str]]:
        counts = self.counts()
        for kind in PROVED:
            yield f"coverage:{kind}", str(counts[kind])
        for kind in EXEMPTIONS:
            if counts[kind]:
                yield f"coverage:{kind}", str(counts[kind])
        yield "coverage:pages", str(len(self.marks))


def settle(rule: str, values: Mapping[str, str]) -> str:
    """The value of a rule; raises Fault where nothing of that name was counted."""
    if rule not in values:
        raise Fault("untraced-number", f"{rule[:80]!r} names nothing that was counted in this site.")
    return values[rule]


def left_out(printed: Collection[str], values: Mapping[str, str]) -> list[str]:
    """What a page of coverage fails to print; nothing of a page that prints no coverage by file."""
    if not any(rule.startswith("file:") for rule in printed):
        return []
    return sorted(values.keys() - set(printed))
