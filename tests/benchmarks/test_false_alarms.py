"""False alarms are counted over pinned prose, and every one that is drawn was judged."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import false_alarms, section
from benchmarks.false_alarms import Alarm, Judgement

KINDS = {
    "Since 7 days.": "numeral",
    "See #71 there.": "numeral: an issue",
    "With v1.2.3 here.": "numeral: a version or a date",
    "With `x = 7` here.": "numeral in code",
    "With Flake8 here.": "word that ends in digits",
    "With three runs.": "cardinal word",
    "With the third run.": "ordinal word that ranks",
    "With half of it.": "word that relates (half, twice, none)",
    "See phase II there.": "Roman numeral",
}


@pytest.fixture(scope="module")
def measured() -> tuple[int, list[Alarm]]:
    return false_alarms.measure()


def test_every_refusal_that_is_drawn_and_every_number_word_was_judged(
    measured: tuple[int, list[Alarm]],
) -> None:
    _, found = measured
    _, rows = false_alarms.judgements()
    wanted = [*false_alarms.drawn(found), *(each for each in found if each.is_word)]
    assert list(false_alarms.unjudged(wanted, rows)) == []
    assert {each.key for each in wanted} == set(rows)


def test_no_more_than_one_in_ten_is_wrong(measured: tuple[int, list[Alarm]]) -> None:
    _, rows = false_alarms.judgements()
    for judged in (false_alarms.drawn(measured[1]), [each for each in measured[1] if each.is_word]):
        assert 10 * sum(rows[each.key].wrong for each in judged) <= len(judged)


def test_a_refusal_without_a_judgement_is_named_with_its_place() -> None:
    alarm = Alarm("pkg 1.0", 3, 7, "untraced-number", "numeral", "about ▸7 runs")
    (entry,) = false_alarms.unjudged([alarm], {"pkg 1.0:3:8": Judgement(True, "elsewhere")})
    assert "at = 'pkg 1.0:3:7'" in entry
    assert "about ▸7 runs" in entry


def test_the_draw_does_not_depend_on_the_other_refusals(measured: tuple[int, list[Alarm]]) -> None:
    hundred = false_alarms.drawn(measured[1])
    fewer = [each for each in measured[1] if each != hundred[0]]
    assert hundred[1:] == false_alarms.drawn(fewer)[: len(hundred) - 1]


@pytest.mark.parametrize(("text", "kind"), KINDS.items())
def test_a_refusal_is_counted_in_its_class(text: str, kind: str) -> None:
    assert [each.kind for each in false_alarms.alarms("pkg 1.0", text)] == [kind]


def test_another_version_of_a_package_is_not_measured() -> None:
    with pytest.raises(LookupError, match="is installed as"):
        false_alarms.readme("click 0.0.1")
    with pytest.raises(LookupError, match="is not installed"):
        false_alarms.readme("no-such-package 1.0")


def test_a_section_is_replaced_between_its_marks_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "README.md"
    page.write_text("before\n<!-- a -->\nold\n<!-- end of a -->\nafter\n", "utf-8")
    monkeypatch.setattr(section, "README", page)
    section.replace("a", "new")
    assert page.read_text("utf-8") == "before\n<!-- a -->\nnew\n<!-- end of a -->\nafter\n"
    with pytest.raises(ValueError, match="no section"):
        section.replace("b", "new")


def test_the_published_section_is_what_the_run_prints(measured: tuple[int, list[Alarm]]) -> None:
    words, found = measured
    made = false_alarms.table(words, found, false_alarms.judgements()[1])
    assert made in section.README.read_text("utf-8")


def test_a_missing_judgement_stops_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    packages, _ = false_alarms.judgements()
    judged = tmp_path / "judged.toml"
    judged.write_text(f'packages = ["{packages[0]}"]\nrefusal = []\n', "utf-8")
    monkeypatch.setattr(false_alarms, "JUDGED", judged)
    monkeypatch.setattr(false_alarms, "replace", _never)
    assert false_alarms.main() == 1
    assert "[[refusal]]" in capsys.readouterr().out


def _never(name: str, text: str) -> None:
    raise AssertionError(f"{name} was written")
