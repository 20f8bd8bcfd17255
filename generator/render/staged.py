"""The pages of a record for a builder that has no plugin: Markdown that holds each page as finished HTML.

MkDocs, ProperDocs and Zensical all pass a block of HTML through as it stands. What they add of their own, a
theme, a navigation, titles, the audit judges as it judges any site.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import markdown
import yaml

from generator.gate import display
from generator.render import site as sites
from generator.render.environment import default
from generator.render.page import Page
from generator.render.site import STYLESHEET, Site

PAGES = "docs"
THEME = "theme"
CONFIGURATION = "mkdocs.yml"
EXTENSIONS = ("admonition", "attr_list", "def_list", "fenced_code", "footnotes", "tables")
"""What the pages of a record may use; a theme's own extensions need its plugin."""

FRONT = ("index.md", "findings/index.md", "kill-criteria.md", "errata.md", "payloads/index.md", "coverage.md")
"""Pages in the navigation, which is kept short: it stands on every page."""

_LINK = re.compile(r"""(\shref="(?![a-z]+:|/)[^"#]*)\.md(?=["#])""")


class Misuse(Exception):
    """A folder that cannot be staged into; exit code 2."""


def stage(root: Path, out: Path) -> int:
    """Write the pages, the files beside them and a configuration; returns how many pages there are.

    Raises Refused with what stands against the record, Misuse where the folder holds anything else.
    """
    if out.is_dir() and any(out.iterdir()) and not (out / PAGES / STYLESHEET).is_file():
        raise Misuse(f"{out} is not empty and was not staged here; name another folder with --out.")
    site = sites.build(root)
    shutil.rmtree(out / PAGES, ignore_errors=True)
    for path, data in {**dict(_beside(root)), **site.files}.items():
        _write(out / PAGES / path, data)
    for page in site.pages.values():
        _write(out / PAGES / page.source, _page(page).encode())
    _write(out / THEME / "main.html", default("staged.html.j2").encode())
    _write(out / CONFIGURATION, _configuration(root, site).encode())
    return len(site.pages)


def _page(page: Page) -> str:
    """A page as Markdown: its title, and one block of HTML."""
    body = page.finish(markdown.markdown(page.markdown, extensions=list(EXTENSIONS)))
    linked = _LINK.sub(r"\1.html", body)
    return f"---\ntitle: {json.dumps(page.title, ensure_ascii=False)}\n---\n\n<div>\n{linked}\n</div>\n"


def _beside(root: Path) -> Iterator[tuple[str, bytes]]:
    """What stands in site_src/ and is no page."""
    folder = root / "site_src"
    for file in sorted(folder.rglob("*")):
        if file.is_file() and file.suffix != ".md":
            yield file.relative_to(folder).as_posix(), file.read_bytes()


def _configuration(root: Path, site: Site) -> str:
    """What every one of the builders reads: a name, the pages, their style, no plugin."""
    name = next((text for *_, text in display.configuration(root)), "This record")
    titles = {page.source: page.title for page in site.pages.values()}
    return yaml.safe_dump(
        {
            "site_name": name,
            "docs_dir": PAGES,
            "use_directory_urls": False,
            "extra_css": [STYLESHEET],
            "theme": {"name": None, "custom_dir": THEME},
            "plugins": [{"search": {"enabled": False}}],
            "nav": [{titles[path] or name: path} for path in FRONT if path in titles],
        },
        allow_unicode=True,
        sort_keys=False,
    )


def _write(file: Path, data: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
