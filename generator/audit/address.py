"""Where a link leads: a path in the site and a fragment."""

from __future__ import annotations

import posixpath
from functools import lru_cache
from urllib.parse import unquote, urlsplit


def resolve(page: str, href: str) -> tuple[str, str]:
    """Path in the site, and fragment, that a link on a page leads to; an empty path if it leaves the site."""
    if href.startswith("#"):
        return page, unquote(href[1:])
    return _resolve(posixpath.dirname(page), href) or (page, unquote(urlsplit(href).fragment))


@lru_cache(maxsize=50_000)
def _resolve(folder: str, href: str) -> tuple[str, str] | None:
    """The same for a folder; None for a link to the page itself."""
    parts = urlsplit(href)
    if parts.scheme or parts.netloc or parts.path.startswith("/"):
        return "", ""
    path = unquote(parts.path)
    if not path:
        return None
    target = posixpath.normpath(posixpath.join(folder, path))
    if path.endswith("/") or target == ".":
        target = posixpath.join(target, "index.html") if target != "." else "index.html"
    return ("" if target.startswith("..") else target), unquote(parts.fragment)
