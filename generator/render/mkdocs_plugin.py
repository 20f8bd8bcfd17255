"""The one door to MkDocs: a plugin that lays a record's pages into the site as virtual files.

Everything is judged before MkDocs writes its first file, and the finished site is audited after its
last, so a plain `mkdocs build` gives the same site and the same refusals as `findings build`.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

from jinja2 import Environment
from mkdocs.commands.build import _build_page, _populate_page
from mkdocs.config.base import Config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import Abort
from mkdocs.livereload import LiveReloadServer
from mkdocs.plugins import BasePlugin, CombinedEvent, event_priority
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page as MkDocsPage
from mkdocs.structure.toc import AnchorLink

from generator import audit
from generator.render import coverage, disclosure, linked, numbers, policy
from generator.render import site as sites
from generator.render.page import Page
from generator.render.script import LATER, SCRIPT, WORKER
from generator.render.site import STYLESHEET, Site
from generator.report import text
from generator.report.refusal import Refused, Report

WATCHED = ("findings", "payloads", "templates")
"""Folders of a record, beside docs_dir, whose changes make a new site while serving."""

_MARK = re.compile(r"<data [^>]*>(?:<a [^>]*>)?|(?:</a>)?</data>")

log = logging.getLogger("mkdocs.plugins.findings")


class Stopped(Abort):
    """A build that was refused; prints every refusal at its place, exit code 1."""

    def __init__(self, report: Report) -> None:
        self.report = report
        super().__init__(text.render(report).rstrip("\n"))


class Options(Config):  # type: ignore[no-untyped-call]
    """The plugin has no options: nothing about it can be turned off."""


class FindingsPlugin(BasePlugin[Options]):  # type: ignore[no-untyped-call]
    """Gathers the record, adds its pages, sets marks into rendered pages, audits the result."""

    root: Path
    site: Site
    report: Report
    whole: str
    crew: audit.Crew | None
    written: str
    numbers: dict[str, dict[str, numbers.Entry]]
    env: Environment
    built_with: MkDocsConfig
    files: Files
    nav: Navigation
    serving = False

    def on_startup(self, *, command: str, dirty: bool) -> None:
        """A page that is served while it is written has a script of MkDocs' own, and no policy."""
        self.serving = command == "serve"

    def on_config(self, config: MkDocsConfig) -> MkDocsConfig:
        """What the guarantees need, whatever the record's own configuration says."""
        if config.config_file_path:
            self.root = Path(config.config_file_path).parent
        else:
            self.root = Path.cwd()
        config.use_directory_urls = False
        config.theme["font"] = False
        config.extra_css.append(STYLESHEET)
        config.extra_javascript.append(SCRIPT)
        config.extra["polyfills"] = [*config.extra.get("polyfills", []), WORKER, LATER]
        return config

    def on_pre_build(self, *, config: MkDocsConfig) -> None:
        """Judge all sources before anything is written."""
        try:
            self.site = sites.build(self.root)
        except Refused as refused:
            raise Stopped(Report(list(refused.refusals))) from None
        for warning in sorted(set(self.site.report.warnings)):
            log.info(text.line(warning, "warning: "))
        self.crew = audit.begin(self.root, Path(config.site_dir), len(self.site.pages))
        self.written = ""
        self.numbers = {}
        time = self.site.record.repository.head_time
        if time is not None:
            os.environ.setdefault("SOURCE_DATE_EPOCH", str(time))

    def on_files(self, files: Files, *, config: MkDocsConfig) -> Files:
        """Add the pages that have no file in docs_dir, and set the navigation where the record has none."""
        for source, page in self.site.pages.items():
            if files.get_file_from_path(source) is None:
                level = InclusionLevel.UNDEFINED if page.listed else InclusionLevel.NOT_IN_NAV
                files.append(File.generated(config, source, content="", inclusion=level))
        for path, data in self.site.files.items():
            files.append(File.generated(config, path, content=data))
        if config.nav is None:
            config.nav = list(_navigation(self.site, files))
        return files

    @event_priority(100)
    def on_page_markdown(
        self, markdown: str, /, *, page: MkDocsPage, config: MkDocsConfig, files: Files
    ) -> str:
        """The Markdown of a page with its marks, and its plain title."""
        made = self._made(page)
        if made is None:
            return markdown
        page.meta = {"title": escape(made.title, quote=False)} if made.title else {}
        if "navigation.tabs" in config.theme.get("features", ()):
            page.meta["hide"] = ["navigation"]
        if not made.searchable:
            page.meta["search"] = {"exclude": True}
        return made.markdown

    @event_priority(-100)
    def on_page_content(self, html: str, /, *, page: MkDocsPage, config: MkDocsConfig, files: Files) -> str:
        """The page with its marks in place; titles take the plain text."""
        made = self._made(page)
        if made is None:
            return html
        for item in _items(page.toc.items):
            item.title = made.plain(item.title)
        if page.title:
            page.title = made.plain(page.title)
        try:
            return made.finish(html)
        except Refused as refused:
            raise Stopped(Report(list(refused.refusals))) from None

    @event_priority(100)
    def _before_search(self, context: Any, /, *, page: MkDocsPage, **_: Any) -> None:
        """Let the search index read the numbers without their marks, which are most of a page's tags."""
        if self._made(page) and page.content:
            self.whole = page.content
            page.content = _MARK.sub("", page.content)

    @event_priority(-100)
    def _after_search(self, context: Any, /, *, page: MkDocsPage, **_: Any) -> None:
        """Give the page its marks back before it is written."""
        if self._made(page) and page.content:
            page.content = self.whole

    on_page_context = CombinedEvent(_before_search, _after_search)

    @event_priority(-100)
    def on_post_page(self, output: str, /, *, page: MkDocsPage, config: MkDocsConfig) -> str:
        """Say what the page holds to machines too; let the one before it be read already."""
        made = self._made(page)
        if made:
            entries = self.numbers[page.file.dest_uri] = numbers.listed(output)
            output = output.replace("</head>", f"{linked.script(self.site.record, made, entries)}</head>", 1)
        output = self._governed(output)
        if self.crew and self.written:
            self.crew.give(self.written)
        self.written = page.file.dest_uri
        return output

    @event_priority(-100)
    def on_post_template(self, output: str, /, *, template_name: str, config: MkDocsConfig) -> str:
        """The page for unknown addresses has a policy too."""
        return self._governed(output) if template_name.endswith(".html") else output

    @event_priority(-100)
    def on_post_build(self, *, config: MkDocsConfig) -> None:
        """Audit the finished site by the auditor's own reading, then the page that says what that covered."""
        folder = Path(config.site_dir)
        _search_from_files(folder)
        data = numbers.document(self.numbers, self.site.record.payloads)
        (folder / numbers.PATH).write_bytes(data)
        audited = audit.Audit(self.root, folder)
        self.report = audited.run(self.crew)
        self.crew = None
        if not self.report.refusals:
            self.report = coverage.complete(audited, folder)
        if self.report.refusals:
            raise Stopped(self.report)
        log.info(text.summary(self.report))

    def on_env(self, env: Environment, /, *, config: MkDocsConfig, files: Files) -> Environment:
        """Keep what a page is made with: a saved page is made again without the others."""
        self.env, self.built_with, self.files = env, config, files
        return env

    def on_nav(self, nav: Navigation, /, *, config: MkDocsConfig, files: Files) -> Navigation:
        """Keep the navigation too."""
        self.nav = nav
        return nav

    def remake(self, source: str) -> None:
        """Write one page again, as it is in the site now, with the means of the last whole build."""
        file = self.files.get_file_from_path(source)
        assert file is not None and file.page is not None
        _populate_page(file.page, self.built_with, self.files)
        pages = self.files.documentation_pages()
        _build_page(file.page, self.built_with, pages, self.nav, self.env)

    def on_serve(
        self, server: LiveReloadServer, /, *, config: MkDocsConfig, builder: Any
    ) -> LiveReloadServer:
        """Watch the whole record while serving."""
        for name in WATCHED:
            if (self.root / name).is_dir():
                server.watch(str(self.root / name))
        return server

    def _governed(self, output: str) -> str:
        return output if self.serving else policy.governed(output)

    def _made(self, page: MkDocsPage) -> Page | None:
        return self.site.pages.get(page.file.src_uri)


