"""Numbers that the generator makes: each rule of the closed table, computed again from the sources."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from generator.audit import erratum
from generator.audit.erratum import Corrections, Erratum
from generator.audit.evidence import Evidence
from generator.audit.fault import Fault
from generator.audit.rule import OUTCOMES, outcome

NUMBERS = "numbers-count"
"""The rule that counts marks; the site settles it once every page is read."""

STATUSES = ("holds", "null", "open", "unrun")
PASS = "findings/ERRATA-PASS.md"
EXPERIMENTS = "payloads/experiments.json"
MANIFEST = "findings/MANIFEST.json"
UNRELEASED = "not released yet"
LISTS = {
    "unrun-count": "findings/UNRUN.md",
    "withheld-count": "findings/WITHHELD.md",
    "deviations-count": "findings/DEVIATIONS.md",
}
"""The source whose entries a rule counts."""

SIZE_LIMIT = 4 * 1024 * 1024

_FRONT = re.compile(r"---[ \t]*\r?\n(.*?)^(?:---|\.\.\.)[ \t]*$", re.DOTALL | re.MULTILINE)
_SCALAR = re.compile(
    r"^(\w+):[ \t]*(\"[^\"\n]*\"|'[^'\n]*'|[^\s#\"'\[{|>][^#\n]*?)?[ \t]*(?:[ \t]#.*)?$", re.MULTILINE
)
_RULED = re.compile(r"(?:^[ \t]*(?:-[ \t]+)?|[{,][ \t]*)ruling:[ \t]*([\"']?[a-z]+[\"']?)", re.MULTILINE)
_DATED = re.compile(r"(?:^|[{,-])[ \t]*date:[ \t]*[\"']?([0-9]{4}-[0-9]{2}-[0-9]{2})", re.MULTILINE)
_TAG = re.compile(r"v(?:0|[1-9][0-9]*)(?:\.(?:0|[1-9][0-9]*)){2}")
_PAYLOADS = re.compile(r"^payloads:[^\n]*(?:\n[ \t]+[^\n]*)*", re.MULTILINE)
_PATH = re.compile(r"payloads/[^\s\"',}\]#]+\.json")


class Sources:
    """What the rules count: the front matter of every source, read by the audit's own means."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self._root = evidence.root
        self._tags: dict[str, str] = {}

    def over(self, evidence: Evidence) -> Sources:
        """The same sources as they were read, over payloads that are read again."""
        sources = Sources(evidence)
        for name in ("_fronts", "_cited", "errata", "statuses", "_payloads"):  # as cached_property keeps them
            sources.__dict__[name] = getattr(self, name)
        return sources

    def compute(self, rule: str) -> str:
        """The value of a rule; raises Fault where the table has none of that name."""
        name, _, argument = rule.partition(":")
        if name == "findings-count" and argument:
            return str(self._with_status(argument))
        if name == "cited-by-count" and argument:
            return str(sum(argument in paths for paths in self._cited.values()))
        if name == "sha256" and argument:
            return self._evidence.read(argument).sha256
        if name == "erratum-date" and argument:
            return self._date(argument)
        if rule == "pass-date" or name == "rulings-count":
            return self._ruled(name, argument)
        if rule == "version":
            return self._version()
        if name == "read-at":
            return self._read_at(argument)
        if name in LISTS or name in ("deviation-date", "experiments-count"):
            return self._disclosed(name, argument)
        if name == "kills-count" and argument:
            return self._with_outcome(argument)
        counts = {"findings-count": "F-", "kills-count": "K-", "errata-count": "E-"}
        if rule in counts:
            return str(sum(path.rpartition("/")[2].startswith(counts[rule]) for path in self._fronts))
        if rule == "payloads-count":
            return str(len(self._payloads))
        raise Fault("untraced-number", f"{rule[:60]!r} is no rule by which the generator computes a number.")

    def ids(self) -> frozenset[str]:
        """The ids of all findings, kill criteria and errata."""
        return frozenset(front["id"] for front in self._fronts.values() if "id" in front)

    def declared(self, name: str) -> set[str]:
        """The payload paths that a finding declares, and the errata that correct it."""
        paths = {f"findings/{name}.md"}
        paths |= {path for path, front in self._fronts.items() if front.get("finding") == name}
        return {each for path in paths for each in self._cited.get(path, ())}

    @cached_property
    def statuses(self) -> dict[str, str]:
        """What each finding says of itself, by its id."""
        fronts = ((path, front) for path, front in self._fronts.items() if _is_finding(path))
        return {front["id"]: front["status"] for _, front in fronts if {"id", "status"} <= front.keys()}

    @cached_property
    def errata(self) -> dict[str, Erratum]:
        """What each erratum corrects, by its id."""
        return {
            front["id"]: erratum.read(front, _declared(_front(self._root / path)))
            for path, front in self._fronts.items()
            if path.startswith("findings/errata/") and "id" in front
        }

    @cached_property
    def corrections(self) -> Corrections:
        """Which errata change what a field should read."""
        return Corrections(self.errata.values(), self._evidence)

    def _with_status(self, status: str) -> int:
        if status not in STATUSES:
            raise Fault("untraced-number", f"{status!r} is no status of a finding.")
        fronts = ((path, front) for path, front in self._fronts.items() if _is_finding(path))
        return sum(front.get("status") == status for _, front in fronts)

    def _with_outcome(self, wanted: str) -> str:
        """How many kill criteria came out so; each rule is read from its source and judged."""
        if wanted not in OUTCOMES:
            raise Fault("untraced-number", f"{wanted[:40]!r} is no outcome of a kill criterion.")
        return str(sum(each == wanted for each in self.outcomes.values()))

    @cached_property
    def outcomes(self) -> dict[str, str]:
        """What became of each kill criterion, by its id."""
        found = {}
        for path, scalars in self._fronts.items():
            if path.rpartition("/")[2].startswith("K-"):
                front = _front(self._root / path)
                paths = erratum.aliases(_declared(front))
                found[scalars.get("id", path)] = outcome(front, paths, self._payloads, self._evidence)
        return found

    def _disclosed(self, name: str, argument: str) -> str:
        """How much was not run, is withheld or was bent, of how many experiments, and when it was bent."""
        if name == "experiments-count" and not argument:
            return str(len(_listed(self._evidence.read(EXPERIMENTS).data)))
        dates = _DATED.findall(_block(_front(self._root / LISTS["deviations-count"]), "deviations"))
        if name == "deviation-date":
            if not re.fullmatch(r"[1-9][0-9]{0,5}", argument) or int(argument) > len(dates):
                raise Fault("unknown-id", f"{LISTS['deviations-count']} has no entry {argument[:20]}.")
            return str(dates[int(argument) - 1])
        if argument:
            raise Fault("untraced-number", f"{name} takes nothing after a colon.")
        if name == "deviations-count":
            return str(len(dates))
        return str(len(_keys(_block(_front(self._root / LISTS[name]), "experiments"))))

    def _read_at(self, argument: str) -> str:
        """The tag whose manifest holds the payloads as they are: of a finding, one, or all of the record."""
        if argument not in self._tags:
            self._tags[argument] = self._tag(argument)
        return self._tags[argument]

    def _tag(self, argument: str) -> str:
        tag, files = self._manifest
        if argument.startswith("F-"):
            paths = self.declared(argument)
        elif argument:
            paths = {argument}
        else:
            paths = {*self._payloads, *(path for path in files if _PATH.fullmatch(path))} - {EXPERIMENTS}
        if argument and not paths:
            raise Fault("unknown-id", f"{argument[:40]!r} is no finding and no payload of this record.")
        same = all(path in self._payloads and self._digest(path) == files.get(path) for path in paths)
        return tag if tag and same else UNRELEASED

    def _digest(self, path: str) -> str:
        return str(self._evidence.read(path).sha256)

    @cached_property
    def _payloads(self) -> frozenset[str]:
        """The payloads of the record, which the list of experiments is not one of."""
        return frozenset(path for path, _ in self._files("payloads", "*.json")) - {EXPERIMENTS}

    @cached_property
    def _manifest(self) -> tuple[str, dict[str, str]]:
        """Tag and digests of the last release, none where there was none."""
        if not (self._root / MANIFEST).is_file():
            return "", {}
        try:
            read = json.loads(self._evidence.read(MANIFEST).data)
            tag, files = read["tag"], {str(path): str(digest) for path, digest in read["files"].items()}
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            tag, files = "", {}
        if not isinstance(tag, str) or not _TAG.fullmatch(tag):
            raise Fault("bad-payload", f"{MANIFEST} does not say what was released.")
        return tag, files

    def _version(self) -> str:
        """What CITATION.cff states after `version:`."""
        file = self._root / "CITATION.cff"
        lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
        for line in lines:
            if line.startswith("version:"):
                return line.removeprefix("version:").strip().strip("'\"")
        raise Fault("unknown-field", "CITATION.cff states no version.")

    def _date(self, name: str) -> str:
        front = self._fronts.get(f"findings/errata/{name}.md", {})
        if "date" not in front:
            raise Fault("unknown-id", f"{name} is no erratum with a date.")
        return front["date"]

    def _ruled(self, name: str, argument: str) -> str:
        """The day of the pass over the errata, or how many of its rows rule something."""
        front = _front(self._root / PASS)
        if name == "pass-date":
            return _scalars(front).get("date", "")
        _, _, rows = f"\n{front}".partition("\nrulings:")
        block = re.split(r"\n(?=\w)", rows)[0]
        ruled = [each.strip("\"'") for each in _RULED.findall(block)]
        if not ruled or (argument and argument not in ("stands", "corrected", "withdrawn")):
            raise Fault("untraced-number", f"{PASS} has no rulings of the kind {argument or 'asked for'!r}.")
        return str(ruled.count(argument) if argument else len(ruled))

    @cached_property
    def _fronts(self) -> dict[str, dict[str, str]]:
        """Top-level scalars of the front matter, by path of the record's findings, criteria and errata."""
        folders = (("findings", False), ("findings/errata", False))
        return {
            path: _scalars(_front(file))
            for folder, deep in folders
            for path, file in self._files(folder, "*.md", deep=deep)
        }

    @cached_property
    def _cited(self) -> dict[str, set[str]]:
        """Payload paths that the front matter of each source names."""
        found = [*self._files("findings", "*.md"), *self._files("site_src", "*.md")]
        landing = self._root / "templates/landing.md.j2"
        found += [("templates/landing.md.j2", landing)] if landing.is_file() else []
        return {path: _payloads(_front(file)) for path, file in found}

    def _files(self, folder: str, pattern: str, *, deep: bool = True) -> Iterator[tuple[str, Path]]:
        base = self._root / folder
        for file in sorted(base.rglob(pattern) if deep else base.glob(pattern)):
            if file.is_file():
                yield file.relative_to(self._root).as_posix(), file


