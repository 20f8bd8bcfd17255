"""The button re-computes the numbers of a page from the bytes, served or from a file, and sees tampering."""

from __future__ import annotations

import hashlib
import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

CASES = Path(__file__).parents[1] / "cases" / "display"
FINDING = "findings/F-01.html"
PAYLOAD = "payloads/acceptance/lookup.json"


def verified(page) -> tuple[str, str]:
    """Whether it holds, and what is said."""
    page.get_by_role("button", name="Verify this page").click()
    page.wait_for_selector("#verify-result[data-outcome]")
    result = page.locator("#verify-result")
    assert result.get_attribute("role") == "status"
    return result.get_attribute("data-outcome"), result.inner_text()


@pytest.mark.parametrize("name", ["index.html", FINDING, "payloads/acceptance/lookup.html"])
@pytest.mark.parametrize("served", [True, False], ids=["served", "from a file"])
def test_every_number_is_computed_again(
    watched, small: Path, serve: Callable, name: str, served: bool
) -> None:
    page = watched.open((serve(small) if served else small.as_uri() + "/") + name)
    outcome, said = verified(page)
    count = re.match(r"(\d+) of (\d+) re-computed here", said)
    assert outcome == "same" and count and count[1] == count[2] and int(count[1]) > 0, said
    marks = page.locator("article .num[data-src], article .num[data-expression]")
    assert int(count[1]) >= marks.count() > 0
    assert page.locator("article .num[data-src][data-verified=same]").count() > 0
    assert watched.complaints == [] and watched.elsewhere == []


SPOILED = {
    "a glyph": (FINDING, ">2.60</a>", ">2.61</a>", "the page shows 2.61, the payload gives 2.60"),
    "a lexeme": (
        FINDING,
        'value="2.5978"',
        'value="2.5979"',
        "the payload has 2.5978, the page states 2.5979",
    ),
    "a line": (FINDING, 'data-line="', 'data-line="9', "it stands on line"),
    "a digest": (FINDING, 'data-sha256="', 'data-sha256="00', "hashes to"),
    "a pointer": (FINDING, "/tokens_per_check/value", "/tokens_per_chck/value", "there is no field"),
    "a comparison": (FINDING, 'data-claim="[&quot;&gt;', 'data-claim="[&quot;&lt;', "does not hold"),
    "the carried payload": (f"{PAYLOAD}.js", "2.5978", "2.5979", "hashes to"),
}


@pytest.mark.parametrize("what", SPOILED)
def test_a_digit_that_was_tampered_with_shows_red(watched, tampered: Path, what: str) -> None:
    name, before, after, found = SPOILED[what]
    file = tampered / name
    text = file.read_text("utf-8")
    assert before in text
    file.write_text(text.replace(before, after), "utf-8")
    page = watched.open((tampered / FINDING).as_uri())
    outcome, said = verified(page)
    assert outcome == "differs" and found in said, said
    bad = page.locator("[data-verified=differs]").first
    assert bad.evaluate("each => getComputedStyle(each).outlineStyle") == "solid"


def test_a_served_payload_that_was_tampered_with_shows_red(watched, tampered: Path, serve: Callable) -> None:
    file = tampered / PAYLOAD
    file.write_bytes(file.read_bytes().replace(b"2.5978", b"2.5979"))
    outcome, said = verified(watched.open(serve(tampered) + FINDING))
    assert outcome == "differs" and "hashes to" in said


def test_without_a_network_a_page_that_is_open_still_verifies(watched, small: Path) -> None:
    page = watched.open((small / FINDING).as_uri())
    page.context.set_offline(True)
    assert verified(page)[0] == "same"


def test_a_served_page_that_lost_its_network_says_that_it_could_not_read(
    watched, small: Path, serve: Callable
) -> None:
    page = watched.open(serve(small) + FINDING)
    page.context.set_offline(True)
    outcome, said = verified(page)
    assert outcome == "unread", said
    assert f"{PAYLOAD} could not be read" in said and "neither confirmed" in said and "hold" not in said, said
    assert page.locator("[data-verified=differs]").count() == 0
    colours = "each => [getComputedStyle(each).borderLeftColor, getComputedStyle(each.firstChild).color]"
    assert page.locator("#verify-result").evaluate(colours) == ["rgb(91, 107, 115)", "rgb(31, 42, 48)"]
    page.hover(".statement .num[data-src] >> nth=0")
    page.locator(".card").get_by_role("button", name="Verify").click()
    page.get_by_text(f"Not checked: {PAYLOAD} could not be read.").wait_for()
    assert page.locator(".card-outcome").get_attribute("data-outcome") == "unread"
    page.context.set_offline(False)
    page.get_by_role("button", name="Verify this page").click()
    page.wait_for_selector("#verify-result[data-outcome=same]")


def test_a_page_with_nothing_to_compute_again_is_not_said_to_hold(watched, small: Path) -> None:
    outcome, said = verified(watched.open((small / "coverage.html").as_uri()))
    assert outcome == "nothing" and said.startswith("Nothing on this page can be recomputed here."), said
    assert "by the build" in said and " of 0" not in said, said


