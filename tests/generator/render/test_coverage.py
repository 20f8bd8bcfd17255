"""The page of coverage prints all that was counted, and is counted again by whoever audits the site."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
import sample_record
from click.testing import CliRunner, Result
from lxml.html import HtmlElement, parse

from generator.audit import coverage, verify
from generator.cli import main

URL = "coverage.html"
TERMS = '[[term]]\ntext = "GPT-4"\nreason = "a model"\n'
NAMED = {
    "findings/terms.toml": TERMS,
    "site_src/reading.md": sample_record.PAGE + "\nGPT-4 is a name, and GPT-4 stays a name.\n",
}


def call(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments], catch_exceptions=False)


@pytest.fixture(autouse=True)
def outside_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)


def printed(site: Path) -> dict[str, str]:
    """The rules on the page of coverage with what each prints."""
    marks = parse(site / URL).xpath("//data[@data-computed]")
    return {mark.get("data-computed"): mark.text_content() for mark in marks}


def test_the_page_prints_what_the_audit_of_the_finished_site_counts(built: Path) -> None:
    found, report = printed(built / "site"), verify(built, built / "site")
    assert report.refusals == []
    counted = {
        "coverage:numbers": report.numbers,
        "coverage:derived": report.derived,
        "coverage:claims": report.claims,
        "coverage:computed": report.computed,
        "coverage:pages": report.pages,
        **{f"coverage:{kind}": count for kind, count in report.exempt.items()},
    }
    assert {rule: found[rule] for rule in counted} == {rule: str(count) for rule, count in counted.items()}
    totals = [rule for rule in found if re.fullmatch(r"coverage:[^:]+", rule)]
    assert set(totals) == set(counted)


def test_pages_and_exemptions_add_up_to_the_totals(built: Path) -> None:
    found = printed(built / "site")
    kinds = [rule.split(":")[1] for rule in found if re.fullmatch(r"coverage:(?!pages)[^:]+", rule)]
    for kind in kinds:
        rows = [int(shown) for rule, shown in found.items() if rule.startswith(f"coverage:{kind}:")]
        uses = [int(shown) for rule, shown in found.items() if rule.startswith(f"exempt:{kind}:")]
        assert sum(rows) == int(found[f"coverage:{kind}"])
        assert sum(uses) in (0, sum(rows))
    assert kinds


def test_every_page_has_a_row_that_leads_to_it(built: Path) -> None:
    pages = {file.relative_to(built / "site").as_posix() for file in (built / "site").rglob("*.html")}
    links: list[HtmlElement] = parse(built / "site" / URL).xpath("//td[1]/a")
    assert pages <= {link.text_content() for link in links}
    assert all(link.get("href") == link.text_content() for link in links)


def test_each_term_is_listed_with_how_often_it_was_used(tmp_path: Path) -> None:
    root = sample_record.write(tmp_path, NAMED)
    built = call("build", "--root", root)
    assert built.exit_code == 0, built.output
    found = printed(root / "site")
    assert (found["exemption:name:GPT-4"], found["exempt:name:GPT-4"]) == ("GPT-4", "2")
    assert found["exempt:theme:heading for unknown addresses"] == "1"
    assert found["coverage:name:reading.html"] == "2"
    assert re.search(r"^Exempt: .*\b2 name\b.* in coverage\.html", built.output, re.MULTILINE)
    assert "2 name" in call("verify", root / "site", "--root", root).output


ROW = r"<tr><td><a href=\"findings/F-02\.html\">.*?</tr>"
FORGED = '<data class="num computed" data-computed="{}" value="{}">{}</data></h1>'
FAULTS: dict[str, tuple[str, str, str]] = {
    "a total": (r'(data-computed="coverage:numbers" value="\d+">)\d+', r"\g<1>99999", "display-mismatch"),
    "a value": (r'(data-computed="coverage:claims" value=")\d+', r"\g<1>99999", "display-mismatch"),
    "a count of a page": (r'(numbers:findings/F-02\.html" value="\d+">)\d', r"\g<1>9", "display-mismatch"),
    "how often an id was used": (
        r'(data-computed="exempt:id:F-01" value="\d+">)\d',
        r"\g<1>9",
        "display-mismatch",
    ),
    "a page left out": (ROW, "", "display-mismatch"),
    "an exemption left out": (r"<tr><td>theme</td>.*?</tr>", "", "display-mismatch"),
    "a name that nothing used": (
        "</h1>",
        FORGED.format("exemption:name:9.3", *["9.3"] * 2),
        "untraced-number",
    ),
    "a page that is not there": ("</h1>", FORGED.format("file:93", *["93"] * 2), "untraced-number"),
    "a kind that is none": ("</h1>", FORGED.format("coverage:wins", *["9"] * 2), "untraced-number"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_page_of_coverage_that_says_otherwise_is_refused(built: Path, tmp_path: Path, name: str) -> None:
    pattern, replacement, code = FAULTS[name]
    shutil.copytree(built, tmp_path / "record")
    page = tmp_path / "record/site" / URL
    html, count = re.subn(pattern, replacement, page.read_text("utf-8"), count=1, flags=re.DOTALL)
    assert count == 1
    page.write_text(html, "utf-8")
    refusals = verify(tmp_path / "record", tmp_path / "record/site").refusals
    counted = {"display-mismatch"} if FORGED[:20] in replacement else set()  # a mark too many
    assert {each.code for each in refusals} == {code, *counted}
    assert {each.path for each in refusals} == {f"site/{URL}"}


def test_a_number_added_to_a_finished_page_shows_in_the_coverage_too(built: Path, tmp_path: Path) -> None:
    shutil.copytree(built, tmp_path / "record")
    page = tmp_path / "record/site/index.html"
    html = page.read_text("utf-8")
    mark = re.search(r"<data class=\"num\".*?</data>", html)
    assert mark
    page.write_text(html.replace("</article>", f"<p>{mark[0]}</p></article>"), "utf-8")
    refusals = verify(tmp_path / "record", tmp_path / "record/site").refusals
    assert {each.path for each in refusals} == {f"site/{URL}"}


def test_a_refused_number_is_refused_once_and_not_in_the_coverage_again(built: Path, tmp_path: Path) -> None:
    shutil.copytree(built, tmp_path / "record")
    page = tmp_path / "record/site/reading.html"
    page.write_text(page.read_text("utf-8").replace("</article>", "<p>7 in F-01</p></article>"), "utf-8")
    [refusal] = verify(tmp_path / "record", tmp_path / "record/site").refusals
    assert (refusal.path, refusal.code) == ("site/reading.html", "untraced-number")


@pytest.fixture
def large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A site with more files than are counted kind by kind."""
    monkeypatch.setattr(coverage, "LARGE", 3)
    root = sample_record.write(tmp_path, NAMED)
    result = call("build", "--root", root)
    assert result.exit_code == 0, result.output
    return root


