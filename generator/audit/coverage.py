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

RULES = ("coverage", "exempt", "exemption", "file", "row", "use")
"""First words of the rules that are settled here."""

LARGE = 100
"""Files of a site beyond which a file, and an exemption, is told in one text and not in a number a column."""

OF_FILES = frozenset({"quoted text", "verbatim lines", "line numbers"})
"""Exemptions that name a file; the rows of a large site have them page by page, and the list by folder."""

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

    @property
    def large(self) -> bool:
        """Whether there are so many files that each is told in one text."""
        return len(self.marks) > LARGE

    def used(self) -> Used:
        """The exemptions of all files together; those of files by folder where there are many."""
        found: Used = Counter()
        for used in self.exempt.values():
            found.update(used)
        if not self.large:
            return found
        folded: Used = Counter()
        for (kind, what), count in found.items():
            folder, slash, _ = what.rpartition("/")
            folded[kind, folder + slash if slash and kind in OF_FILES else what] += count
        return folded

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
        return dict(self._totals()) | dict(self._rows() if self.large else self._cells())

    def _cells(self) -> Iterator[tuple[str, str]]:
        """A number for each kind in each file, and for each exemption."""
        for path in self.files():
            yield f"file:{path}", path
            yield from ((f"coverage:{kind}:{path}", str(n)) for kind, n in self.counts(path).items() if n)
        for (kind, what), count in self.used().items():
            yield f"exemption:{kind}:{what}", what
            yield f"exempt:{kind}:{what}", str(count)

    def _rows(self) -> Iterator[tuple[str, str]]:
        """The same in one text for each file, and for each exemption."""
        for path in self.files():
            counts = self.counts(path)
            told = [f"{counts[kind]} {kind}" for kind in (*PROVED, *EXEMPTIONS) if counts[kind]]
            yield f"row:{path}", f"{path}: {', '.join(told) or 'nothing'}"
        for (kind, what), count in self.used().items():
            yield f"use:{kind}:{what}", f"{what} ({count})"

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
    if not any(rule.startswith(("file:", "row:")) for rule in printed):
        return []
    return sorted(values.keys() - set(printed))
