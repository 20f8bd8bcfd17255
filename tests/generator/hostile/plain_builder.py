"""A builder that is not MkDocs: Markdown, a title, a body, and nothing of a theme."""

from __future__ import annotations

from html import escape
from pathlib import Path

import markdown

from generator.render import site as sites

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{title}</title>
</head>
<body>
{body}
</body>
</html>
"""


def build(root: Path) -> Path:
    """The site of a record in site/; raises Refused with what stands against it."""
    site = sites.build(root)
    for page in site.pages.values():
        body = page.finish(markdown.markdown(page.markdown, extensions=["tables"]))
        title = escape(page.title, quote=False)
        _write(root / "site" / page.url, PAGE.format(title=title, body=body).encode())
    for path, data in site.files.items():
        _write(root / "site" / path, data)
    return root / "site"


def _write(file: Path, data: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
