"""Untraced numbers on every surface of the finished site, one at a time."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from html import escape

from generator.render.site import STYLESHEET
from generator.selftest.cases import Form, forms
from generator.selftest.fault import Fault
from generator.selftest.surface import Surface, planted
from generator.selftest.workplace import SITE, Workplace

SEARCH = "site/search/search_index.json"
SITEMAP = "site/sitemap.xml"

IN_BODY = {
    "heading": "<h2>{}</h2>",
    "cell of a table": "<table><tr><td>{}</td></tr></table>",
    "figure's caption": "<figure><figcaption>{}</figcaption></figure>",
    "element that a script fills": '<div role="status" data-live="">{}</div>',
    "hidden text": "<p hidden>{}</p>",
    "text without scripts": "<noscript><p>{}</p></noscript>",
    "template": "<template><p>{}</p></template>",
    "text field": "<textarea>{}</textarea>",
    "value of a field": '<input type="text" value="{}">',
    "placeholder": '<input placeholder="{}">',
    "alt": '<img src="a.png" alt="{}">',
    "title attribute": '<span title="{}">a</span>',
    "aria-label": '<span aria-label="{}">a</span>',
    "aria-description": '<span aria-description="{}">a</span>',
    "text of a drawing": "<svg><text>{}</text></svg>",
    "title of a drawing": "<svg><title>{}</title></svg>",
    "description of a drawing": "<svg><desc>{}</desc></svg>",
}
IN_HEAD = {
    "description": '<meta name="description" content="{}">',
    "keywords": '<meta name="keywords" content="{}">',
    "card for other sites": '<meta property="og:title" content="{}">',
}
FILES = {
    "feed": ("site/feed.xml", "<rss><channel><title>{}</title></channel></rss>\n"),
    "drawing in a file": ("site/selftest.svg", "<svg><text>{}</text></svg>\n"),
    "plain text": ("site/selftest.txt", "{}\n"),
}
TEXTS = {
    "table of values": "site/selftest.csv",
    "data": "site/selftest.json",
    "manifest": "site/selftest.webmanifest",
    "captions": "site/selftest.vtt",
    "text without a suffix": "site/SELFTEST",
}
"""Texts of no form of their own, which somebody opens."""

_TITLE = re.compile(r"(?<=<title>).*?(?=</title>)", re.DOTALL)
_CLAIM = re.compile(r'(?<=<span )([^>]*data-claim="[^"]*"[^>]*>)([^<]*)(?=</span>[\s.,;:])')
"""A claim in running text: words that touch those of the next element are other words."""

_CONSTANT = re.compile(r"&(?:quot|#34);[0-9/]+&")


def pages(workplace: Workplace) -> Iterator[Fault]:
    """Every form on every surface of a finding's page, and of the files beside the pages."""
    known = [each for each in forms("output", workplace.names, workplace.record.ids) if not each.templated]
    yield from planted(surfaces(workplace), known)


def surfaces(workplace: Workplace) -> Iterator[Surface]:
    """Every place of a finished site where a text is seen or heard."""
    path = min(_findings(workplace), key=lambda each: len(workplace.text(each)), default="site/index.html")
    page = workplace.text(path)

    def surface(
        name: str, plant: Callable[[str], str], write: Callable[[Form], str] | None = None
    ) -> Surface:
        return Surface(f"a page, {name}", path, plant, write)

    yield surface("body", lambda form: _before("</body>", page, form), Form.rendered)
    for name, markup in IN_BODY.items():
        yield surface(name, partial(_inside, page, "</body>", markup))
    for name, markup in IN_HEAD.items():
        yield surface(name, partial(_inside, page, "</head>", markup))
    yield surface("title", lambda form: _TITLE.sub(lambda _: escape(form), page, count=1))
    for label in ("Navigation", "Table of contents"):
        yield surface(label.lower(), partial(_in_navigation, page, label))
    yield surface("linked data", lambda form: _before("</head>", page, _linked_data(form)))
    yield surface("style", lambda form: _before("</head>", page, f"<style>{_rule(form)}</style>"))
    if claim := next((each for each in _CLAIM.finditer(page) if not _CONSTANT.search(each[1])), None):
        head, tail = page[: claim.start(2)], page[claim.end(2) :]
        yield surface("words of a claim", lambda form: head + escape(form) + tail)
    yield from _files(workplace, path.removeprefix(SITE))


def _findings(workplace: Workplace) -> list[str]:
    return [f"site/findings/{each.id}.html" for each in workplace.record.findings]


def _files(workplace: Workplace, location: str) -> Iterator[Surface]:
    """Files beside the page of a finding: another page, the search index, and what no browser opens."""
    error, sheet = "site/404.html", SITE + STYLESHEET
    page, css = workplace.text(error), workplace.text(sheet)
    yield Surface("a page, error page", error, partial(_inside, page, "</body>", "<p>{}</p>"))
    for key in ("title", "text"):
        name = f"a file: {key} in the search index"
        yield Surface(name, SEARCH, partial(_entry, workplace.text(SEARCH), location, key))
    for name, (path, markup) in FILES.items():
        yield Surface(f"a file: {name}", path, partial(_inside, "", "", markup))
    for name, path in TEXTS.items():
        yield Surface(f"a file: {name}", path, "words, {}\n".format)
    note = partial(_inside, workplace.text(SITEMAP), "</urlset>", "<url><note>{}</note></url>")
    yield Surface("a file: sitemap", SITEMAP, note)
    yield Surface("a file: stylesheet", sheet, lambda form: f"{css}\n{_rule(form)}\n")


def _inside(page: str, tag: str, markup: str, text: str) -> str:
    """The page with a text in some markup before a closing tag."""
    return _before(tag, page, markup.format(escape(text)))


def _before(tag: str, page: str, markup: str) -> str:
    at = page.rindex(tag)
    return f"{page[:at]}{markup}{page[at:]}"


def _in_navigation(page: str, label: str, text: str) -> str:
    """A link more in the navigation of this label, or in one of its own where the theme has none."""
    link = f'<a href="index.html">{escape(text)}</a>'
    found = re.search(rf'<nav\b[^>]*aria-label="{label}"[^>]*>', page)
    if found is None:
        return _before("</body>", page, f'<nav aria-label="{label}">{link}</nav>')
    return page[: found.end()] + link + page[found.end() :]


def _linked_data(text: str) -> str:
    content = json.dumps({"@type": "Article", "description": text}).replace("<", "\\u003c")
    return f'<script type="application/ld+json">{content}</script>'


def _rule(text: str) -> str:
    """A rule of a stylesheet that prints the text; all but plain letters and digits as escapes."""
    written = re.sub("[^A-Za-z0-9]", lambda each: f"\\{ord(each[0]):x} ", text)
    return f'p::after {{ content: "{written}" }}'


def _entry(search: str, location: str, key: str, text: str) -> str:
    """The search index with one entry more."""
    index = json.loads(search)
    entry = {"location": location, "title": "", "text": "", key: escape(text, quote=False)}
    return json.dumps({**index, "docs": [*index["docs"], entry]})
