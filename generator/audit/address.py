"""Where a link leads: a path in the site and a fragment."""

from __future__ import annotations

import posixpath
from functools import lru_cache
from urllib.parse import unquote, urlsplit


def resolve(page: str, href: str) -> tuple[str, str]:
    """Path in the site, and fragment, that a link on a page leads to; an empty path if it leaves the site."""
    path, _, fragment = href.partition("#")
    target = _resolve(page.rpartition("/")[0], path) if path else page
    return target, unquote(fragment) if "%" in fragment else fragment


@lru_cache(maxsize=50_000)
def _resolve(folder: str, href: str) -> str:
    """The path that a link without fragment leads to from a folder of the site."""
    parts = urlsplit(href)
    if parts.scheme or parts.netloc or parts.path.startswith("/"):
        return ""
    path = unquote(parts.path)
    target = posixpath.normpath(posixpath.join(folder, path))
    if path.endswith("/") or target == ".":
        target = posixpath.join(target, "index.html") if target != "." else "index.html"
    return "" if target.startswith("..") else target