def _search_from_files(folder: Path) -> None:
    """The search index as a script, which a page that is opened from a file can read."""
    index = folder / "search" / "search_index.json"
    if index.is_file():
        text = index.read_text("utf-8")
        index.with_suffix(".js").write_text(f"var __index = {text}", "utf-8")


def _items(items: list[AnchorLink]) -> Iterator[AnchorLink]:
    for item in items:
        yield item
        yield from _items(item.children)


FRONT = {
    "findings/index.md": "Findings",
    "kill-criteria.md": "Kill criteria",
    "errata.md": "Errata",
    "payloads/index.md": "Payloads",
}
ACCOUNT = {
    "registered.md": "Registered",
    "critic.md": "Critic",
    "errata-pass.md": "Errata pass",
    **{f"{kind}.md": title for kind, title in disclosure.TITLES.items()},
    "changes.md": "Changes",
    "coverage.md": "Coverage",
}
"""What the record says of itself: one entry of the navigation, with those of its pages that there are."""

GUIDE = "Guide"
"""The entry of what the author wrote beside folders; a folder of pages is an entry of its own."""


def _navigation(site: Site, files: Files) -> Iterator[dict[str, Any] | str]:
    """The front page, the indexes, the record about itself, what the author wrote by folder; no findings."""
    yield {"Start": "index.md"}
    yield from ({title: source} for source, title in FRONT.items())
    yield {"Account": [{title: source} for source, title in ACCOUNT.items() if source in site.pages]}
    groups: dict[str, list[str]] = {}
    for file in files.documentation_pages():
        page = site.pages.get(file.src_uri)
        if page and page.listed and file.src_uri not in {"index.md", *FRONT, *ACCOUNT}:
            folder = file.src_uri.rpartition("/")[0].partition("/")[0]
            groups.setdefault(folder.capitalize() or GUIDE, []).append(file.src_uri)
    yield from ({title: sources} for title, sources in sorted(groups.items()) if title != GUIDE)
    if GUIDE in groups:
        yield {GUIDE: groups[GUIDE]}