@pytest.mark.parametrize(
    ("faults", "words"), [([""], "1 of 1 comparison holds."), (["no", ""], "1 of 2 comparisons hold.")]
)
def test_comparisons_are_told_by_their_number(watched, small: Path, faults: list[str], words: str) -> None:
    page = watched.open((small / "index.html").as_uri())
    told = "faults => findings.told(faults.map(fault => ({ what: 'claim', fault, unread: '' })))"
    assert page.evaluate(told, faults) == words


def test_the_copy_beside_a_payload_is_read_where_the_payload_is_not_served(
    watched, tampered: Path, serve: Callable
) -> None:
    (tampered / PAYLOAD).unlink()
    assert verified(watched.open(serve(tampered) + FINDING))[0] == "same"
    copy = tampered / f"{PAYLOAD}.js"
    copy.write_text(copy.read_text("ascii").replace("2.5978", "2.5979"), "ascii")
    outcome, said = verified(watched.open(serve(tampered) + FINDING))
    assert outcome == "differs" and "hashes to" in said, said
    copy.unlink()
    assert verified(watched.open(serve(tampered) + FINDING))[0] == "unread"


def test_python_and_the_browser_print_the_same_cases(watched, small: Path) -> None:
    page = watched.open((small / "index.html").as_uri())
    forms = json.loads((CASES / "forms.json").read_text("utf-8"))
    printed = page.evaluate(
        """cases => cases.map(([lexeme, form]) => {
             try { return findings.shown(findings.exact(lexeme), form, lexeme); }
             catch { return null; } })""",
        forms,
    )
    assert [[*case[:2], text] for case, text in zip(forms, printed, strict=True)] == forms


def test_python_and_the_browser_derive_the_same_cases(watched, small: Path) -> None:
    page = watched.open((small / "index.html").as_uri())
    derived = json.loads((CASES / "derived.json").read_text("utf-8"))
    found = page.evaluate(
        """({ fields, values, conditions }) => {
             const named = (tree) => Array.isArray(tree) ? [tree[0], ...tree.slice(1).map(named)]
               : tree in fields ? ["payload", tree, ""] : tree;
             const value = (tree) => findings.evaluate(named(tree), (path, pointer) => fields[pointer]);
             const attempt = (made) => { try { return made(); } catch { return null; } };
             return {
               values: values.map(([tree, , form]) => [
                 attempt(() => { const { n, d } = value(tree); return `${n}/${d}`; }),
                 attempt(() => findings.shown(value(tree), form))]),
               conditions: conditions.map(([tree]) => value(tree)),
             }; }""",
        derived,
    )
    assert found["values"] == [[value, shown] for _, value, _, shown in derived["values"]]
    assert found["conditions"] == [truth for _, truth in derived["conditions"]]


@pytest.mark.parametrize("size", [0, 1, 3, 55, 56, 63, 64, 65, 119, 120, 1000])
def test_the_digest_that_is_written_out_is_that_of_the_standard(watched, small: Path, size: int) -> None:
    page = watched.open((small / "index.html").as_uri())
    data = bytes(range(256)) * 4
    both = page.evaluate(
        """async (bytes) => { const data = Uint8Array.from(bytes);
             return [findings.sha256Written(data), await findings.sha256(data)]; }""",
        list(data[:size]),
    )
    assert both == [hashlib.sha256(data[:size]).hexdigest()] * 2


def judged(page, files: list[str] | str) -> tuple[str, str]:
    page.set_input_files(".drop input >> nth=0", files)
    page.locator("#file-result").filter(has_text=re.compile(".{21}", re.DOTALL)).wait_for()
    page.wait_for_timeout(500)
    result = page.locator("#file-result")
    return result.get_attribute("data-outcome"), result.inner_text()


def zipped(folder: Path, file: Path) -> str:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for each in sorted(folder.rglob("*")):
            if each.is_file():
                archive.write(each, f"site/{each.relative_to(folder).as_posix()}")
    return str(file)


PLACE = '<div id="dropped-file"></div>'


def opened(watched, site: Path):
    """A page of a copy of the site with a place for files, as a page of its own has it."""
    file = site / "index.html"
    file.write_text(file.read_text("utf-8").replace("</article>", f"{PLACE}</article>"), "utf-8")
    return watched.open(file.as_uri())


def test_a_payload_is_recognised_and_a_changed_one_is_not(watched, tampered: Path, tmp_path: Path) -> None:
    page = opened(watched, tampered)
    outcome, said = judged(page, str(tampered / PAYLOAD))
    assert outcome == "same" and f"It is {PAYLOAD} of this site." in said
    changed = tmp_path / "lookup.json"
    changed.write_bytes((tampered / PAYLOAD).read_bytes().replace(b"2.5978", b"2.5979"))
    outcome, said = judged(page, str(changed))
    assert outcome == "differs" and "No release of this record" in said


def test_a_whole_site_is_verified_from_an_archive(
    watched, small: Path, tampered: Path, tmp_path: Path
) -> None:
    page = opened(watched, tampered)
    outcome, said = judged(page, zipped(small, tmp_path / "good.zip"))
    assert outcome == "same" and "not released" in said and "re-computed here" in said, said
    file = tampered / FINDING
    file.write_text(file.read_text("utf-8").replace(">2.60</a>", ">2.61</a>"), "utf-8")
    outcome, said = judged(page, zipped(tampered, tmp_path / "bad.zip"))
    assert outcome == "differs" and "2.61" in said, said
