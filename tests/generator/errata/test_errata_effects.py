"""What an erratum changes is computed turn by turn: numbers, claims, rules, verdicts, outcomes."""

from __future__ import annotations

from pathlib import Path

import corrected_record as record
import pytest
import sample_record

from generator.errata.effects import Traced, trace
from generator.errata.telling import told
from generator.render import site


def traced(root: Path, changes: dict[str, str]) -> Traced:
    found, evaluations = site.gather(sample_record.write(root, {**record.PAYLOADS, **changes}))
    report = site.judge(found, evaluations)
    assert not report.refusals, report.refusals
    return trace(found.payloads, evaluations.values())


def test_a_corrected_value_turns_over_every_claim_rule_and_outcome_that_rests_on_it(tmp_path: Path) -> None:
    (effects,) = traced(tmp_path, {record.FIRST: record.erratum(1)}).effects
    assert list(told(effects)) == [
        "templates/landing.md.j2: 2.60 → 0.90",
        "findings/F-01.md: 2.60 → 0.90",
        "findings/F-01.md: The rule for “holds” no longer holds",
        "findings/F-01.md: The verdict “faster than plain decoding” becomes “as fast as plain decoding”",
        "findings/F-01.md#tokens: 2.60 [2.41, 2.80] → 0.90 [0.80, 0.99]",
        "findings/F-01.md#gain: 2.60× → 0.90×",
        "findings/F-01.md#gain: “more than plain decoding” no longer holds",
        "findings/K-1.md: The outcome “did not fire” becomes “fired”",
    ]


def test_a_chain_of_errata_is_followed_step_by_step(tmp_path: Path) -> None:
    second = record.erratum(2, date="2024-06-01", before="b", after="c")
    first, second_ = traced(tmp_path, {record.FIRST: record.erratum(1), record.SECOND: second}).effects
    assert "findings/F-01.md#tokens: 2.60 [2.41, 2.80] → 0.90 [0.80, 0.99]" in list(told(first))
    assert list(told(second_)) == [
        "templates/landing.md.j2: 0.90 → 2.70",
        "findings/F-01.md: 0.90 → 2.70",
        "findings/F-01.md: The rule for “holds” now holds",
        "findings/F-01.md: The verdict “as fast as plain decoding” becomes “faster than plain decoding”",
        "findings/F-01.md#tokens: 0.90 [0.80, 0.99] → 2.70 [2.50, 2.90]",
        "findings/F-01.md#gain: 0.90× → 2.70×",
        "findings/F-01.md#gain: “more than plain decoding” now holds",
        "findings/K-1.md: The outcome “fired” becomes “did not fire”",
    ]


def test_the_day_of_an_erratum_and_not_its_number_gives_its_turn(tmp_path: Path) -> None:
    errata = {
        record.FIRST: record.erratum(1, date="2024-06-01", before="b", after="c"),
        record.SECOND: record.erratum(2, date="2024-05-01"),
    }
    assert [each.erratum.source.id for each in traced(tmp_path, errata).effects] == ["E-2", "E-1"]


def test_one_bound_that_is_corrected_is_told_without_its_interval(tmp_path: Path) -> None:
    fields = {
        "old": "a.results.tokens_per_check.low | places(2)",
        "new": "b.results.tokens_per_check.low | places(2)",
    }
    (effects,) = traced(tmp_path, {record.FIRST: record.erratum(1, **fields)}).effects
    lines = list(told(effects))
    assert "findings/F-01.md#tokens: 2.41 → 0.80" in lines
    assert not any("[" in line or "2.60" in line for line in lines)


def test_a_value_that_the_form_of_a_page_cannot_print_is_told_as_it_is_written(tmp_path: Path) -> None:
    tiny = record.payload("recount", "0.00012", "0.00011", "0.00013")
    fields = {key: f"{alias}.results.tokens_per_check" for key, alias in (("old", "a"), ("new", "b"))}
    (effects,) = traced(tmp_path, {record.RECOUNT: tiny, record.FIRST: record.erratum(1, **fields)}).effects
    lines = list(told(effects))
    assert "templates/landing.md.j2: 2.60 → 0.00012" in lines
    assert "findings/F-01.md#gain: 2.60× → 0.000120" in lines


def test_other_words_touch_their_statement_alone(tmp_path: Path) -> None:
    (effects,) = traced(tmp_path, {record.FIRST: record.wording(1, statement="gain")}).effects
    assert list(told(effects)) == ["findings/F-01.md#gain: marked as corrected"]


def test_a_correction_that_divides_by_zero_is_refused_at_its_new_field(tmp_path: Path) -> None:
    nought = sample_record.PAYLOAD.replace('"vanilla": {"value": 1,', '"vanilla": {"value": 0,')
    changes = {
        record.RECOUNT: nought.replace("acceptance/lookup", "acceptance/recount"),
        record.FIRST: record.erratum(1, statement="gain", old="a.results.vanilla", new="b.results.vanilla"),
    }
    report = site.judge(*site.gather(sample_record.write(tmp_path, {**record.PAYLOADS, **changes})))
    assert [(each.path, each.line, each.code) for each in report.refusals] == [
        (record.FIRST, 10, "bad-erratum")
    ]


@pytest.mark.parametrize("count", [0, 1])
def test_a_record_that_is_refused_has_no_effects(tmp_path: Path, count: int) -> None:
    finding = sample_record.FINDING.replace("> a.results.vanilla %}more", "< a.results.vanilla %}more")
    changes = {"findings/F-01.md": finding} if count else {}
    root = sample_record.write(tmp_path, {**record.PAYLOADS, record.FIRST: record.erratum(1), **changes})
    found, evaluations = site.gather(root)
    assert len(trace(found.payloads, evaluations.values()).effects) == 1 - count
