"""Loads a record: every source, every payload, the terms, and what git says; collects all refusals."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from generator.record import checksums, critic, experiments, manifest, payload, repository, source, terms
from generator.record.experiments import Experiments
from generator.record.manifest import Manifest
from generator.record.payload import Payload
from generator.record.repository import Repository
from generator.record.source import DISCLOSURES, Source
from generator.record.terms import Term
from generator.report.refusal import Refusal, Refused

CITATION = "CITATION.cff"

CHANGES = "findings/changes"
"""Holds what changed from release to release, one file a pair, OLD..NEW.md."""

LANDING = "templates/landing.md.j2"

Given = TypeVar("Given")
Got = TypeVar("Got")


@dataclass(frozen=True)
class Record:
    """Everything that a site is made of, and what stands against making it."""

    root: Path
    findings: tuple[Source, ...]
    kills: tuple[Source, ...]
    errata: tuple[Source, ...]
    pages: tuple[Source, ...]
    errata_pass: Source | None
    disclosures: tuple[Source, ...]
    landing: Source | None
    terms: tuple[Term, ...]
    payloads: dict[str, Payload] = field(repr=False)
    experiments: Experiments | None = field(repr=False)
    manifest: Manifest | None = field(repr=False)
    repository: Repository = field(repr=False)
    refusals: tuple[Refusal, ...] = ()
    warnings: tuple[Refusal, ...] = ()

    @property
    def sources(self) -> tuple[Source, ...]:
        """Every Markdown source, in the order in which a reader meets them."""
        landing = (self.landing,) if self.landing else ()
        ruled = (self.errata_pass,) if self.errata_pass else ()
        return (*landing, *self.findings, *self.kills, *self.errata, *ruled, *self.disclosures, *self.pages)

    def disclosure(self, kind: str) -> Source | None:
        """The source that says what was not run, what is withheld, or where a rule was bent."""
        return next((each for each in self.disclosures if each.kind == kind), None)

    @cached_property
    def ids(self) -> frozenset[str]:
        """The ids of all findings, kill criteria and errata."""
        return frozenset(each.id for each in (*self.findings, *self.kills, *self.errata))

    @cached_property
    def version(self) -> str:
        """The version that CITATION.cff states, empty where it states none."""
        file = self.root / CITATION
        text = file.read_bytes().decode("utf-8", "replace") if file.is_file() else ""
        stated = re.search(r"^version:[ \t]*['\"]?([^'\"\s]+)", text, re.MULTILINE)
        return stated[1] if stated else ""

    def citing(self, path: str) -> tuple[Source, ...]:
        """The sources whose front matter names a payload."""
        return self._citing.get(path, ())

    @cached_property
    def _citing(self) -> dict[str, tuple[Source, ...]]:
        citing: dict[str, tuple[Source, ...]] = {}
        for each in self.sources:
            for path in dict.fromkeys(each.payloads.values()):
                citing[path] = (*citing.get(path, ()), each)
        return citing


def load(root: Path) -> Record:
    """Read everything below a root; what is wrong with it is in refusals, nothing is raised for it."""
    root = root.absolute()
    refusals: list[Refusal] = []
    paths = list(_readable(refusals, _source_paths(root)))
    sources = _collect(refusals, paths, lambda path: source.read(root, path))
    names = sorted({*_readable(refusals, _payload_paths(root)), *_named(sources, refusals, root)})
    payloads = {each.path: each for each in _collect(refusals, names, lambda path: payload.read(root, path))}
    known_terms = _collect(refusals, [terms.PATH], lambda _: terms.read(root))
    listed = next(iter(_collect(refusals, [experiments.PATH], lambda _: experiments.read(root))), None)
    released = next(iter(_collect(refusals, [manifest.PATH], lambda _: manifest.read(root))), None)
    digests = {path: each.sha256 for path, each in payloads.items()}
    digests |= {experiments.PATH: listed.document.sha256} if listed else {}
    refusals.extend(checksums.check(root, digests))
    refusals.extend(critic.check(payloads, sources))
    refusals.extend(_id_refusals(sources))
    if not any(source.kind_of(path) in ("finding", "kill") for path in paths):
        message = "The folder holds no finding. Write one, or name another record with --root."
        refusals.append(Refusal("findings", 1, 1, "no-source", "", message))
    git = repository.read(root)
    standing = list(_standing(git, root, sources, payloads))
    strict = repository.in_ci()
    return Record(
        root=root,
        **_sorted(sources),
        terms=known_terms[0] if known_terms else (),
        payloads=payloads,
        experiments=listed,
        manifest=released,
        repository=git,
        refusals=(*refusals, *(standing if strict else ())),
        warnings=() if strict else tuple(standing),
    )


def revised(record: Record, changed: Source) -> Record:
    """The record with one source changed or added; what was refused of the others stands."""
    sources = {each.path: each for each in record.sources} | {changed.path: changed}
    refusals = [each for each in record.refusals if each.path != changed.path]
    _named([changed], refusals, record.root)
    refusals.extend(each for each in _id_refusals(sources.values()) if each.path == changed.path)
    return replace(record, **_sorted(sources.values()), refusals=tuple(refusals))


def _collect(refusals: list[Refusal], given: Iterable[Given], read: Callable[[Given], Got]) -> list[Got]:
    """Read everything that can be read, and keep what was refused."""
    got = []
    for each in given:
        try:
            got.append(read(each))
        except Refused as refused:
            refusals.extend(refused.refusals)
    return got


def _readable(refusals: list[Refusal], paths: Iterable[str]) -> Iterator[str]:
    """Paths that can be written in a page; a file name that is not UTF-8, or does not print, is refused."""
    for path in paths:
        if path.isprintable():
            yield path
        else:
            message = "The name of the file is not UTF-8, or does not print."
            refusals.append(Refusal(ascii(path)[1:-1], 1, 1, "bad-encoding", "", message))


def _source_paths(root: Path) -> list[str]:
    """Findings, kill criteria and errata by number, then templates and pages by name."""
    patterns = ("findings/*.md", "findings/errata/*.md", LANDING, "site_src/**/*.md")
    return [path for pattern in patterns for path in _names(root, pattern)]


def _names(root: Path, pattern: str) -> list[str]:
    """Paths below the root of the files that a pattern matches."""
    base = len(root.as_posix().rstrip("/")) + 1
    return sorted((str(file)[base:] for file in root.glob(pattern) if not file.is_dir()), key=_by_number)


def _by_number(path: str) -> tuple[str, int, str]:
    """Sort F-2 before F-10."""
    stem, _, number = path.rpartition(".")[0].rpartition("-")
    return (stem, int(number), path) if number.isdecimal() else (path, 0, path)


def _payload_paths(root: Path) -> list[str]:
    return [path for path in _names(root, "payloads/**/*.json") if path != experiments.PATH]


def _named(sources: Iterable[Source], refusals: list[Refusal], root: Path) -> set[str]:
    """Payload paths that sources name and that can be payloads; others are refused where they stand."""
    named = set()
    for each in sources:
        for alias, path in each.payloads.items():
            line, column = each.place(f"payloads.{alias}")
            parts = PurePosixPath(path).parts
            named_so = parts[:1] == ("payloads",) and ".." not in parts and path.endswith(".json")
            if not named_so or path == experiments.PATH:
                message = "A payload is a file payloads/<record>/<name>.json."
                refusals.append(Refusal(each.path, line, column, "unknown-payload", path, message))
            elif os.path.lexists(root / path):
                named.add(path)
            elif each.kind != "kill":
                message = "There is no such file. Run the command that makes it, or correct the path."
                refusals.append(Refusal(each.path, line, column, "bad-payload", path, message))
    return named


def _id_refusals(sources: Iterable[Source]) -> Iterator[Refusal]:
    """Two sources never share an id, and each file is named by its id."""
    first: dict[str, Source] = {}
    for each in sources:
        if each.kind not in ("finding", "kill", "erratum"):
            continue
        line, column = each.place("id")
        if each.id in first:
            message = f"{first[each.id].path} has this id already."
            yield Refusal(each.path, line, column, "duplicate-id", each.id, message)
        elif PurePosixPath(each.path).stem != each.id:
            message = f"The file of {each.id} is called {each.id}.md."
            yield Refusal(each.path, line, column, "bad-front-matter", each.id, message)
        first.setdefault(each.id, each)


def _standing(
    git: Repository, root: Path, sources: Iterable[Source], payloads: dict[str, Payload]
) -> Iterator[Refusal]:
    """What git does not keep as it stands here; one line for all where there is no repository."""
    if not git.in_git:
        yield Refusal(".", 1, 1, "untracked-source", "", "The record stands outside any git repository.")
        return
    beside = (terms.PATH, "mkdocs.yml", experiments.PATH, manifest.PATH)
    extra = [*(path for path in beside if (root / path).is_file()), *_names(root, f"{CHANGES}/*.md")]
    for path in [*(each.path for each in sources), *payloads, *extra]:
        if why := git.standing(path):
            yield Refusal(path, 1, 1, "untracked-source", path, f"The file {why}. Commit it.")


def _sorted(sources: Iterable[Source]) -> dict[str, Any]:
    """Sources by the field of a record that holds their kind."""
    sources = tuple(sources)
    return {
        "findings": _of_kind(sources, "finding"),
        "kills": _of_kind(sources, "kill"),
        "errata": _of_kind(sources, "erratum"),
        "pages": _of_kind(sources, "page"),
        "errata_pass": next(iter(_of_kind(sources, "pass")), None),
        "disclosures": tuple(each for kind in DISCLOSURES.values() for each in _of_kind(sources, kind)),
        "landing": next(iter(_of_kind(sources, "template")), None),
    }


def _of_kind(sources: Iterable[Source], kind: str) -> tuple[Source, ...]:
    return tuple(each for each in sources if each.kind == kind)
