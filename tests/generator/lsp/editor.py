"""An editor of the language server: another process, spoken to over its standard input and output."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from lsprotocol import types
from pygls.lsp.client import LanguageClient

Got = TypeVar("Got")
ROOT = Path(__file__).parents[3]


class Editor(LanguageClient):
    """A client that keeps what it is told, and waits for what it has not been told yet."""

    def __init__(self, root: Path) -> None:
        super().__init__("test", "1")
        self.root = root
        self.texts: dict[str, str] = {}
        self.versions: dict[str, int] = {}
        self.told: asyncio.Queue[types.PublishDiagnosticsParams] = asyncio.Queue()

        @self.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def tell(params: types.PublishDiagnosticsParams) -> None:
            self.told.put_nowait(params)

    def uri(self, path: str) -> str:
        return (self.root / path).as_uri()

    async def begin(self) -> types.InitializeResult:
        await self.start_io(sys.executable, "-m", "generator", "lsp", cwd=ROOT)
        found = await self.initialize_async(
            types.InitializeParams(capabilities=types.ClientCapabilities(), root_uri=self.root.as_uri())
        )
        self.initialized(types.InitializedParams())
        return found

    async def end(self) -> None:
        await self.shutdown_async(None)
        self.exit(None)
        await self.stop()

    async def diagnostics(self, path: str) -> list[types.Diagnostic]:
        """The next that is told of a file; what is told of others is put aside."""
        while True:
            found = await asyncio.wait_for(self.told.get(), 60)
            if found.uri == self.uri(path):
                return list(found.diagnostics)

    async def open(self, path: str) -> list[types.Diagnostic]:
        text = (self.root / path).read_text("utf-8")
        self.texts[path], self.versions[path] = text, 1
        item = types.TextDocumentItem(self.uri(path), "markdown", 1, text)
        self.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return await self.diagnostics(path)

    async def type(self, path: str, old: str, new: str) -> list[types.Diagnostic]:
        """Replace a text that stands there once, by its range alone."""
        text = self.texts[path]
        assert text.count(old) == 1
        start = text.index(old)
        span = types.Range(self.position(path, start), self.position(path, start + len(old)))
        self.versions[path] += 1
        self.texts[path] = text.replace(old, new)
        self.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(self.versions[path], self.uri(path)),
                [types.TextDocumentContentChangePartial(span, new)],
            )
        )
        return await self.diagnostics(path)

    def position(self, path: str, offset: int) -> types.Position:
        """The position of an offset, in UTF-16 units as the protocol wants them."""
        before = self.texts[path][:offset]
        line = before.rpartition("\n")[2]
        return types.Position(before.count("\n"), len(line.encode("utf-16-le")) // 2)

    def shown(self, path: str, span: types.Range) -> str:
        """The text of a range of an open document."""
        lines = self.texts[path].split("\n")
        line = lines[span.start.line].encode("utf-16-le")
        return line[span.start.character * 2 : span.end.character * 2].decode("utf-16-le")

    def _at(
        self, path: str, text: str, shift: int = 0
    ) -> tuple[types.TextDocumentIdentifier, types.Position]:
        offset = self.texts[path].index(text) + shift
        return types.TextDocumentIdentifier(self.uri(path)), self.position(path, offset)

    async def hover(self, path: str, text: str, shift: int = 0) -> str:
        found = await self.text_document_hover_async(types.HoverParams(*self._at(path, text, shift)))
        assert found is not None
        assert isinstance(found.contents, types.MarkupContent)
        return found.contents.value

    async def definition(self, path: str, text: str, shift: int = 0) -> tuple[str, int]:
        found = await self.text_document_definition_async(
            types.DefinitionParams(*self._at(path, text, shift))
        )
        assert isinstance(found, types.Location)
        return found.uri.removeprefix(f"{self.root.as_uri()}/"), found.range.start.line + 1

    async def complete(self, path: str, text: str) -> list[types.CompletionItem]:
        """What is offered behind a text."""
        where = self._at(path, text, len(text))
        found = await self.text_document_completion_async(types.CompletionParams(*where))
        assert isinstance(found, list)
        return found

    async def actions(self, path: str, found: types.Diagnostic) -> list[types.CodeAction]:
        params = types.CodeActionParams(
            types.TextDocumentIdentifier(self.uri(path)), found.range, types.CodeActionContext([found])
        )
        made = await self.text_document_code_action_async(params)
        return [each for each in made or [] if isinstance(each, types.CodeAction)]


def play(root: Path, scene: Callable[[Editor], Awaitable[Got]]) -> Got:
    """Begin a conversation, play a scene of it, and end it."""

    async def whole() -> Got:
        editor = Editor(root)
        await editor.begin()
        try:
            return await scene(editor)
        finally:
            await editor.end()

    return asyncio.run(whole())
