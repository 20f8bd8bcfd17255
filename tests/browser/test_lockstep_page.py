"""The page of the coder, in a real browser and from a file: it codes, shows, refuses and judges."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from engine.coding import conformance, lockstep, profiles

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "site_src/lockstep.md"
PATIENCE = 60_000


@pytest.fixture
def bare(watched, tmp_path: Path):
    """The page's own markup without the theme, opened from a file; nothing but its scripts is loaded."""
    _, _, body = SOURCE.read_text(encoding="utf-8").split("---\n", 2)
    (tmp_path / "assets").symlink_to(ROOT / "site_src/assets")
    html = f"<!doctype html><html lang=en><meta charset=utf-8><title>t</title><body>{body}"
    (tmp_path / "lockstep.html").write_text(html, encoding="utf-8")
    watched.page.goto((tmp_path / "lockstep.html").as_uri())
    yield watched.page
    assert watched.complaints == [] and watched.elsewhere == []


def coded(text: str) -> str:
    model = lockstep.Adaptive(profiles.SYMBOLS, profiles.INCREMENT, profiles.LIMIT)
    return lockstep.encode(text.encode(), model).hex()


def test_every_vector_passes_in_the_browser(bare) -> None:
    count = len(conformance.vectors())
    said = f"{count} of {count} vectors pass in this browser."
    bare.wait_for_function(
        "said => document.getElementById('lockstep-verdict')?.textContent === said",
        arg=said,
        timeout=PATIENCE,
    )
    assert bare.locator("#lockstep-list li").count() == count


def test_a_vector_that_is_spoilt_fails_in_the_browser(bare) -> None:
    bare.wait_for_selector("#lockstep-run")
    bare.evaluate(
        "lockstepVectors['core-4-carry'].code = '00' + lockstepVectors['core-4-carry'].code.slice(2)"
    )
    bare.click("#lockstep-run")
    count = len(conformance.vectors())
    assert bare.text_content("#lockstep-verdict") == f"{count - 1} of {count} vectors pass in this browser."


@pytest.mark.parametrize("text", ["", "a", "Was zählt, é, 漢字", "to be or not to be " * 20])
def test_a_text_has_the_bytes_that_the_other_implementation_gives_it_and_comes_back(bare, text: str) -> None:
    bare.fill("#lockstep-text", text)
    assert bare.text_content("#lockstep-code") == coded(text)
    assert bare.input_value("#lockstep-hex") == coded(text)
    assert bare.text_content("#lockstep-back") == text


def test_the_interval_narrows_step_by_step_under_the_keyboard(bare) -> None:
    bare.fill("#lockstep-text", "abracadabra")
    assert bare.locator("#lockstep-steps tbody tr td:first-child").all_text_contents()[-1] == "11"
    bare.focus("#lockstep-step")
    bare.keyboard.press("Home")
    assert bare.locator("#lockstep-steps tbody tr").count() == 0
    bits = []
    for step in range(1, 12):
        bare.keyboard.press("ArrowRight")
        cells = bare.locator("#lockstep-steps tbody tr").last.locator("td").all_text_contents()
        assert cells[0] == str(step) and cells[1] == "abracadabra"[step - 1]
        bits.append(float(cells[5]))
        low, width = bare.evaluate("""() => {
            const last = [...document.querySelectorAll('#lockstep-steps tbody tr')].pop();
            const share = last.querySelector('div > div');
            return [parseFloat(share.style.left), parseFloat(share.style.width)];
        }""")
        assert 0 <= low < low + width <= 100.001
    assert bits == sorted(bits) and bits[-1] > 0
    assert bare.get_attribute("#lockstep-step", "aria-valuetext") == "step 11 of 11"


def test_playing_moves_on_by_itself_and_stops(bare) -> None:
    bare.fill("#lockstep-text", "ab")
    bare.focus("#lockstep-play")
    bare.keyboard.press("Enter")
    assert bare.text_content("#lockstep-play") == "Stop"
    bare.wait_for_function(
        "document.getElementById('lockstep-play').textContent === 'Play'", timeout=PATIENCE
    )
    assert bare.input_value("#lockstep-step") == "2"


@pytest.mark.parametrize(
    ("spoil", "clause"),
    [
        (lambda code: code[:-2], "truncated"),
        (lambda code: code + "00", "trailing"),
        (lambda code: "zz", "hex"),
        (lambda code: code[:-1] + ("0" if code[-1] != "0" else "1"), "canonical|truncated|trailing|slack"),
    ],
)
def test_what_is_no_code_is_refused_with_its_clause_and_gives_no_text(bare, spoil, clause: str) -> None:
    bare.fill("#lockstep-text", "abracadabra, abracadabra")
    bare.fill("#lockstep-hex", spoil(coded("abracadabra, abracadabra")))
    assert re.match(rf"Refused \(({clause})\)", bare.text_content("#lockstep-refusal"))
    assert bare.text_content("#lockstep-back") == ""


def test_markup_in_a_text_stays_text(bare) -> None:
    bare.fill("#lockstep-text", "<img src=x onerror=alert(1)>")
    assert bare.text_content("#lockstep-back") == "<img src=x onerror=alert(1)>"
    assert bare.locator("#lockstep-decode img").count() == 0


def test_live_elements_are_empty_in_the_published_page(site: Path) -> None:
    html = (site / "lockstep.html").read_text(encoding="utf-8")
    live = re.findall(r"<div id=\"?lockstep-\w+\"?[^>]*data-live[^>]*>(.*?)</div>", html, re.DOTALL)
    assert live == ["", "", ""]


def test_the_published_page_opens_from_a_file_and_passes(watched, site: Path) -> None:
    page = watched.open((site / "lockstep.html").as_uri())
    page.locator("#lockstep-verdict").filter(has_text="vectors pass").wait_for()
    count = len(conformance.vectors())
    assert f"{count} of {count}" in page.text_content("#lockstep-verdict")
    assert watched.complaints == [] and watched.elsewhere == []