def _is_finding(path: str) -> bool:
    return path.startswith("findings/F-")


def _front(file: Path) -> str:
    """The text between the two lines of hyphens, empty where there is none."""
    try:
        if file.stat().st_size > SIZE_LIMIT:
            return ""
        match = _FRONT.match(file.read_text("utf-8", errors="replace"))
    except OSError:
        return ""
    return match[1] if match else ""


def _scalars(front: str) -> dict[str, str]:
    return {key: value.strip("\"'").strip() for key, value in _SCALAR.findall(front)}


def _listed(data: bytes) -> list[object]:
    """The entries of the list of experiments."""
    try:
        listed = json.loads(data)["experiments"]
    except (ValueError, KeyError, TypeError, RecursionError):
        listed = None
    if not isinstance(listed, list):
        raise Fault("bad-payload", f"{EXPERIMENTS} is no list of experiments.")
    return listed


def _block(front: str, key: str) -> str:
    """The lines below a top-level key."""
    found = re.search(rf"^{key}:[^\n]*\n((?:(?:[ \t-][^\n]*)?\n)*)", f"{front}\n", re.MULTILINE)
    return found[1] if found else ""


def _keys(block: str) -> list[str]:
    """The lines of a mapping that begin an entry: those indented as the first one is."""
    lines = [line for line in block.split("\n") if line.strip() and not line.lstrip().startswith("#")]
    indent = len(lines[0]) - len(lines[0].lstrip()) if lines else 0
    return [line for line in lines if len(line) - len(line.lstrip()) == indent]


def _declared(front: str) -> str:
    """The lines that name the payloads of a source."""
    block = _PAYLOADS.search(front)
    return block[0] if block else ""


def _payloads(front: str) -> set[str]:
    return set(_PATH.findall(_declared(front)))
