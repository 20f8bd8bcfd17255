"""What a fault is, where it is planted, and when it counts as caught."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import groupby
from pathlib import Path

import pytest
import sample_record

from generator.report.refusal import Refusal
from generator.selftest import exact, judging, pages, run, sources, values
from generator.selftest.cases import forms
from generator.selftest.fault import Fault
from generator.selftest.mark import marks
from generator.selftest.share import Share, planted
from generator.selftest.tally import Tally
from generator.selftest.workplace import Workplace, prepare


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sample record with its site."""
    root = sample_record.write(tmp_path_factory.mktemp("record"))
    folder = tmp_path_factory.mktemp("copy")
    prepare(root, folder)
    return folder


def _copied(folder: Path, beside: Path) -> Workplace:
    """A workplace with room for others beside it."""
    shutil.copytree(folder, beside / "copy")
    return Workplace(beside / "copy")


def _refusals(*codes: str) -> list[Refusal]:
    return [Refusal("site/a.html", 1, column, code, "", "") for column, code in enumerate(codes, 1)]


def _fault(due: dict[str, int], barred: frozenset[str] = frozenset()) -> Fault:
    return Fault("a line", "site/a.html", 7, "3 → 4", due, dict, barred)


@pytest.mark.parametrize(
    ("due", "barred", "codes", "found"),
    [
        ({"place-mismatch": 1}, frozenset(), (), "found nothing"),
        ({"place-mismatch": 1}, frozenset(), ("bad-page",), "found bad-page"),
        ({"place-mismatch": 2}, frozenset(), ("place-mismatch",), "due 2 × place-mismatch"),
        (
            {"place-mismatch": 1},
            frozenset({"payload-changed"}),
            ("place-mismatch", "payload-changed"),
            "found payload-changed, place-mismatch",
        ),
    ],
)
def test_a_fault_without_its_own_refusal_is_a_miss_with_its_place(
    due: dict[str, int], barred: frozenset[str], codes: tuple[str, ...], found: str
) -> None:
    miss = _fault(due, barred).miss(_refusals(*codes))
    assert miss.startswith("site/a.html:7: missed: a line: 3 → 4: ")
    assert found in miss


def test_a_fault_with_all_its_refusals_is_caught_whatever_else_is_refused() -> None:
    fault = _fault({"place-mismatch": 2}, frozenset({"bad-payload"}))
    assert fault.miss(_refusals("place-mismatch", "unknown-id", "place-mismatch")) == ""


def test_every_mark_of_a_page_is_found_and_can_be_changed(folder: Path) -> None:
    page = (folder / "site/findings/F-01.html").read_text("utf-8")
    found = list(marks("site/findings/F-01.html", page))
    assert len(found) == page.count('<data class="num') + page.count(" data-claim=")
    for mark in found:
        for name, value in mark.attributes.items():
            changed = next(
                each for each in marks(mark.path, mark.changed(name, value + "&")) if each.start == mark.start
            )
            assert changed.attributes == {**mark.attributes, name: value + "&"}
    first = next(mark for mark in found if mark.is_leaf)
    assert first.typed() == page[: first.start] + first.text + page[first.end :]


def test_each_digit_of_each_number_is_changed_or_left_out_with_a_count(folder: Path) -> None:
    workplace = Workplace(folder)
    whats = [fault.what for fault in values.digits(workplace)]
    shown = {mark.attributes["value"] for mark in workplace.marks if mark.is_leaf and not mark.is_text}
    low = "/results/tokens_per_check/low"
    assert sum(what.startswith(f"{low}: 2.4102 → ") for what in whats) == 5
    assert len(set(whats)) == len(whats)
    assert len(whats) >= sum(character.isdigit() for value in shown for character in value)


def test_a_digit_on_which_nothing_depends_is_left_out(tmp_path: Path) -> None:
    finding = sample_record.NULL.replace(
        "{{ a.results.margin | ci(3) }}, at", "{{ a.results.margin | signed(3) }}, at"
    )
    first = sample_record.FINDING.replace(
        "- **{{ a.results.margin | ci(4, signed=true) }}** is the margin.\n", ""
    )
    root = sample_record.write(tmp_path / "record", {"findings/F-01.md": first, "findings/F-02.md": finding})
    (tmp_path / "copy").mkdir()
    workplace = prepare(root, tmp_path / "copy")
    compared = [fault for fault in values.digits(workplace) if "only compared" in fault.kind]
    assert compared == []
    assert workplace.left_out.total() == len("00110") + len("00021")