def test_each_page_of_a_large_site_is_told_in_one_text(large: Path) -> None:
    found, report = printed(large / "site"), verify(large, large / "site")
    assert report.refusals == []
    rows = [text for rule, text in found.items() if rule.startswith("row:")]
    assert len(rows) >= report.pages
    for kind, count in (("numbers", report.numbers), ("computed", report.computed), *report.exempt.items()):
        told = [re.search(rf"\b(\d+) {kind}(?:,|$)", row) for row in rows]
        assert sum(int(each[1]) for each in told if each) == count
    assert found["use:name:GPT-4"] == "GPT-4 (2)"
    folded = {rule.rpartition(":")[2] for rule in found if rule.startswith("use:verbatim lines:")}
    assert "payloads/acceptance/" in folded
    assert all(each.endswith("/") for each in folded)


LARGE_FAULTS: dict[str, tuple[str, str]] = {
    "a count of a page": (r"(>findings/F-02\.html: )\d+", r"\g<1>999"),
    "a count of a page in its value": (r'(value="findings/F-02\.html: )\d+', r"\g<1>999"),
    "a page left out": (r"<tr><td><a href=\"findings/F-02\.html\">.*?</tr>", ""),
    "how often a name was used": (r"GPT-4 \(2\)</data>", "GPT-4 (3)</data>"),
    "an exemption left out": (r"<tr><td>theme</td>.*?</tr>", ""),
}


@pytest.mark.parametrize("name", LARGE_FAULTS)
def test_a_large_page_of_coverage_that_says_otherwise_is_refused(large: Path, name: str) -> None:
    pattern, replacement = LARGE_FAULTS[name]
    page = large / "site" / URL
    html, count = re.subn(pattern, replacement, page.read_text("utf-8"), count=1, flags=re.DOTALL)
    assert count == 1
    page.write_text(html, "utf-8")
    refusals = verify(large, large / "site").refusals
    assert {(each.code, each.path) for each in refusals} == {("display-mismatch", f"site/{URL}")}


def _themed(block: str, text: str) -> dict[str, str | bytes | None]:
    return {
        "mkdocs.yml": sample_record.MKDOCS.replace("material\n", "material\n  custom_dir: theme\n"),
        "theme/main.html": f'{{% extends "base.html" %}}{{% block {block} %}}{text}{{% endblock %}}',
    }


UNSEEN = '<data class="num" value="7">7</data>'


def test_a_mark_that_was_written_and_never_proved_stops_the_build(tmp_path: Path) -> None:
    hidden = f'<script type="text/plain">{UNSEEN}</script>'
    result = call("build", "--root", sample_record.write(tmp_path, _themed("footer", hidden)))
    assert result.exit_code == 1
    assert re.search(rf"^site/{URL}:\d+:\d+: display-mismatch", result.output, re.MULTILINE)
    assert not (tmp_path / "site").exists()


def test_a_mark_in_a_comment_is_no_mark(tmp_path: Path) -> None:
    result = call("build", "--root", sample_record.write(tmp_path, _themed("footer", f"<!-- {UNSEEN} -->")))
    assert result.exit_code == 0, result.output


def test_a_page_that_another_plugin_rewrote_is_refused(tmp_path: Path) -> None:
    hook = (
        "def on_post_page(output, page, config):\n    return output.replace('coverage-of-this-site', 'x')\n"
    )
    changes = {"mkdocs.yml": f"{sample_record.MKDOCS}hooks: [hook.py]\n", "hook.py": hook}
    result = call("build", "--root", sample_record.write(tmp_path, changes))
    assert result.exit_code == 1
    assert f"site/{URL}:1:1: bad-page: The place for the tables is gone" in result.output
