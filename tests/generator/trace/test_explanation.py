"""Whatever a reader points at is explained down to the bytes and the command that made them."""

from __future__ import annotations

from pathlib import Path

import pytest
import sample_record
from click.testing import CliRunner, Result

from generator.cli import main

F1, LOOKUP = "findings/F-01.md", "payloads/acceptance/lookup.json"
VALUE = f"2.5978  {LOOKUP}:19:16  /results/tokens_per_check/value"
LOW = f"2.4102  {LOOKUP}:20:14  /results/tokens_per_check/low"
ESTIMATE = (
    "tokens per check, [2.4102, 2.8041] at level 0.95, percentile prompt-cluster bootstrap, "
    "10000 resamples, 84 clusters, 3810 observations"
)


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample record, only read."""
    return sample_record.write(tmp_path_factory.mktemp("record"))


def explain(root: Path, reference: str) -> Result:
    return CliRunner().invoke(main, ["explain", reference, "--root", str(root)], catch_exceptions=False)


REFERENCES = {
    "an id": ("F-01", "F-01 in findings/F-01.md"),
    "a statement": ("F-01#tokens", "F-01 in findings/F-01.md"),
    "a source": ("findings/F-01.md#tokens", "F-01 in findings/F-01.md"),
    "a page": ("findings/F-01.html", "F-01 in findings/F-01.md"),
    "a statement of a page": ("findings/F-01.html#tokens", "F-01 in findings/F-01.md"),
    "an anchor of a page": ("findings/F-01.html#F-01-tokens", "F-01 in findings/F-01.md"),
    "an address with host": ("https://example.org/a/b/findings/F-01.html#F-01-tokens", "F-01 in"),
    "an address of a file": ("file:///home/a/site/findings/F-01.html#tokens", "F-01 in"),
    "an address with a query": ("https://example.org/findings/F-01.html?h=x#tokens", "F-01 in"),
    "a heading of a page": ("findings/F-01.html#what-bytes-buy", "F-01 in"),
    "the front page": ("index.html", "landing.md in templates/landing.md.j2"),
    "the folder of a site": ("https://example.org/record/", "landing.md in templates/landing.md.j2"),
    "a page of the author": ("reading.html", "reading in site_src/reading.md"),
    "a kill criterion": ("K-1", "K-1 in findings/K-1.md"),
    "an entry of a page": ("kill-criteria.html#K-1", "K-1 in findings/K-1.md"),
    "a line of a payload": ("payloads/acceptance/lookup.html#L19", VALUE),
    "a line of a payload at a host": ("http://example.org/x/payloads/acceptance/lookup.html#L19", VALUE),
    "a line of a file": (f"{LOOKUP}#L19", VALUE),
    "a place as other commands print it": (f"{LOOKUP}:19:16", VALUE),
    "a field": (f"{LOOKUP}#/results/tokens_per_check/value", VALUE),
    "a field as other commands print it": (f"{LOOKUP}:19#/results/tokens_per_check/value", VALUE),
    "a quantity": (f"{LOOKUP}#/results/tokens_per_check", VALUE),
    "a field in an address": (f"{LOOKUP}#/results%2Ftokens_per_check/low", LOW),
    "a payload by name": ("acceptance/lookup", f"{LOOKUP} stands behind"),
    "a payload by path": (LOOKUP, f"{LOOKUP} stands behind"),
}


@pytest.mark.parametrize("name", REFERENCES)
def test_every_form_of_a_reference_is_understood(record: Path, name: str) -> None:
    reference, expected = REFERENCES[name]
    result = explain(record, reference)
    assert result.exit_code == 0, result.output
    assert result.output.startswith(expected)


UNKNOWN = {
    "no such id": ("F-99", "There is no F-99"),
    "no such statement": ("F-01#none", "F-01 has no statement none. It has: tokens, gain."),
    "no such page": ("https://example.org/nowhere.html", "There is no https://example.org/nowhere.html"),
    "a list of the generator": ("findings/index.html", "findings/index.html is a list"),
    "a page of many entries": ("kill-criteria.html", "kill-criteria.html is a list"),
    "no such field": (f"{LOOKUP}#/results/none", "has no field /results/none"),
    "a bad pointer": (f"{LOOKUP}#/results/~7", "has no field /results/~7"),
    "a field that is an object": (f"{LOOKUP}#/results", "is an object. It has tokens_per_check"),
    "a line without a value": (f"{LOOKUP}#L2000", "Line 2000 of"),
    "a place that is none": (f"{LOOKUP}#here", "has no place here"),
    "no address at all": ("http://[", "There is no http://["),
    "nothing": ("", "There is no  in this record"),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_means_nothing_here_is_misuse(record: Path, name: str) -> None:
    reference, expected = UNKNOWN[name]
    result = explain(record, reference)
    assert result.exit_code == 2, result.output
    assert expected in result.stderr
    assert result.stdout == ""


def test_an_interval_is_explained_down_to_three_values_and_their_origin(record: Path) -> None:
    assert explain(record, "F-01#tokens").output == (
        "F-01 in findings/F-01.md\n"
        "2.60 [2.41, 2.80]  each rounded half to even as places(2)\n"
        f"    {VALUE}  bytes 664-670\n"
        f"        {ESTIMATE}\n"
        f"    {LOW}  bytes 685-691\n"
        f"    2.8041  {LOOKUP}:21:15  /results/tokens_per_check/high  bytes 707-713\n"
        "84  as it is written\n"
        f"    84  {LOOKUP}:25:19  /results/tokens_per_check/clusters  bytes 835-837\n"
        f"        {ESTIMATE}\n"
        "\n"
        f"{LOOKUP}\n"
        f"    digest {sample_record.files()['payloads/SHA256SUMS'].split()[0]}\n"
        "    measured, specdec-sidechannels/payload/1\n"
        "    made by engine run acceptance --draft lookup\n"
        "    at commit 3f0c1ab09f3b5f6d0d1c9f8f3c1d2e4a5b6c7d8e\n"
        "    on two CPU cores\n"
        "    with torch 2.13.0\n"
    )


def test_claims_and_derived_numbers_are_explained_as_trees(record: Path) -> None:
    output = explain(record, "F-01#gain").output
    assert 'claim "more than plain decoding"  true, because\n    >  gives true\n        2.4102' in output
    assert f"2.60×  exactly 12989/5000, as times(2)\n    /  gives 12989/5000\n        {VALUE}" in output


ADDRESSES = {
    "index.html#n-lookup.tokens_per_check": VALUE,
    "findings/F-01.html#n-lookup.tokens_per_check.low": LOW,
    "https://example.org/a/findings/F-01.html#n-lookup.tokens_per_check-2": VALUE,
    "findings/F-01.html#n-derived-tokens_per_check-vanilla": "/  gives 12989/5000",
}


@pytest.mark.parametrize("reference", ADDRESSES)
def test_the_address_of_a_number_explains_that_number_alone(
    record: Path, built: Path, reference: str
) -> None:
    page, _, anchor = reference.partition("#")
    written = (built / "site" / page.removeprefix("https://example.org/a/")).read_text()
    assert f'id="{anchor}"' in written
    chain = explain(record, reference).output.partition("\n\n")[0]
    assert chain.count("\n2.60") == 1 and ADDRESSES[reference] in chain and "\n84 " not in chain


def test_judgements_and_computed_numbers_are_explained(record: Path) -> None:
    output = explain(record, "F-02").output
    assert 'judged "null"  true, because\n    and  gives true\n        <  gives true\n' in output
    assert "            0  a constant\n" in output
    assert 'judged "did not fire"  true, because\n    not  gives true\n' in explain(record, "K-1").output
    assert "2  computed by the rule findings-count\n" in explain(record, "index.html").output


def test_a_field_is_explained_with_everything_that_shows_it(record: Path) -> None:
    output = explain(record, f"{LOOKUP}#/results/tokens_per_check").output
    assert f"    shown as 2.60 in {F1}\n" in output
    assert f"    shown as 2.60 [2.41, 2.80] in {F1}#tokens\n" in output
    assert "    shown as 2.60 in templates/landing.md.j2\n" in output
    assert "    no page shows it\n" in explain(record, f"{LOOKUP}#/results/margin/resamples").output


def test_every_value_on_a_line_is_explained(record: Path) -> None:
    output = explain(record, f"{LOOKUP}#L6").output
    assert output.startswith(f"2  {LOOKUP}:6:27  /config/lookahead\n")
    assert f"84  {LOOKUP}:6:41  /config/prompts\n" in output


def test_models_inputs_and_uncommitted_changes_are_said(tmp_path: Path) -> None:
    text = sample_record.PAYLOAD.replace('"dirty": false', '"dirty": true')
    text = text.replace('"models": []', f'"models": [{{"name": "m", "sha256": "{"a" * 64}"}}]')
    text = text.replace('"inputs": []', f'"inputs": [{{"path": "i.toml", "sha256": "{"b" * 64}"}}]')
    root = sample_record.write(tmp_path, {LOOKUP: text, "payloads/SHA256SUMS": ""})
    output = explain(root, "F-01#tokens").output
    assert "    at commit 3f0c1ab09f3b5f6d0d1c9f8f3c1d2e4a5b6c7d8e, with changes\n" in output
    assert f"    model m  {'a' * 64}\n    input i.toml  {'b' * 64}\n" in output


BROKEN = {
    "an unknown field": ("tokens_per_check.low > a", "tokens_per_check.lo > a", "unknown-field"),
    "a false claim": (
        "{% claim a.results.tokens_per_check.low >",
        "{% claim a.results.tokens_per_check.low <",
        "claim-false",
    ),
    "no expression": ("a.results.vanilla %}", "a.results.vanilla > %}", "bad-template"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_source_that_is_refused_is_explained_as_far_as_it_can_be_read(tmp_path: Path, name: str) -> None:
    old, new, code = BROKEN[name]
    root = sample_record.write(tmp_path, {F1: sample_record.FINDING.replace(old, new)})
    result = explain(root, "F-01")
    assert result.exit_code == 0
    assert f"`findings check` refuses it ({code}); what can be read follows.\n" in result.output
    assert VALUE in result.output
    assert ("  false, because" in result.output) == (code == "claim-false")
