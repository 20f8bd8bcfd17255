"""A small record and its finished site, written by hand: no renderer had a part in it."""

from __future__ import annotations

import hashlib
import json
from html import escape
from pathlib import Path

PATH = "payloads/acceptance/lookup.json"
PAYLOAD = """{
  "schema": "specdec-sidechannels/payload/1",
  "name": "acceptance/lookup-2",
  "regime": {"target": "SmolLM2-135M", "note": "NOTE"},
  "config": {"lookahead": 2, "also": 2, "secret": "Twelve models won."},
  "results": {
    "tokens": {
      "value": 2.5978, "low": 2.4102, "high": 2.8041,
      "level": 0.95, "clusters": 84, "unit": "tokens per check"
    },
    "vanilla": {"value": 1, "unit": "tokens per check"},
    "rate": {"value": 36, "unit": "percent"},
    "bytes": {"value": 14456199684, "unit": "bytes"},
    "margin": {"value": -0.006860, "unit": "accuracy"},
    "tiny": {"value": 0.0000015, "unit": "seconds"},
    "share": {"value": 0.125}
  }
}
"""
FINDING = "---\nid: F-01\nstatus: holds\npayloads:\n  a: payloads/acceptance/lookup.json\n---\nText.\n"
KILL = "---\nid: K-1\npayloads: {a: payloads/acceptance/lookup.json}\n---\nText.\n"
TERMS = '[[term]]\ntext = "GPT-4"\nreason = "a model"\n'


class Payload:
    """The payload and where each of its values stands."""

    def __init__(self, text: str = PAYLOAD) -> None:
        self.data = text.encode()
        self.sha256 = hashlib.sha256(self.data).hexdigest()
        self._values = json.loads(text, parse_float=str, parse_int=str)

    def place(self, pointer: str) -> tuple[str, int, int, int]:
        """Written value, line, start and end of a value; found by the keys that lead to it."""
        value, start = self._values, 0
        for key in pointer[1:].split("/"):
            value = value[key]
            start = self.data.index(f'"{key}":'.encode(), start) + len(key) + 3
        while self.data[start : start + 1] == b" ":
            start += 1
        _, size = json.JSONDecoder().raw_decode(self.data[start:].decode("ascii"))
        return str(value), self.data.count(b"\n", 0, start) + 1, start, start + size


def leaf(pointer: str, form: str, shown: str, payload: Payload | None = None, base: str = "../") -> str:
    """The mark of one value."""
    payload = payload or Payload()
    written, line, start, end = payload.place(pointer)
    kind = "num text" if form == "text" else "num"
    return (
        f'<data class="{kind}" value="{escape(written)}" data-src="{PATH}" data-ptr="{pointer}"'
        f' data-line="{line}" data-span="{start}-{end}" data-sha256="{payload.sha256}" data-format="{form}">'
        f'<a href="{base}payloads/acceptance/lookup.html#L{line}">{escape(shown)}</a></data>'
    )


def operand(pointer: str) -> list[str]:
    return [PATH, pointer, Payload().sha256]


def derived(expression: object, value: str, form: str, shown: str, line: int = 8) -> str:
    """The mark of a result of arithmetic."""
    return (
        f'<data class="num derived" value="{value}" data-expression="{escape(json.dumps(expression))}"'
        f' data-format="{form}"><a href="../payloads/acceptance/lookup.html#L{line}">{shown}</a></data>'
    )


def claim(condition: object, words: str) -> str:
    return f'<span class="claim" data-claim="{escape(json.dumps(condition))}">{words}</span>'


def computed(rule: str, value: str) -> str:
    return f'<data class="num computed" data-computed="{rule}" value="{value}">{value}</data>'


def interval() -> str:
    parts = [
        leaf(f"/results/tokens/{key}", "places(2)", s)
        for key, s in (("value", "2.60"), ("low", "2.41"), ("high", "2.80"))
    ]
    return f'<span class="ci">{parts[0]} [{parts[1]}, {parts[2]}]</span>'


RATIO = ["/", operand("/results/tokens/value"), operand("/results/vanilla/value")]
FASTER = [">", operand("/results/tokens/low"), operand("/results/vanilla/value")]
TWICE = [">=", operand("/results/tokens/value"), ["*", "2", operand("/results/vanilla/value")]]


def page(body: str, title: str = "A page", head: str = "") -> str:
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title}</title>\n'
        f'<meta name="viewport" content="width=device-width,initial-scale=1">\n'
        f'<meta name="generator" content="mkdocs-1.6.1">\n{head}</head>\n<body>\n{body}\n</body>\n</html>\n'
    )


