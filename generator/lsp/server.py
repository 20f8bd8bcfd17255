"""The language server: a text comes in, what is known of it goes out.

This module and `document` are the one door to pygls and lsprotocol.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path
from pygls.workspace import PositionCodec

from generator.lsp import binding, completion, origin
from generator.lsp.document import BINDABLE, Document
from generator.record.root import find_root
from generator.record.source import Source
from generator.render import desk
from generator.render.desk import Desk

PATIENCE = 0.15
"""Seconds without a further key after which a text is judged."""

TRIGGERS = (".", "|", "{", "%", "-", ":", "/")
"""Characters after which an editor asks what can follow."""

_KINDS = {
    "field": types.CompletionItemKind.Field,
    "form": types.CompletionItemKind.Function,
    "function": types.CompletionItemKind.Function,
    "tag": types.CompletionItemKind.Keyword,
    "alias": types.CompletionItemKind.Variable,
    "payload": types.CompletionItemKind.File,
    "key": types.CompletionItemKind.Property,
    "value": types.CompletionItemKind.EnumMember,
    "name": types.CompletionItemKind.Text,
    "id": types.CompletionItemKind.Reference,
}


class Server(LanguageServer):
    """Keeps a desk for each record whose sources are open."""

    def __init__(self, root: Path | None) -> None:
        super().__init__("findings", version("specdec-sidechannels"))
        self.given = root
        self.desks: dict[Path, Desk] = {}
        self.shown: dict[Path, set[str]] = {}
        self.reading = asyncio.Lock()

    def root(self, uri: str) -> Path | None:
        """The record that a file belongs to."""
        file = _file(uri)
        found = self.given or find_root(file.parent)
        return found if found and file.is_relative_to(found) else None

    def opened(self, uri: str) -> Opened | None:
        """An open document of a record that was read; None for any other."""
        root = self.root(uri)
        if root is None or root not in self.desks:
            return None
        held = self.workspace.get_text_document(uri)
        path = _file(uri).relative_to(root).as_posix()
        return Opened(uri, root, path, self.desks[root], Document(held.source, held.position_codec))


@dataclass(frozen=True)
class Opened:
    """A document that an editor holds, and the record it belongs to."""

    uri: str
    root: Path
    path: str
    desk: Desk
    document: Document

    @property
    def source(self) -> Source | None:
        """The document as a source, None where it is none."""
        readable = self.path.endswith((".md", ".md.j2"))
        return desk.source(self.desk, self.path, self.document.text) if readable else None

    def diagnostics(self) -> list[types.Diagnostic]:
        """What stands against the file where it is saved, against the text where it is being typed."""
        file, text = self.root / self.path, self.document.text
        saved = file.is_file() and file.read_bytes() == text.encode()
        if saved or not self.path.endswith((".md", ".md.j2")):
            return self.document.diagnostics(desk.saved(self.desk, self.path))
        return self.document.diagnostics(desk.typed(self.desk, self.path, text))


def serve(root: Path | None) -> None:
    """Answer an editor over standard input and output until it hangs up."""
    server = Server(root)
    _listen(server)
    _answer(server)
    server.start_io()


def _listen(server: Server) -> None:
    """What an editor tells of its documents and files."""

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    async def opened(params: types.DidOpenTextDocumentParams) -> None:
        root = server.root(params.text_document.uri)
        if root and root not in server.desks:
            await _read(server, root)
        else:
            _publish(server, params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def changed(params: types.DidChangeTextDocumentParams) -> None:
        await asyncio.sleep(PATIENCE)
        held = server.workspace.get_text_document(params.text_document.uri)
        if held.version == params.text_document.version:
            _publish(server, params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    async def saved(params: types.DidSaveTextDocumentParams) -> None:
        if root := server.root(params.text_document.uri):
            await _read(server, root)

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    async def written(params: types.DidChangeWatchedFilesParams) -> None:
        touched = {server.root(each.uri) for each in params.changes}
        for root in [each for each in server.desks if each in touched]:
            await _read(server, root)


def _answer(server: Server) -> None:
    """What an editor asks."""

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def hover(params: types.HoverParams) -> types.Hover | None:
        return _hover(server.opened(params.text_document.uri), params.position)

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    def definition(params: types.DefinitionParams) -> types.Location | None:
        return _definition(server.opened(params.text_document.uri), params.position)

    @server.feature(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=TRIGGERS))
    def complete(params: types.CompletionParams) -> list[types.CompletionItem]:
        return list(_complete(server.opened(params.text_document.uri), params.position))

    quick = types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix])

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, quick)
    def actions(params: types.CodeActionParams) -> list[types.CodeAction]:
        held = server.opened(params.text_document.uri)
        meant = [each for each in params.context.diagnostics if each.code in BINDABLE]
        return [action for each in meant for action in _bindings(held, each)]


async def _read(server: Server, root: Path) -> None:
    """Read a record again, beside the conversation, and tell what stands against each of its files."""
    async with server.reading:
        read = await asyncio.get_running_loop().run_in_executor(None, desk.read, root)
    server.desks[root] = read
    held = {_file(uri): uri for uri in server.workspace.text_documents}
    refused = {each.path for each in (*read.report.refusals, *read.report.warnings)}
    for path in sorted(refused | server.shown.get(root, set())):
        file = root / path
        if file not in held and file.is_file():
            document = Document(_text(file), PositionCodec())
            _tell(server, _uri(file), document.diagnostics(desk.saved(read, path)))
    server.shown[root] = refused
    for uri in held.values():
        if server.root(uri) == root:
            _publish(server, uri)


def _publish(server: Server, uri: str) -> None:
    """Tell what stands against an open document."""
    if held := server.opened(uri):
        _tell(server, uri, held.diagnostics())


def _tell(server: Server, uri: str, found: list[types.Diagnostic]) -> None:
    server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri=uri, diagnostics=found))


def _hover(held: Opened | None, position: types.Position) -> types.Hover | None:
    source = held.source if held else None
    if held is None or source is None:
        return None
    document = held.document
    told = origin.tell(held.desk, source, document.text, document.offset(position))
    if told is None:
        return None
    text = types.MarkupContent(types.MarkupKind.PlainText, "\n".join(told.lines))
    return types.Hover(contents=text, range=document.range(told.start, told.end))


def _definition(held: Opened | None, position: types.Position) -> types.Location | None:
    source = held.source if held else None
    if held is None or source is None:
        return None
    found = origin.place(held.desk, source, held.document.text, held.document.offset(position))
    if found is None:
        return None
    file = held.root / found.path
    span = Document(_text(file), PositionCodec()).at(found.line, found.column, found.length)
    return types.Location(uri=_uri(file), range=span)


def _complete(held: Opened | None, position: types.Position) -> Iterator[types.CompletionItem]:
    source = held.source if held else None
    if held is None or source is None:
        return
    document = held.document
    offset = document.offset(position)
    for each in completion.offers(held.desk, source, document.text, offset):
        yield types.CompletionItem(
            label=each.label,
            kind=_KINDS[each.kind],
            detail=each.detail,
            filter_text=each.label,
            text_edit=types.TextEdit(document.range(min(each.start, offset), offset), each.text),
        )


def _bindings(held: Opened | None, diagnostic: types.Diagnostic) -> Iterator[types.CodeAction]:
    """One action for each field that could be meant; none is preferred: no editor takes one unasked."""
    source = held.source if held else None
    if held is None or source is None:
        return
    document = held.document
    number = binding.typed(document.text, document.offset(diagnostic.range.start))
    if number is None:
        return
    for each in binding.candidates(held.desk, source, document.text, number):
        edits = [types.TextEdit(document.range(number.start, number.end), each.expression)]
        if declared := binding.declaration(source, document.text, each):
            edits.append(types.TextEdit(document.range(declared[0], declared[0]), declared[1]))
        yield types.CodeAction(
            title=each.title,
            kind=types.CodeActionKind.QuickFix,
            diagnostics=[diagnostic],
            edit=types.WorkspaceEdit(changes={held.uri: list(edits)}),
        )


def _file(uri: str) -> Path:
    return Path(to_fs_path(uri) or "").absolute()


def _uri(file: Path) -> str:
    return from_fs_path(str(file)) or ""


def _text(file: Path) -> str:
    return file.read_bytes().decode("utf-8", "replace")
