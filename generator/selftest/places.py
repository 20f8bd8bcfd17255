"""Faults of places: digests, lines, spans, links, blocks of lines, copies, checksums, drawings."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from hashlib import sha256

from generator.record import checksums
from generator.render.script import KNOWN
from generator.selftest import exact
from generator.selftest.fault import Fault, made
from generator.selftest.mark import Mark
from generator.selftest.traces import on_page
from generator.selftest.workplace import SITE, Workplace

EXPRESSIONS = ("data-expression", "data-claim")
_PATH = re.compile(r'<path class="(?:bar|interval|value|length|band|line)\b[^"]*" d="[^"]*\.[^"]*"/>')
_DIGEST = re.compile(r"\b[0-9a-f]{64}\b")


def places(workplace: Workplace) -> Iterator[Fault]:
    """Every digest, line and span changed, and everything else that says where a number came from."""
    for name in ("data-sha256", "data-line", "data-span"):
        for mark in workplace.marks:
            if mark.is_leaf:
                yield _attribute(mark, name)
    for mark in workplace.marks:
        if mark.is_leaf:
            yield _link(mark)
    yield from _operands(workplace)
    yield from _blocks(workplace)
    yield from _printed(workplace)
    yield from _copies(workplace)
    yield from _checksums(workplace)
    yield from _scripts(workplace)
    yield from _programs(workplace)
    yield from _figures(workplace)


def _attribute(mark: Mark, name: str) -> Fault:
    old = mark.attributes[name]
    if name == "data-sha256":
        new = _other_digest(old)
        return on_page(
            "a digest", mark, f"{old} → {new}", "payload-changed", partial(mark.changed, name, new)
        )
    new = _next(old)
    kind = f"a {name.removeprefix('data-')}"
    return on_page(kind, mark, f"{old} → {new}", "place-mismatch", partial(mark.changed, name, new))


def _link(mark: Mark) -> Fault:
    old = mark.link
    path, _, fragment = old.rpartition("#")
    new = f"{path}#{_next(fragment)}"
    page = partial(mark.replaced, f'href="{old}"', f'href="{new}"')
    return on_page("the line of a link", mark, f"{old} → {new}", "place-mismatch", page)


def _operands(workplace: Workplace) -> Iterator[Fault]:
    """The digest of each field of each expression and claim."""
    for mark in workplace.marks:
        for name in EXPRESSIONS:
            tree = json.loads(mark.attributes.get(name, "[]"))
            for leaf in exact.leaves(tree):
                path, pointer, digest = leaf
                leaf[2] = _other_digest(digest)
                page = partial(mark.changed, name, json.dumps(tree))
                leaf[2] = digest
                what = f"{path}{pointer}"
                yield on_page("a digest in an expression", mark, what, "payload-changed", page)


def _blocks(workplace: Workplace) -> Iterator[Fault]:
    """The lines and the digest of each block that shows lines of a file, and of the numbers beside it."""
    shown = [mark for mark in workplace.marks if "data-verbatim" in mark.attributes]
    for mark in workplace.marks:
        for name in ("data-verbatim", "data-gutter"):
            if name in mark.attributes:
                yield _lines(workplace, mark, name)
    for mark in shown:
        old = mark.attributes["data-sha256"]
        page = partial(mark.changed, "data-sha256", _other_digest(old))
        yield on_page("the digest of a block", mark, old, "payload-changed", page)


def _lines(workplace: Workplace, mark: Mark, name: str) -> Fault:
    """One line more than the block shows, which its file has or has not."""
    old = mark.attributes[name]
    path, _, last = old.partition("#")[0], *old.rpartition("L")[1:]
    new = f"{old.removesuffix(last)}{_next(last)}"
    longer = name == "data-verbatim" and workplace.text(path).count("\n") > int(last)
    code = "display-mismatch" if longer else "place-mismatch"
    return on_page("the lines of a block", mark, f"{old} → {new}", code, partial(mark.changed, name, new))


def _printed(workplace: Workplace) -> Iterator[Fault]:
    """A digest that the page prints, changed in its mark and in its text."""
    for mark in workplace.marks:
        if mark.attributes.get("data-computed", "").startswith("sha256:"):
            old = mark.attributes["value"]
            new = _other_digest(old)
            page = partial(mark.exchanged, old, new)
            yield on_page("a digest that is printed", mark, f"{old} → {new}", "display-mismatch", page)


def _copies(workplace: Workplace) -> Iterator[Fault]:
    """A payload, and its copy in the site, with one space more."""
    for path in workplace.record.payloads:
        copy, text = SITE + path, workplace.text(path) + " "
        yield Fault("a changed copy of a payload", copy, 1, path, {"payload-changed": 1}, made({copy: text}))
    for path in workplace.record.payloads:
        pages = {each.path: each.page for each in workplace.marks if each.attributes.get("data-src") == path}
        changes = {path: workplace.text(path) + " ", **pages}
        due = {"payload-changed": max(1, len(pages))}
        yield Fault("a payload changed after the build", path, 1, path, due, made(changes))
    copy = SITE + checksums.PATH
    if (workplace.root / copy).is_file():
        text = workplace.text(copy) + "\n"
        yield Fault(
            "a changed copy of the checksums", copy, 1, copy, {"payload-changed": 1}, made({copy: text})
        )


def _checksums(workplace: Workplace) -> Iterator[Fault]:
    """Each digest of the list of checksums."""
    if not (workplace.root / checksums.PATH).is_file():
        return
    text = workplace.text(checksums.PATH)
    for found in _DIGEST.finditer(text):
        changed = text[: found.start()] + _other_digest(found[0]) + text[found.end() :]
        line = text.count("\n", 0, found.start()) + 1
        due = {"payload-changed": 1}
        yield Fault("a checksum", checksums.PATH, line, found[0], due, made({checksums.PATH: changed}))


def _scripts(workplace: Workplace) -> Iterator[Fault]:
    """A byte of each script that carries a payload, words after it, and each digest that a script knows."""
    due = {"payload-changed": 1}
    for what, spoil in {"a changed byte": _other_byte, "words after it": _words_after}.items():
        for path in workplace.record.payloads:
            script = f"{SITE}{path}.js"
            spoiled = made({script: spoil(workplace.text(script))})
            yield Fault(f"a script that carries a payload, {what}", script, 1, path, due, spoiled)
    text = workplace.text(SITE + KNOWN)
    for found in _DIGEST.finditer(text, text.index('"present"')):
        changed = text[: found.start()] + _other_digest(found[0]) + text[found.end() :]
        yield Fault(
            "a digest that a script knows", SITE + KNOWN, 1, found[0], due, made({SITE + KNOWN: changed})
        )


def _other_byte(script: str) -> str:
    *_, last = re.finditer("[0-9]", script)
    return script[: last.start()] + _next(last[0])[-1] + script[last.end() :]


def _words_after(script: str) -> str:
    return f"{script}document.title;\n"


def _programs(workplace: Workplace) -> Iterator[Fault]:
    """A line more in each script and map outside the payloads, and a program that nobody knows."""
    due = {"unknown-file": 1}
    for path in workplace.programs:
        changed = made({path: workplace.text(path) + "\n"})
        yield Fault("a changed program of the site", path, 1, path, due, changed)
    for name in ("selftest.js", "selftest.zip"):
        path = SITE + name
        yield Fault("a program that nobody knows", path, 1, name, due, made({path: "document.title;\n"}))


def _figures(workplace: Workplace) -> Iterator[Fault]:
    """Each path of each figure moved, doubled or taken away: dots, intervals, bars, lines."""
    due = {"place-mismatch": 1}
    for what, spoil in {"a moved path": _moved, "a path twice": _twice, "a path taken away": _none}.items():
        for page in sorted(workplace.drawn):
            for found in _PATH.finditer(workplace.text(page)):
                line = found.string.count("\n", 0, found.start()) + 1
                redrawn = partial(_redrawn, page, found, spoil)
                yield Fault(f"a figure, {what}", page, line, found[0], due, redrawn)


def _redrawn(page: str, found: re.Match[str], spoil: Callable[[str], str]) -> dict[str, str]:
    """The page with one path of a figure spoiled."""
    text = found.string
    return {page: text[: found.start()] + spoil(found[0]) + text[found.end() :]}


def _moved(path: str) -> str:
    """The path with its first place a tenth of a part away."""
    return re.sub(r"[0-9]+\.[0-9]", _tenth, path, count=1)


def _tenth(place: re.Match[str]) -> str:
    return f"{place[0][:-1]}{(int(place[0][-1]) + 1) % 10}"


def _twice(path: str) -> str:
    return path * 2


def _none(path: str) -> str:
    del path
    return ""


def digest(text: str) -> str:
    """The digest of a file with this text."""
    return sha256(text.encode("utf-8")).hexdigest()


def _other_digest(digest: str) -> str:
    """The same digest with its first digit changed."""
    return ("1" if digest[0] == "0" else "0") + digest[1:]


def _next(written: str) -> str:
    """Every number of a place, one higher."""
    return re.sub("[0-9]+", lambda found: str(int(found[0]) + 1), written)
