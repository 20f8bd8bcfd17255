"""What a payload says is text wherever a page shows it, or is refused at its place; it launders nothing."""

from __future__ import annotations

import json
from pathlib import Path

import lxml.html
import pytest
import sample_record
from command import call

PATH = "payloads/acceptance/lookup.json"

HARMLESS_AS_TEXT = {
    "a script": "<script>alert('x')</script>",
    "the end of everything around it": "</data></a></span></h2></div></body><script>alert('x')</script>",
    "the end of an attribute": "\" onmouseover=\"alert('x')\" title='",
    "the end of an attribute, in another way": "' onfocus='alert(1)' autofocus='",
    "a drawing that runs": "<svg onload=alert('x')><text>words</text></svg>",
    "a picture that runs": "<img src=x onerror=alert('x')>",
    "a link that runs": "[words](javascript:alert('x'))",
    "a comment": "<!-- words --> --!> ]]> <![CDATA[",
    "the end of raw text": "</title></style></textarea><style>p::after{content:'x'}</style>",
    "references": "&lt;script&gt; &amp;amp; &#x3c;b&#x3e;",
    "Markdown": "**bold** `code` | cell | # head",
    "lines": "a line\n\n- a list\n\n    code",
    "an anchor of a line": '<span id="L3">words</span>',
    "a mark of its own": '<data class="num" value="words">words</data>',
}
RUNS = (
    "script[not(@type='application/ld+json') and contains(., 'alert(')]",
    "svg[.//text]",
    "img[@onerror]",
    "style[contains(., 'content:')]",
)

QUOTED = """
Quoted: {{ a.question }}, {{ a.provenance.device }}, {{ a.results.drawn.unit }}.

| a table |
| --- |
| {{ a.results.tokens_per_check.method }} |

> {{ a.regime.mode }}

- {% claim a.results.vanilla > 0 %}{{ a.provenance.versions.torch }}{% endclaim %}

## On {{ a.regime.mode }}
"""


def hostile(text: str) -> str:
    """The sample payload with a text in every place that a page can show."""
    document = sample_record.payload()
    provenance = {"device": text, "command": ["engine", text], "versions": {"torch": text}}
    document |= {"question": f"Why {text}", "regime": {**document["regime"], "mode": text}}  # type: ignore[dict-item]
    document |= {"provenance": {**document["provenance"], **provenance}}  # type: ignore[dict-item]
    results: dict[str, dict[str, object]] = document["results"]  # type: ignore[assignment]
    results["tokens_per_check"]["method"] = results["drawn"]["unit"] = text
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def record(root: Path, text: str) -> Path:
    """A record whose finding quotes all of it, in its title and its regime too."""
    finding = sample_record.FINDING.replace('title: "Looking', 'title: "{{ a.regime.mode }}, looking')
    changes = {PATH: hostile(text), "payloads/SHA256SUMS": None, "findings/F-01.md": finding + QUOTED}
    return sample_record.write(root, changes)


@pytest.mark.parametrize("text", HARMLESS_AS_TEXT.values(), ids=HARMLESS_AS_TEXT.keys())
def test_a_text_of_a_payload_is_shown_as_it_is_and_does_nothing(tmp_path: Path, text: str) -> None:
    root = record(tmp_path, text)
    built = call("build", "--root", root)
    assert built.exit_code == 0, built.output
    for file in (root / "site").rglob("*.html"):
        page = lxml.html.document_fromstring(file.read_bytes())
        assert not any(page.xpath(f"//{what}") for what in RUNS), file
        assert not page.xpath("//@onmouseover | //@onfocus | //@onload | //@onerror"), file
        assert not page.xpath("//a[starts-with(@href, 'javascript:')]"), file
    finding = lxml.html.document_fromstring((root / "site/findings/F-01.html").read_bytes())
    shown = [" ".join(each.text_content().split()) for each in finding.find_class("num text")]
    assert shown.count(" ".join(text.split())) >= 6
    index = lxml.html.document_fromstring((root / "site/findings/index.html").read_bytes())
    assert " ".join(text.split()) in " ".join(index.text_content().split())


REFUSED = {
    "characters that turn the order around": ("words \u202e60.2\u202c", PATH, "bad-encoding"),
    "an isolate": ("words \u2066\u2069", PATH, "bad-encoding"),
    "a character without width": ("thr\u200bee", PATH, "bad-encoding"),
    "a mark of pages": ("words \U000f0000", PATH, "bad-encoding"),
    "a control character": ("words \x1b[31m", PATH, "bad-encoding"),
    "markup of a template": (
        "{{ a.results }} {% include 'x' %}",
        "site/findings/F-01.html",
        "leftover-template",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_text_that_could_pass_for_something_else_is_refused(tmp_path: Path, name: str) -> None:
    text, path, code = REFUSED[name]
    built = call("build", "--root", record(tmp_path, text))
    assert built.exit_code == 1
    lines = [line for line in built.output.splitlines()[:-1] if ": warning: " not in line]
    assert lines
    assert all(line.startswith(f"{path}:") and f": {code}: " in line for line in lines)


CONFIG = {"lookahead": 2, "prompts": 84}
PROSE = "Twelve models won, and ours is the best of all"
LAUNDERED = {
    "a setting": ({"config": {**CONFIG, "note": PROSE}}, "a.config.note", "unknown-field"),
    "a reason for what is absent": ({"absent": {"gain": PROSE}}, "a.absent.gain", "unknown-field"),
    "a question as long as a paragraph": ({"question": f"{PROSE}. " * 3}, "a.question", "unknown-field"),
    "a text in arithmetic": ({}, "(a.regime.mode + a.regime.mode) | places(1)", "bad-template"),
    "a text as a number": ({}, "a.regime.mode | places(1)", "bad-template"),
}


@pytest.mark.parametrize("name", LAUNDERED)
def test_prose_cannot_be_laundered_through_a_payload(tmp_path: Path, name: str) -> None:
    fields, expression, code = LAUNDERED[name]
    document = json.dumps({**sample_record.payload(), **fields}, indent=2) + "\n"
    finding = f"{sample_record.FINDING}\n{{{{ {expression} }}}}\n"
    root = sample_record.write(
        tmp_path, {PATH: document, "payloads/SHA256SUMS": None, "findings/F-01.md": finding}
    )
    result = call("check", "--root", root)
    assert result.exit_code == 1
    refused = [line for line in result.output.splitlines()[:-1] if ": warning: " not in line]
    assert [line.split(": ")[1] for line in refused] == [code]
    assert refused[0].startswith("findings/F-01.md:35:")


NAMES = ["<script>alert('x')<", '" onload="x', "{{ a }}", "a b", "a?b", "a%2f..", "&lt;", "a'b"]


@pytest.mark.parametrize("name", NAMES)
def test_the_name_of_a_file_is_text_too(tmp_path: Path, name: str) -> None:
    root = sample_record.write(tmp_path, {f"payloads/acceptance/{name}.json": sample_record.PAYLOAD})
    assert call("build", "--root", root).exit_code == 0
    pages = [
        lxml.html.document_fromstring(file.read_bytes()) for file in (root / "site/payloads").rglob("*.html")
    ]
    blocks = [str(each) for page in pages for each in page.xpath("//pre/@data-verbatim")]
    assert [each for each in blocks if each.startswith(f"payloads/acceptance/{name}.json#L1-L")]
    runs = f"//@onload | //{RUNS[0]}"
    assert not any(page.xpath(runs) for page in pages)
