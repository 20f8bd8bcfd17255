"""The forms that refusals are printed in."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
import sample_record
from click.testing import CliRunner
from lxml.html import fromstring
from markdown_it import MarkdownIt
from sarif.loader import load_sarif_file

from generator.cli import main
from generator.report import github as github_form
from generator.report import json as json_form
from generator.report import sarif as sarif_form
from generator.report import text as text_form
from generator.report.refusal import CODES, Refusal, Report

LATE = Refusal("findings/F-02.md", 3, 1, "zero-shown", "0.00", "The value would print as zero.")
EARLY = Refusal(
    "findings/F-01.md",
    14,
    23,
    "untraced-number",
    "It is 0.743 here.",
    '"0.743" has no trace. Refer to a payload field, or add the name to findings/terms.toml.',
)
WARNING = Refusal("findings/F-01.md", 9, 1, "untraced-word", "most", '"most"\nclaims.')


def _report() -> Report:
    return Report(
        [LATE, EARLY, EARLY], [WARNING], numbers=12, derived=2, claims=1, pages=3, exempt={"name": 4}
    )


def test_the_text_form_has_one_line_for_each_refusal_sorted_by_place() -> None:
    lines = text_form.render(_report()).splitlines()
    assert lines[0] == (
        'findings/F-01.md:14:23: untraced-number: "0.743" has no trace. '
        "Refer to a payload field, or add the name to findings/terms.toml."
    )
    assert lines[1].startswith("findings/F-02.md:3:1: zero-shown:")
    assert lines[2] == 'findings/F-01.md:9:1: warning: untraced-word: "most" claims.'


def test_the_text_form_ends_with_a_count_and_its_denominators() -> None:
    assert text_form.render(_report()).splitlines()[-1] == (
        "2 refusals, 1 warning; 12 numbers, 2 derived, 1 claim, 0 computed on 3 pages; exempt: 4 name"
    )


def test_the_json_form_is_one_document_with_refusals_warnings_and_counts() -> None:
    document = json.loads(json_form.render(_report()))
    assert list(document) == ["refusals", "warnings", "counts"]
    assert [each["path"] for each in document["refusals"]] == ["findings/F-01.md", "findings/F-02.md"]
    assert document["refusals"][0] == {
        "code": "untraced-number",
        "path": "findings/F-01.md",
        "line": 14,
        "column": 23,
        "text": "It is 0.743 here.",
        "message": EARLY.message,
    }
    assert document["counts"] == {
        "numbers": 12,
        "derived": 2,
        "claims": 1,
        "computed": 0,
        "exempt": {"name": 4},
        "pages": 3,
    }


def test_an_empty_report_says_so_in_both_forms() -> None:
    assert text_form.render(Report()).startswith("0 refusals, 0 warnings; 0 numbers")
    assert json.loads(json_form.render(Report()))["refusals"] == []


def test_a_code_outside_the_list_cannot_be_made() -> None:
    with pytest.raises(ValueError, match="is not a refusal code"):
        Refusal("a", 1, 1, "made-up", "", "")
    assert all(meaning for meaning in CODES.values())


AWKWARD = Refusal(
    "findings/a b,c:d.md",
    2,
    5,
    "bad-template",
    "x | y",
    'It holds 100%,\n"a|b" and <script>alert(1)</script> `x`.',
)


def test_the_github_form_escapes_what_a_workflow_command_would_read() -> None:
    line = github_form.render(Report([AWKWARD])).splitlines()[0]
    assert line == (
        "::error file=findings/a b%2Cc%3Ad.md,line=2,col=5,title=bad-template::"
        'It holds 100%25,%0A"a|b" and <script>alert(1)</script> `x`.'
    )


def test_the_github_form_puts_the_full_list_in_the_step_summary(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "summary.md"
    target.write_text("before\n", "utf-8")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(target))
    github_form.render(_report())
    written = target.read_text("utf-8")
    assert written.startswith("before\n### 2 refusals, 1 warning")
    assert written.count("\n| <code>findings/") == 3


def test_the_step_summary_stays_a_table_whatever_a_message_holds_and_below_its_limit() -> None:
    rows = github_form.summary(Report([AWKWARD])).splitlines()[4:]
    assert len([row for row in rows if row]) == 1
    assert "<script>" not in rows[0]
    assert "\\|" in rows[0]
    many = Report([Refusal("a.md", n, 1, "zero-shown", "", "x" * 200) for n in range(1, 9000)])
    written = github_form.summary(many)
    assert len(written.encode()) <= github_form.SUMMARY_LIMIT
    assert "more do not fit here" in written


def _many(count: int) -> list[Refusal]:
    return [Refusal("a.md", line, 1, "zero-shown", "", f"##[add-mask]{line}") for line in range(1, count + 1)]


def test_the_github_form_annotates_no_more_than_github_shows_and_lists_the_rest_where_no_command_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    report = Report(_many(13), _many(12))
    lines = github_form.render(report).splitlines()
    limit = github_form.ANNOTATION_LIMIT
    assert [line.partition(" ")[0] for line in lines[: 2 * limit]] == ["::error"] * limit + [
        "::warning"
    ] * limit
    stop, *rest, resume, count = lines[2 * limit :]
    token = stop.removeprefix("::stop-commands::")
    assert (resume, len(token)) == (f"::{token}::", 32)
    assert [line.partition(" ")[0] for line in rest] == [f"a.md:{n}:1:" for n in (11, 12, 13, 11, 12)]
    assert count.startswith("13 refusals, 12 warnings")
    assert github_form.render(Report(_many(10))).count("::stop-commands::") == 0


def test_a_step_summary_that_cannot_be_written_is_a_warning_and_no_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path))
    assert "::warning::The step summary cannot be written: Is a directory." in github_form.render(_report())


def test_summaries_of_one_step_stay_below_the_limit_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(target))
    for _ in range(4):
        github_form.render(
            Report([Refusal("a.md", n, 1, "zero-shown", "", "x" * 90) for n in range(1, 4000)])
        )
    assert target.stat().st_size <= github_form.SUMMARY_LIMIT
    assert "more do not fit here" in target.read_text("utf-8")


def test_a_markdown_reader_finds_every_cell_of_the_summary_as_it_was_written() -> None:
    hostile = Refusal("a|b_c_:100:.md", 2, 5, "bad-template", "", "*x* `y` <b>z</b> [l](u) ~~s~~ | #1 $m$")
    html = (
        MarkdownIt("commonmark")
        .enable(["table", "strikethrough"])
        .render(github_form.summary(Report([AWKWARD, hostile])))
    )
    cells = fromstring(html).xpath("//tbody/tr/td")
    assert [each.text_content() for each in cells] == [
        text
        for refusal in sorted([AWKWARD, hostile])
        for text in (
            f"{refusal.path}:{refusal.line}:{refusal.column}",
            refusal.code,
            " ".join(refusal.message.split()),
        )
    ]
    assert {child.tag for each in cells for child in each.iterdescendants()} == {"code"}


def test_places_of_a_record_in_a_folder_are_named_from_the_root_of_the_repository(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    root = tmp_path / "docs/record"
    sample_record.write(root, {"findings/F-02.md": sample_record.NULL.replace("The margin is", "7 is")})
    for form, expected in (
        ("github", "::error file=docs/record/findings/F-02.md,line="),
        ("sarif", '"uri": "docs/record/findings/F-02.md"'),
        ("text", "\nfindings/F-02.md:"),
    ):
        result = CliRunner().invoke(main, ["check", "--root", str(root), "--format", form])
        assert expected in f"\n{result.output}", result.output


def test_more_results_than_code_scanning_takes_are_left_out_and_counted() -> None:
    run = json.loads(sarif_form.render(Report(_many(sarif_form.RESULT_LIMIT + 3))))["runs"][0]
    assert len(run["results"]) == sarif_form.RESULT_LIMIT
    assert run["properties"] == {"resultsLeftOut": 3}


def test_an_independent_reader_finds_every_refusal_in_the_sarif_form(tmp_path: Path) -> None:
    file = tmp_path / "findings.sarif"
    file.write_text(sarif_form.render(_report()), "utf-8")
    read = load_sarif_file(str(file))
    records = read.get_records()
    assert [(each["Location"], each["Line"], each["Severity"], each["Code"]) for each in records] == [
        ("findings/F-01.md", 14, "error", "untraced-number"),
        ("findings/F-02.md", 3, "error", "zero-shown"),
        ("findings/F-01.md", 9, "warning", "untraced-word"),
    ]
    run = json.loads(file.read_text("utf-8"))["runs"][0]
    assert run["columnKind"] == "unicodeCodePoints"
    assert {rule["id"] for rule in run["tool"]["driver"]["rules"]} == set(CODES)
    assert run["results"][0]["locations"][0]["physicalLocation"]["region"] == {
        "startLine": 14,
        "startColumn": 23,
        "snippet": {"text": "It is 0.743 here."},
    }
