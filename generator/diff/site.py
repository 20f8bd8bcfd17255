"""Reads one side of a comparison from a built site: the marks of its finished pages. The one door to lxml."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from lxml import html

from generator.diff.entry import Entry, Place, Side
from generator.number import prefix as prefixes
from generator.number.number import Prefix
from generator.report.refusal import Refusal, Refused

_EXACT = re.compile(r"-?[0-9]+(?:/[1-9][0-9]*|(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?)")
_UNSEEN = ("404.html",)
STAMP = "read-at"
"""The class of the line at the end of a page that names its release, which changes with each release."""


def read(folder: Path, pages: Iterable[str] | None = None, name: str = "") -> Side:
    """Every mark of a site, or of some of its pages; raises Refused at a page that cannot be read."""
    wanted = list_pages(folder) if pages is None else list(pages)
    if not wanted and pages is None:
        raise Refused([Refusal(name or folder.as_posix(), 1, 1, "bad-page", "", "The folder holds no page.")])
    refusals: list[Refusal] = []
    entries: list[Entry] = []
    for page in wanted:
        try:
            entries += _page(page, (folder / page).read_bytes())
        except (OSError, ValueError, KeyError, RecursionError, html.etree.LxmlError) as error:
            where = f"{name or folder.as_posix()}/{page}"
            why = f"a mark lacks {error}" if isinstance(error, KeyError) else str(error)
            message = f"The page cannot be read: {why}. Build the site again."
            refusals.append(Refusal(where, 1, 1, "bad-page", "", message))
    if refusals:
        raise Refused(refusals)
    return Side(name or folder.as_posix(), tuple(entries))


def list_pages(folder: Path) -> list[str]:
    """The pages of a site by their addresses."""
    found = (file.relative_to(folder).as_posix() for file in folder.rglob("*.html") if file.is_file())
    return sorted(page for page in found if page not in _UNSEEN)


def _page(page: str, data: bytes) -> Iterator[Entry]:
    if not data.strip():
        raise ValueError("it is empty")
    document = html.document_fromstring(data, parser=html.HTMLParser(encoding="utf-8"))
    for element in document.iter("data", "span"):
        classes = element.get("class", "").split()
        if _is_stamp(element):
            continue
        if element.tag == "data":
            yield _number(page, element, classes)
        elif "badge" in classes:
            words = _text(element)
            subject = next((each for each in classes if each not in ("claim", "badge")), "badge")
            yield Entry("judgement", page, _part(page, element), subject, words, words)
        elif written := element.get("data-claim"):
            condition = _expression(written)
            places = tuple(Place(*each) for each in prefixes.leaves(condition))
            subject = prefixes.infix(condition)
            yield Entry("claim", page, _part(page, element), subject, _text(element), "true", places=places)


def _is_stamp(element: html.HtmlElement) -> bool:
    parent = element.getparent()
    return parent is not None and parent.get("class") == STAMP


def _number(page: str, element: html.HtmlElement, classes: list[str]) -> Entry:
    shown, value, part = _text(element), element.attrib["value"], _part(page, element)
    if "computed" in classes:
        return Entry("number", page, part, element.attrib["data-computed"], shown, value, "computed")
    form = element.attrib["data-format"]
    if "derived" in classes:
        expression = _expression(element.attrib["data-expression"])
        _check_exact(value)
        places = tuple(Place(*each) for each in prefixes.leaves(expression))
        return Entry("number", page, part, prefixes.infix(expression), shown, value, form, places)
    if "text" in classes:
        form = "text"
    else:
        _check_exact(value)
    path, pointer, line = (element.attrib[f"data-{key}"] for key in ("src", "ptr", "line"))
    place = Place(path, pointer, element.attrib["data-sha256"], int(line))
    return Entry("number", page, part, f"{path}#{pointer}", shown, value, form, (place,))


def _check_exact(value: str) -> None:
    if not _EXACT.fullmatch(value):
        raise ValueError(f"{value[:40]} is no exact number")


def _expression(written: str) -> Prefix:
    """The expression of a mark; raises ValueError where it is none."""
    read = json.loads(written)
    if not _is_expression(read):
        raise ValueError(f"{written[:40]} is no expression")
    checked: Prefix = read
    return checked


def _is_expression(read: object) -> bool:
    """Whether something is a literal, a field with its digest, or an operation on such."""
    if isinstance(read, str):
        return True
    if not isinstance(read, list) or len(read) < 2 or not isinstance(read[0], str):
        return False
    if prefixes.is_leaf(read):
        return len(read) == 3 and all(isinstance(each, str) for each in read)
    return all(_is_expression(each) for each in read[1:])


def _text(element: html.HtmlElement) -> str:
    return " ".join(str(element.text_content()).split())


def _part(page: str, element: html.HtmlElement) -> str:
    """The statement around a mark, or the title, the regime, the entry of a list that it stands in."""
    for above in element.iterancestors():
        classes = above.get("class", "").split()
        if statement := above.get("data-statement"):
            own = above.get("id", "").removesuffix(f"-{statement}")
            return statement if page == f"findings/{own}.html" else str(above.get("id"))
        if "entry" in classes:
            return _owner(above)
        if "collected" in classes:
            return str(above.get("id", ""))
        if "finding-header" in classes:
            return _heading(element)
    return ""


def _heading(element: html.HtmlElement) -> str:
    for above in element.iterancestors():
        if above.tag == "h1":
            return "title"
        if "regime" in above.get("class", "").split():
            return "regime"
    return ""


def _owner(entry: html.HtmlElement) -> str:
    """The id that an entry of a list is about, or the name of its payload."""
    marks = entry.iter("a", "data")
    named = (each for each in marks if each.get("class") == "ref" or each.get("data-ptr") == "/name")
    return next((_text(each) for each in named), "")
