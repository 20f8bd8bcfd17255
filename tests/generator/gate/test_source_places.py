"""A refusal names the line and the column at which the number was typed."""

from __future__ import annotations

from pathlib import Path

import pytest

from generator.gate import source as gate
from generator.gate.source import check_sources
from generator.record import front_matter, record
from generator.record.source import Source
from generator.record.terms import Term
from generator.report.refusal import Report

IDS = frozenset({"F-01"})

PLACES = {
    "prose": "Words and\nmore @7@ words.\n",
    "after wide characters": "naïve “quoted” — 🙂 @7@.\n",
    "after an expression": "{{ a.x | places(2) }} of @7@.\n",
    "in emphasis": "Some **bold @7@** words.\n",
    "across emphasis": "Some @9**1**.3@ words.\n",
    "in a heading": "# One\n\n## About @7@ runs ##\n",
    "in a setext heading": "About @7@ runs\n=====\n",
    "in a quotation": "> quoted\n> more @7@ words\n",
    "in a nested list": "- item\n    - inner\n      and @7@ more\n",
    "in a list item that looks like its marker": "1. @7@\n",
    "in a table": "| a | b |\n|---|---|\n| x | @7@ |\n| @7@ | x |\n",
    "in a table of one column": "| a |\n|---|\n| @7@ |\n",
    "in link text": "See [these @7@ runs](https://example.org/7 'x').\n",
    "in a link title": "See [these](https://example.org/7 'and @7@ more').\n",
    "in alternative text": "![a @7@ b](x7.png)\n",
    "in a reference title": "See [these][r].\n\n[r]: x7.md 'and @7@ more'\n",
    "in a code span": "Say `x = @7@` here.\n",
    "in a fence": "```python\nx = y\nz = @7@\n```\n",
    "in the title of a fence": '```python title="Listing @7@"\nx\n```\n',
    "as an entity": "It is @&#55;@ here.\n",
    "after an entity": "A &amp; B are @7@.\n",
    "after an escape": "\\* and \\# are @7@.\n",
    "in an HTML block": '<div class="x7">\n<p>and @7@ more</p>\n</div>\n',
    "in an HTML attribute": '<div class="x7" title="@7@">a</div>\n',
    "in an inline attribute": "A <span aria-label='@7@'>b</span>.\n",
    "in inline HTML": "A <b>b @7@</b>.\n",
    "in an admonition": '!!! note "Title"\n    and @7@ more\n',
    "in the title of an admonition": '!!! note "Title @7@"\n    and more\n',
    "in an indented block": "text\n\n    and @7@ more\n",
    "in a statement": '{% statement "a" %}And @7@ more.{% endstatement %}\n',
    "after a carriage return": "Words\r\nand @7@ more\r\n",
    "after a line separator": "Words\u2028and @7@ more\n",
    "in a footnote": "Said[^a].\n\n[^a]: And @7@ more.\n",
    "in an attribute list": '# A\n{: title="@7@" #id7 .c8 }\n',
    "in a definition": "Term\n:   And @7@ more.\n",
    "hard wrapped": "we saw\n@412@. Of these\n",
}


def _page(body: str, front: str = "") -> Source:
    head = f"---\n{front}---\n" if front else ""
    read = front_matter.parse("p.md", front, 2) if front else front_matter.FrontMatter({}, {})
    return Source("p.md", "page", head + body, read.values, read.places, body, head.count("\n") + 1)


def _judged(body: str, front: str = "") -> Report:
    return check_sources([_page(body, front)], [], IDS)


def _marked(text: str) -> tuple[str, list[tuple[int, int, str]]]:
    """The text without its @, and line and column of what stood between each two."""
    parts, places, plain = text.split("@"), [], ""
    for index, part in enumerate(parts):
        if index % 2:
            places.append((plain.count("\n") + 1, len(plain) - plain.rfind("\n"), part))
        plain += part
    return plain, places


@pytest.mark.parametrize("text", PLACES.values(), ids=PLACES.keys())
@pytest.mark.parametrize(
    "front", ["", "title: A page\ndescription: Words\n"], ids=["alone", "with front matter"]
)
def test_a_number_is_refused_at_its_line_and_column_with_its_line(text: str, front: str) -> None:
    body, places = _marked(text)
    shift = front.count("\n") + 2 if front else 0
    words = [each for each in _judged(body, front).refusals if each.code == "untraced-number"]
    assert sorted((each.line, each.column) for each in words) == [
        (line + shift, col) for line, col, _ in places
    ]
    for refusal, (line, _, _) in zip(sorted(words), places, strict=True):
        assert refusal.text == body.split("\n")[line - 1].rstrip("\r")


def test_a_number_in_front_matter_is_refused_where_it_stands() -> None:
    front = 'title: "It is {{ a.x }} or 7"\ndescription: >\n  folded words\n  and 8 more\n'
    found = [(each.line, each.column) for each in _judged("Words.\n", front).refusals]
    assert found == [(2, 28), (5, 7)]


def test_front_matter_that_only_rules_read_is_no_text() -> None:
    front = "id: x9\npayloads:\n  a: payloads/acceptance/k8.json\nholds_when: a.x > 2\ndate: 2026-12-01\n"
    assert _judged("Words.\n", front).refusals == []


def test_a_name_that_no_source_uses_is_refused_at_its_entry() -> None:
    report = check_sources(
        [_page("GPT-4 is named.\n")], [Term("GPT-4", "a model", 3), Term("o3", "a model", 7)], IDS
    )
    assert [(each.code, each.line) for each in report.refusals] == [("unused-term", 7)]
    assert report.exempt == {"name": 1}


def test_the_shown_strings_of_the_configuration_are_judged(tmp_path: Path) -> None:
    (tmp_path / "findings").mkdir()
    (tmp_path / "mkdocs.yml").write_text(
        "site_name: My 7 runs\nsite_url: https://x7.org\ncopyright: Since 2024\nnav:\n"
        "  - Start: index.md\n  - Part:\n      - Two runs: b7.md\n",
        "utf-8",
    )
    report = gate.judge_record(record.load(tmp_path))
    found = {(each.line, each.column, each.code) for each in report.refusals if each.path == "mkdocs.yml"}
    assert found == {(1, 15, "untraced-number"), (3, 18, "untraced-number"), (7, 9, "untraced-word")}


def test_deep_nesting_of_markup_is_read_without_a_traceback() -> None:
    for text in ("[" * 3000 + "7", ">" * 3000 + " 7", "*" * 3000 + "7", "- " * 500 + "7", "<b>" * 3000 + "7"):
        assert "untraced-number" in {each.code for each in _judged(text + "\n").refusals}