def test_a_changed_digit_is_given_away_by_no_digest(folder: Path) -> None:
    workplace = Workplace(folder)
    fault = next(values.digits(workplace))
    changes = fault.changes()
    assert {"payloads/SHA256SUMS", "site/payloads/acceptance/lookup.json"} < set(changes)
    with workplace.changed(changes):
        codes = Counter(each.code for each in judging.everything(workplace, tuple(changes)))
    assert codes["display-mismatch"] >= fault.due["display-mismatch"]
    assert not codes.keys() & values.GIVEN_AWAY


def test_the_copy_is_as_it_was_once_the_fault_is_taken_out(folder: Path) -> None:
    before = {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    workplace = Workplace(folder)
    for group in ("typed", "claims", "literals"):
        run.plant(workplace, group, Share())
    assert {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()} == before


def test_a_form_that_a_name_or_an_id_of_the_record_covers_is_none() -> None:
    every = {form.text for form in forms("source", (), ())}
    known = {form.text for form in forms("source", ("p95",), ("F-99",))}
    assert every - known == {"p955", "F-99 says so"}


PLUS = ["+", ["p", "/a", "d"], ["p", "/b", "d"]]
FIELDS = {"/a": Fraction(1, 2), "/b": Fraction(3)}


@pytest.mark.parametrize(
    ("tree", "holds"),
    [
        ([">", PLUS, "3"], True),
        (["<=", PLUS, "7/2"], True),
        (["not", [">", PLUS, "3"]], False),
        (["and", ["!=", PLUS, "3"], ["==", ["*", ["p", "/a", "d"], "2"], "1"]], True),
        (["or", ["<", ["abs", ["neg", ["p", "/b", "d"]]], "3"], [">=", ["max", "2", "1"], "2"]], True),
        (["<", ["/", ["p", "/b", "d"], ["p", "/a", "d"]], ["min", "6", "7"]], False),
    ],
)
def test_conditions_are_evaluated_exactly(tree: list[object], holds: bool) -> None:
    assert exact.holds(tree, lambda path, pointer: FIELDS[pointer]) is holds


def test_the_fields_of_an_expression_are_found() -> None:
    assert [leaf[1] for leaf in exact.leaves([">", PLUS, "3"])] == ["/a", "/b"]


@pytest.mark.parametrize("count", [1, 2, 3])
def test_every_fault_is_planted_once_however_many_processes_share_them(
    count: int, folder: Path, tmp_path: Path
) -> None:
    workplace = _copied(folder, tmp_path)
    alone = [run.plant(workplace, group, Share()) for group in ("claims", "pointers")]
    shared = list(planted(workplace, run.plant, ("claims", "pointers"), count))
    assert [each.planted for each in shared] == [each.planted for each in alone]
    assert [each.left_out for each in shared] == [each.left_out for each in alone]
    assert all(each.planted == each.caught for each in shared)


@pytest.mark.parametrize("group", run.GROUPS)
def test_faults_of_a_kind_stand_together_so_that_a_large_kind_is_seen_as_one(
    group: str, folder: Path
) -> None:
    kinds = [kind for kind, _ in groupby(run.GROUPS[group](Workplace(folder)), key=lambda each: each.kind)]
    assert len(kinds) == len(set(kinds))


def test_small_kinds_are_shared_out_as_evenly_as_large_ones(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = [replace(_fault({}), kind=f"kind {number}") for number in range(200)]
    monkeypatch.setitem(run.GROUPS, "claims", lambda _: iter(few))
    monkeypatch.setattr(judging, "touched", lambda *_: [])
    monkeypatch.setattr(judging, "everything", lambda *_: [])
    workplace = Workplace(folder)
    shares = [sum(run.plant(workplace, "claims", Share(at, 2)).planted.values()) for at in range(2)]
    assert sum(shares) == len(few)
    assert abs(shares[0] - shares[1]) <= 2  # those judged as a whole are counted by themselves


def test_a_process_that_dies_is_not_taken_for_one_that_caught_all(folder: Path, tmp_path: Path) -> None:
    def dying(workplace: Workplace, group: str, share: Share) -> Tally:
        if share.number:
            os._exit(1)
        return Tally()

    with pytest.raises(EOFError):
        list(planted(_copied(folder, tmp_path), dying, ("claims",), 2))


def test_a_surface_is_refused_for_nothing_but_what_is_planted_there(folder: Path) -> None:
    workplace = Workplace(folder)
    for surface in (*sources.surfaces(workplace), *pages.surfaces(workplace)):
        with workplace.changed({surface.path: surface.plant("Words here.")}):
            codes = {each.code for each in judging.touched(workplace, [surface.path])}
        assert codes <= {"unused-term"}, surface.name