def finding_page() -> str:
    """Every kind of mark once."""
    body = "\n".join(
        [
            f'<h1 id="emits">A check emits {leaf("/results/tokens/value", "places(2)", "2.60")} tokens</h1>',
            '<nav><a href="#emits">A check emits 2.60 tokens</a></nav>',
            f"<p>It emits {interval()} tokens over {leaf('/results/tokens/clusters', 'words', 'eighty-four')}"
            f" prompts of {leaf('/regime/target', 'text', 'SmolLM2-135M')}, like GPT-4.</p>",
            f"<p>That is {claim(FASTER, 'more than plain decoding')},"
            f" {derived(RATIO, '12989/5000', 'times(2)', '2.60×')} its rate,"
            f" {claim(TWICE, 'twice')} of it.</p>",
            f"<p>{leaf('/results/bytes/value', 'group', '14,456,199,684')} bytes,"
            f" {leaf('/results/margin/value', 'signed(3)', '−0.007')},"
            f" {leaf('/results/tiny/value', 'sig(2)', '1.5 × 10⁻⁶')} seconds,"
            f" {leaf('/results/share/value', 'percent(1)', '12.5%')},"
            f" {leaf('/results/rate/value', 'plain', '36')} %, the"
            f" {leaf('/config/lookahead', 'ordinal', '2nd')}.</p>",
            '<p>See <a class="ref" href="F-01.html">F-01</a> and'
            ' <a class="ref" href="../kill-criteria.html#K-1">K-1</a>.</p>',
            '<p><img alt="a curve" src="x5.png" title="words"></p>',
        ]
    )
    return page(
        body, "A check emits 2.60 tokens - Record", '<meta name="description" content="emits 2.60 tokens">\n'
    )


def payload_page(payload: Payload | None = None) -> str:
    payload = payload or Payload()
    lines = payload.data.decode().removesuffix("\n").split("\n")
    spans = "\n".join(f'<span id="L{n}">{escape(line)}</span>' for n, line in enumerate(lines, 1))
    gutter = "\n".join(str(n) for n in range(1, len(lines) + 1))
    name = f"{PATH}#L1-L{len(lines)}"
    return page(
        f'<pre class="gutter" data-gutter="{name}">{gutter}</pre>\n'
        f'<pre data-verbatim="{name}" data-sha256="{payload.sha256}"><code>{spans}</code></pre>\n'
        f"<p>{computed(f'sha256:{PATH}', payload.sha256)},"
        f" cited by {computed(f'cited-by-count:{PATH}', '2')}</p>"
    )


def landing_page() -> str:
    counts = ", ".join(
        computed(rule, value)
        for rule, value in (
            ("findings-count", "1"),
            ("findings-count:holds", "1"),
            ("findings-count:null", "0"),
            ("payloads-count", "1"),
            ("kills-count", "1"),
            ("errata-count", "0"),
            ("numbers-count", "12"),
        )
    )
    return page(f"<p>{counts}</p>")


SEARCH = {
    "config": {"lang": ["en"]},
    "docs": [
        {"location": "findings/F-01.html", "title": "A check emits 2.60 tokens", "text": ""},
        {
            "location": "findings/F-01.html#emits",
            "title": "A check emits 2.60 tokens",
            "text": "<p>It emits 2.60 [2.41, 2.80] tokens over eighty-four prompts of SmolLM2-135M,"
            " like GPT-4.</p>",
        },
    ],
}
SITEMAP = '<?xml version="1.0" encoding="UTF-8"?>\n<urlset><url><loc>https://x.org/5</loc><lastmod>2026-11-30</lastmod></url></urlset>\n'


def files() -> dict[str, str]:
    """The record and its site, text by path."""
    return {
        PATH: PAYLOAD,
        "findings/F-01.md": FINDING,
        "findings/K-1.md": KILL,
        "findings/terms.toml": TERMS,
        "site/index.html": landing_page(),
        "site/findings/F-01.html": finding_page(),
        "site/kill-criteria.html": page('<section id="K-1"><p>K-1</p></section>'),
        "site/404.html": page("<h1>404 - Not found</h1>"),
        "site/payloads/acceptance/lookup.html": payload_page(),
        "site/payloads/acceptance/lookup.json": PAYLOAD,
        "site/search/search_index.json": json.dumps(SEARCH),
        "site/sitemap.xml": SITEMAP,
        "site/robots.txt": "User-agent: *\n",
        "site/assets/own.css": 'p { width: 33px } p::after { content: "→" }\n',
    }


def write(root: Path, changes: dict[str, str] | None = None) -> Path:
    for path, text in {**files(), **(changes or {})}.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8", newline="")
    return root
