"""Reads one finished page token by token, proves its marks, and judges every other text of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from html import unescape

from generator.audit import drawing, mark, note, policy, published, reported, rule, surface, verbatim
from generator.audit.address import resolve
from generator.audit.computed import NUMBERS
from generator.audit.coverage import RULES
from generator.audit.fault import Crowded, Fault, Placed
from generator.audit.flow import NUMBER, TEXT, Flow, Piece, Stretch
from generator.audit.mark import Proof
from generator.audit.reading import CACHE_SIZE, Context, Deferred, Link, Reading
from generator.audit.repetition import Row
from generator.audit.texts import Around, Texts
from generator.audit.tokens import BLOCKS, QUIET, RUN, TOKEN, Malformed, attributes, tokens

_MARK = re.compile(r"(?:<a(?P<link>\s[^<>]*)>(?P<linked>[^<]*)</a>|(?P<bare>[^<]*))</data\s*>", re.IGNORECASE)
_HREF = re.compile(r"\s+href=\"([^\"]*)\"\s*")
_REFERENCE = re.compile(r"([^<]*)</a\s*>", re.IGNORECASE)
_ATTENDED = (
    frozenset({"data", "meta", "base", "img", "link", "source", "image", "use", "ol"}) | surface.VALUED
)
LINE_ANCHOR = re.compile(r"L[0-9]+")
_CODE = frozenset({"code", "pre", "kbd", "samp"})
_COUNTED = _CODE | {"nav", "h1"}
_NOTHING: Mapping[str, str] = {}
_CLASSES = re.compile(r"claim|\bci\b|\bref\b|footnote|illustration|data-")
_FINDING = re.compile(r"findings/(F-[0-9]+)\.html")
_ANCHORED = re.compile(r"(?i)\b(?:id|name)\s*=\s*[\"']?L[0-9]")

RUN_LIMIT = 4000
"""Characters of the longest run that is remembered."""

Token = re.Match[str]


@lru_cache(maxsize=50_000)
def _attended(name: str, written: str) -> bool:
    """Whether the attributes of a tag as written can matter; themes repeat theirs on every page."""
    return (
        name in _ATTENDED
        or bool(_CLASSES.search(written))
        or bool(surface.SPOKEN_HINT(written))
        or bool(_ANCHORED.search(written))
    )


def _own(path: str) -> str:
    """The finding that a page is about, empty for any other page."""
    found = _FINDING.fullmatch(path)
    return found[1] if found else ""


class Reader:
    """Walks the tokens of one page."""

    def __init__(self, path: str, shown_path: str, html: str, context: Context) -> None:
        self.html = html
        self.context = context
        self.texts = Texts(path, shown_path, html, context)
        self.reading = self.texts.reading
        self._flow = Flow()
        self._skip = 0
        self._code = self._nav = self._heading = 0
        self._illustration = False
        self._spans: list[Callable[[], None] | None] = []
        self._proofs: list[Proof] = []
        self._published: dict[str, dict[str, object]] = {}

    def read(self) -> Reading:
        """Judge the whole page; never raises."""
        try:
            self._whole()
        except Crowded as crowded:
            self.texts.crowded(str(crowded))
        return self.reading

    def _whole(self) -> None:
        try:
            self._walk(0, len(self.html))
        except Malformed as error:
            self.texts.refuse(error.offset, "bad-page", str(error))
        self._flush()
        self._settle_linked()
        self.reading.published = published.digest(self._published)
        for found in self._further():
            self.texts.refuse(found.offset, found.code, found.message)

    def _further(self) -> Iterator[Placed]:
        """What holds between elements: drawings and numbers, errata and statements, outcomes and rules."""
        sources = self.context.sources
        yield from policy.judge(self.html)
        yield from drawing.judge(self.html, self.context.evidence)
        yield from reported.judge(self.html, self.context.evidence)
        yield from rule.statuses(self.html, _own(self.reading.path), sources.statuses)
        yield from note.judge(self.reading.path, self.html, sources.errata, sources.corrections)
        try:
            yield from rule.judge(self.html, sources.outcomes if "badge outcome" in self.html else {})
        except Fault as fault:
            yield Placed(0, fault.code, fault.message)

    def _walk(self, start: int, end: int) -> None:
        """Run by run; a run that left no trace on another page leaves none here."""
        repetition, row = self.context.repetition, Row()
        while start < end:
            stop = self._stop(start, end)
            plain = stop - start < RUN_LIMIT and self._is_plain()
            source = self.html[start:stop] if plain else ""
            if plain and source in repetition.runs:
                length, depth = repetition.ahead(source, self.html, start)
                if length > stop - start:
                    row.end(self.html, start, repetition)
                else:
                    row.add(source, start, depth)
                self._nav = max(0, self._nav + depth)
                start += length
                continue
            row.end(self.html, start, repetition)
            before, depth = self.reading.size(), self._nav
            self._read(start, stop)
            self._flush()
            if plain and self._is_plain() and before == self.reading.size():
                repetition.remember(source, self._nav - depth)
            start = max(stop, self._skip)
        row.end(self.html, end, repetition)

    def _stop(self, start: int, end: int) -> int:
        """Where the run that starts there ends; an element of raw text is a run of its own."""
        run = RUN.match(self.html, start, end)
        if run and run.end() > start:
            return run.end()
        raw = TOKEN.match(self.html, start, end)
        return raw.end() if raw else end

    def _flush(self, *, echo: bool = False) -> None:
        """Judge the run that ends here."""
        flow, self._flow = self._flow, Flow()
        if flow.pieces:
            self.texts.run(flow, self._around(echo=echo))

    def _around(self, *, echo: bool = False) -> Around:
        return Around(echo or self._nav > 0, self._heading > 0, self._illustration)

    def _is_plain(self) -> bool:
        """Whether nothing around a run can change what becomes of it."""
        return not (self._code or self._heading or self._illustration or self._spans)

    def _read(self, start: int, end: int) -> None:
        """Every token of a run; what a mark has covered is skipped."""
        while start < end:
            start = self._read_on(start, end)

    def _read_on(self, start: int, end: int) -> int:
        """Tokens up to the end or to the next whole mark; where to go on."""
        for token in tokens(self.html, start, end):
            kind = token.lastgroup
            if kind == "text":
                self._text(token[0], token.start())
            elif kind == "attributes":
                self._open(token["name"].lower(), token["attributes"], token)
            elif kind == "end":
                self._close(token["end"].lower())
            elif kind == "content":
                self._raw(token["raw"].lower(), token)
            if self._skip > token.end():
                return self._skip
        return end

    def _text(self, source: str, start: int) -> None:
        text = unescape(source) if "&" in source else source
        self._flow.add(Piece(text, start, source, code=self._code > 0))

    def _settle_linked(self) -> None:
        """Values of the linked data are those of the numbers that they name."""
        for offset, name, value in self.texts.linked:
            if self._published.get(name, {}).get("shown") != value:
                message = f'"{value[:40]}" is not what this page shows at #{name[:80]}.'
                self.texts.refuse(offset, "untraced-number", message)

    # Elements

    def _open(self, name: str, written: str, token: Token) -> None:
        if name in BLOCKS:
            self._flush()
        if name == "data" and self._mark(attributes(written), token):
            return
        given = (
            attributes(written)
            if written and (_attended(name, written) or (self._nav and name == "a"))
            else _NOTHING
        )
        if given:
            self._attend(name, given, token)
        elif name == "span":
            self._spans.append(None)
        elif name == "div":
            self._illustration = False
        if name in _COUNTED:
            self._depth(name, 1)

    def _attend(self, name: str, given: Mapping[str, str], token: Token) -> None:
        """An element whose attributes matter."""
        self.texts.spoken(name, given, token.start(), self._around())
        self._misleads(name, given, token)
        if name == "span":
            self._span(given, token)
        elif name == "div" or name == "pre":
            self._illustration = "illustration" in given.get("class", "").split() or (
                name == "pre" and self._illustration
            )
            if name == "pre" and ("data-verbatim" in given or "data-gutter" in given):
                self._verbatim(given, token)
        elif name == "a":
            self._anchor(given, token)

    def _close(self, name: str) -> None:
        if name in BLOCKS:
            self._flush()
        if name in _COUNTED:
            self._depth(name, -1)
        elif name == "span" and self._spans:
            close = self._spans.pop()
            if close:
                close()
        elif name == "div":
            self._illustration = False

    def _depth(self, name: str, step: int) -> None:
        if name in _CODE:
            self._code = max(0, self._code + step)
        elif name == "nav":
            self._nav = max(0, self._nav + step)
        else:
            self._heading = max(0, self._heading + step)

    def _raw(self, name: str, token: Token) -> None:
        """Elements whose content is text to the browser."""
        if name not in QUIET:
            self._flush()
        content, start = token["content"], token.start("content")
        given = attributes(token["rawattributes"])
        self.texts.spoken(name, given, token.start(), self._around())
        if name == "script" and given.get("type", "").lower() == "application/ld+json":
            self.texts.linked_data(content, start)
        elif name == "style":
            self.texts.style(content, start)
        elif name in ("title", "textarea"):
            self._flow.add(Piece(unescape(content), start, content))
            self._flush(echo=name == "title")
        elif name == "noscript":
            outer, self._flow = self._flow, Flow()
            self._walk(start, token.end("content"))
            self._flow = outer
        elif name == "iframe" and content.strip():
            self.texts.refuse(start, "bad-page", "The content of an iframe element cannot be read as text.")

    def _misleads(self, name: str, given: Mapping[str, str], token: Token) -> None:
        """What would make a link land elsewhere, or show a picture that no text stands for."""
        if LINE_ANCHOR.fullmatch(given.get("id", given.get("name", ""))):
            message = "An anchor of this form belongs to a line of a verbatim block."
            self.texts.refuse(token.start(), "place-mismatch", message)
        address = given.get("href", given.get("src", "")).lstrip().lower()
        if name == "base":
            self.texts.refuse(token.start(), "bad-page", "A base address makes every link land elsewhere.")
        elif address.startswith("data:") and ("svg" in address[:40] or name == "link"):
            self.texts.refuse(token.start(), "bad-page", "A drawing inside an address is no text.")
        elif name == "ol" and ("reversed" in given or given.get("start", "1") != "1"):
            self.texts.refuse(
                token.start(), "untraced-number", "A list that does not count from one prints a number."
            )

    # Marks

    def _mark(self, given: Mapping[str, str], token: Token) -> bool:
        """A data element is one whole mark, one link or none and its text; False where it is no mark."""
        if "num" not in given.get("class", "").split():
            return False
        shape = _MARK.match(self.html, token.end())
        if not shape:
            message = "A mark holds one link with its text and nothing else; this data element is no trace."
            self.texts.refuse(token.start(), "untraced-number", message)
            return False
        self._skip = shape.end()
        text = unescape(shape["linked"] if shape["link"] is not None else shape["bare"])
        proof = self._prove(given, text, token["attributes"], shape, token.start())
        self.reading.counts[proof.kind] += 1
        if proof.kind == "text":
            self.reading.exempt["quoted text", given["data-src"]] += 1
        self._proofs.append(proof)
        if "id" in given and proof.kind in ("number", "derived"):
            self._published[given["id"]] = published.entry(given, text)
        stands = TEXT if proof.kind == "text" else NUMBER
        self._flow.add(Piece(stands, token.start(), stands, shown=text or " ", percent=proof.percent))
        return True

    def _prove(self, given: Mapping[str, str], text: str, written: str, shape: Token, offset: int) -> Proof:
        """What the mark is; a refusal where it is not what it says."""
        rule = given.get("data-computed", "")
        if set(given) == set(mark.COMPUTED) and (rule == NUMBERS or rule.partition(":")[0] in RULES):
            self.reading.deferred.append(Deferred(offset, rule, given["value"], text))
            return Proof("computed")
        try:
            proof = self._proof(given, text, written)
            self._target(proof, shape, offset, text)
        except Fault as fault:
            self.texts.refuse(offset, fault.code, fault.message)
            return Proof("refused")
        return proof

    def _proof(self, given: Mapping[str, str], text: str, written: str) -> Proof:
        """The proof of a mark; that of an equal mark holds where the file has the same bytes."""
        known = self.context.proved.get((written, text))
        if known:
            self.context.evidence.hashed(given["data-src"], given["data-sha256"])
            return known
        proof = mark.prove(given, text, self.context.evidence, self.context.sources.compute)
        if proof.kind in ("number", "text") and len(self.context.proved) < CACHE_SIZE:
            self.context.proved[written, text] = proof
        return proof

    def _target(self, proof: Proof, shape: Token, offset: int, text: str) -> None:
        """The link of a mark must lead to the line that the number came from."""
        if not proof.lands:
            return
        if shape["link"] is None:
            raise Fault("place-mismatch", "The number has no link to its line.")
        href = _HREF.fullmatch(shape["link"])
        if not href:
            raise Fault("untraced-number", "The link of a mark has an address and nothing else.")
        target, fragment = resolve(self.reading.path, unescape(href[1]))
        self.reading.links.append(Link(offset, target, fragment, proof.lands, text))

    def _span(self, given: Mapping[str, str], token: Token) -> None:
        classes = given.get("class", "").split()
        if "claim" in classes or "data-claim" in given:
            self._spans.append(self._claim(given, token))
        elif "ci" in classes:
            first, start = len(self._proofs), self._flow.size
            self._spans.append(lambda: self._interval(first, start, token.start()))
        else:
            self._spans.append(None)

    def _claim(self, given: Mapping[str, str], token: Token) -> Callable[[], None] | None:
        try:
            proof = mark.claim(given.get("data-claim", ""), self.context.evidence)
        except Fault as fault:
            self.texts.refuse(token.start(), fault.code, fault.message)
            return None
        self.reading.counts["claim"] += 1
        flow, start = self._flow, self._flow.size
        return lambda: flow.claims.append(Stretch(start, flow.size, proof.constants))

    def _interval(self, first: int, start: int, offset: int) -> None:
        proofs = self._proofs[first:]
        if any(proof.kind == "refused" for proof in proofs):
            return
        try:
            mark.interval(proofs, self._flow.text[start:])
        except Fault as fault:
            self.texts.refuse(offset, fault.code, fault.message)

    def _verbatim(self, given: Mapping[str, str], token: Token) -> None:
        """Lines of a file, or the numbers of its lines."""
        self._skip = len(self.html)
        try:
            if "data-verbatim" in given:
                lines = verbatim.block(self.html, token.end(), given, self.context.evidence)
                self.reading.lines.append(lines)
                self.reading.exempt["verbatim lines", lines.path] += lines.last - lines.first + 1
            else:
                lines = verbatim.gutter(self.html, token.end(), given)
                self.reading.exempt["line numbers", lines.path] += lines.last - lines.first + 1
            self._skip = lines.end
        except Fault as fault:
            self._skip = verbatim.after(self.html, token.end())  # one refusal, not one a number
            self.texts.refuse(token.start(), fault.code, fault.message)
        except Malformed as error:
            self._skip = token.end()
            self.texts.refuse(error.offset, "bad-page", str(error))

    def _anchor(self, given: Mapping[str, str], token: Token) -> None:
        """Links between pages: ids must lead to what they name; renderers number footnotes."""
        shape = _REFERENCE.match(self.html, token.end())
        if self._nav and given.get("href"):
            self._flow.targets.append(resolve(self.reading.path, given["href"])[0])
        if shape and surface.is_footnote_mark(given) and shape[1].isdecimal():
            self.reading.exempt["footnote", "mark"] += 1
            self._skip = shape.end()
            self._flow.add(Piece(TEXT, token.start(), TEXT, shown=shape[1]))
        elif shape and "ref" in given.get("class", "").split():
            target, fragment = resolve(self.reading.path, given.get("href", ""))
            self.reading.links.append(Link(token.start(), target, fragment, frozenset(), unescape(shape[1])))
