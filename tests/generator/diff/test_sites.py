"""What a comparison of two built sites says of every mark, and what a build says it changed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import sample_record
from click.testing import CliRunner, Result

from generator.cli import main
from generator.diff.replaced import LIMIT, lines

LOOKUP = "payloads/acceptance/lookup.json"
F1 = "findings/F-01.html"


def call(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, [str(each) for each in arguments], catch_exceptions=False)


@pytest.fixture
def two(built: Path, tmp_path: Path) -> tuple[Path, Path]:
    """A built site twice."""
    sites = tmp_path / "old", tmp_path / "new"
    for each in sites:
        shutil.copytree(built / "site", each)
    return sites


def edit(site: Path, old: str, new: str, page: str = F1) -> None:
    """Change every occurrence in a page that has it."""
    text = (site / page).read_text()
    assert old in text
    (site / page).write_text(text.replace(old, new))


EDITS = {
    "a value": (
        ('value="2.5978"', 'value="2.6978"'),
        f"{F1}#tokens: changed value: 2.60 → 2.60 (2.5978 → 2.6978), {LOOKUP}:19#/results/tokens_per_check",
    ),
    "a shown text": (
        (">2.60<", ">2.6<"),
        f"{F1}#tokens: changed rounding: 2.60 → 2.6 (2.5978), {LOOKUP}:19#/results/tokens_per_check/value",
    ),
    "a line": (
        ('data-line="19"', 'data-line="20"'),
        f"{F1}#title: moved place only: 2.60, {LOOKUP}:19 → 20",
    ),
    "a derived value": (
        ('value="12989/5000"', 'value="13000/5000"'),
        f"{F1}#gain: changed value: 2.60× → 2.60× (12989/5000 → 13000/5000), {LOOKUP}#/results",
    ),
    "a claim that is gone": (
        ('<span class="claim" data-claim', "<span data-was"),
        f'{F1}#gain: claim flipped: "more than plain decoding" ({LOOKUP}#/results/tokens_per_check/low > ',
    ),
    "a status": ((">holds<", ">open<"), f"{F1}: claim flipped: status: holds → open"),
    "a number that is gone": (
        ('<data class="num derived"', "<i"),
        f"{F1}#gain: vanished: 2.60× (12989/5000), {LOOKUP}#/results/tokens_per_check/value / ",
    ),
}


@pytest.mark.parametrize("name", EDITS)
def test_every_mark_that_differs_is_named(two: tuple[Path, Path], built: Path, name: str) -> None:
    (old, new), expected = EDITS[name]
    edit(two[1], old, new)
    result = call("diff", two[0], two[1], "--root", built)
    assert result.exit_code == 0, result.output
    assert [line[: len(expected)] for line in result.output.splitlines()].count(expected) == 1, result.output


def test_the_same_site_twice_has_no_changes(two: tuple[Path, Path], built: Path) -> None:
    result = call("diff", *two, "--root", built, "--exit-code")
    assert (result.exit_code, result.output) == (0, "No number changed.\n")
    assert lines(*two) == []


def test_the_release_that_each_page_names_is_no_change(two: tuple[Path, Path], built: Path) -> None:
    edit(two[1], 'value="not released yet">not released yet<', 'value="v1.0.0">v1.0.0<')
    assert call("diff", *two, "--root", built).output == "No number changed.\n"


def test_the_entry_of_a_list_is_told_from_its_neighbours(two: tuple[Path, Path], built: Path) -> None:
    edit(two[1], ">null<", ">open<", "findings/index.html")
    result = call("diff", *two, "--root", built)
    assert result.output == (
        "findings/index.html#F-02: claim flipped: status: null → open\n1 claim flipped\n"
    )


def test_the_name_of_a_field_is_compared_as_a_text(two: tuple[Path, Path], built: Path) -> None:
    edit(two[1], 'value="vanilla"', 'value="plain"', "kill-criteria.html")
    edit(two[1], ">vanilla<", ">plain<", "kill-criteria.html")
    result = call("diff", *two, "--root", built)
    assert result.exit_code == 0, result.output
    assert "kill-criteria.html" in result.output and "vanilla → plain" in result.output


UNREADABLE = {
    "an empty page": (b"", "it is empty"),
    "a mark without its value": (b"<p><data class='num' data-format='plain'>7</data></p>", "value"),
    "an expression that is no list": (
        b"<p><data class='num derived' value='7/1' data-format='plain' data-expression='{'>7</data></p>",
        "Expecting",
    ),
    "an expression without operands": (
        b"<p><data class='num derived' value='7/1' data-format='plain' data-expression='[]'>7</data></p>",
        "expression",
    ),
    "a value that is no number": (
        b"<p><data class='num' value='x' data-format='plain' data-src='a' data-ptr='/b' data-line='1'"
        b" data-sha256='0'>7</data></p>",
        "x",
    ),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_page_that_cannot_be_read_is_refused_at_its_place(
    two: tuple[Path, Path], built: Path, name: str
) -> None:
    data, expected = UNREADABLE[name]
    (two[1] / F1).write_bytes(data)
    result = call("diff", *two, "--root", built)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(f"{two[1]}/{F1}:1:1: bad-page: The page cannot be read")
    assert expected in result.stderr
    assert lines(two[1], two[0]) == [
        "What changed cannot be told: the former site has pages whose marks cannot be read."
    ]


def test_a_folder_without_pages_is_refused(two: tuple[Path, Path], built: Path, tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    result = call("diff", two[0], tmp_path / "none", "--root", built)
    assert result.exit_code == 1
    assert f"{tmp_path / 'none'}:1:1: bad-page" in result.stderr


def test_pages_that_differ_without_a_number_are_named_too(two: tuple[Path, Path]) -> None:
    edit(two[1], "Words of", "The words of", "reading.html")
    (two[1] / "more.html").write_text("<p>More</p>")
    (two[0] / "less.html").write_text("<p>Less</p>")
    assert lines(*two) == [
        "less.html: gone, without a number",
        "more.html: a new page, without a number",
        "reading.html: changed, and none of its numbers",
    ]


def test_numbers_that_only_moved_are_counted_a_page(two: tuple[Path, Path]) -> None:
    edit(two[1], 'data-line="19"', 'data-line="20"')
    found = lines(*two)
    assert len(found) == 1
    assert found[0].startswith(f"{F1}: moved place only: ")


def test_many_changes_are_cut_and_counted(two: tuple[Path, Path]) -> None:
    for number in range(LIMIT + 7):
        (two[1] / f"more-{number}.html").write_text("<p>More</p>")
    found = lines(*two)
    assert len(found) == LIMIT + 1
    assert found[-1] == f"and 7 more changes, on {LIMIT + 7} pages in all."


def test_a_build_says_what_it_changed_in_the_site_it_replaces(tmp_path: Path) -> None:
    root = sample_record.write(tmp_path)
    first = call("build", "--root", root)
    assert first.exit_code == 0
    assert first.output.startswith("2")  # nothing stands before the count of what is traced
    again = call("build", "--root", root, "--again")
    assert again.output == first.output
    changed = {
        LOOKUP: sample_record.PAYLOAD.replace('"value": 2.5978', '"value": 2.6978'),
        "payloads/SHA256SUMS": "",
        "findings/F-01.md": sample_record.FINDING.replace("signed(3)", "signed(4)"),
    }
    sample_record.write(root, changed)
    (root / "payloads/SHA256SUMS").unlink()
    output = call("build", "--root", root).output
    assert f"{F1}#tokens: changed value: 2.60 → 2.70 (2.5978 → 2.6978), {LOOKUP}:19#/results" in output
    assert f"{F1}: changed rounding: −0.007 → −0.0069 (-0.006860, signed(3) → signed(4))" in output
    assert "index.html: changed value: 2.60 → 2.70" in output
