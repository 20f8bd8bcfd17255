"""The lab in a real browser, from a file: it computes as Python does, asks before it tells, keeps notes."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import jsonschema
import lxml.html
import pytest
from axe_playwright_python.sync_playwright import Axe

from engine import lab
from engine.lab_cli import SCHEMA

ROOT = Path(__file__).parents[2]
EDITIONS = ("lab.html", "lab.de.html")


@pytest.fixture(params=EDITIONS)
def edition(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def page(watched, site: Path):
    watched.open((site / "lab.html").as_uri())
    watched.page.wait_for_selector("#lab-found svg")
    yield watched.page
    assert watched.complaints == [] and watched.elsewhere == []


def validator(name: str) -> jsonschema.Draft202012Validator:
    schema = json.loads(SCHEMA.read_text("utf-8"))
    return jsonschema.Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": schema["$defs"]})


def saved(page, name: str) -> str:
    with page.expect_download() as download:
        page.get_by_role("button", name=name).click()
    return Path(download.value.path()).read_text("utf-8")


def fill(page, **values: Any) -> None:
    for name, value in values.items():
        page.fill(f"#lab-{name}", str(value))
    page.wait_for_timeout(300)


def drawn(rng: random.Random) -> dict[str, Any]:
    given: dict[str, Any] = {
        "draft_length": rng.randint(0, 16),
        "acceptance": rng.random(),
        "draft": rng.uniform(0, 40),
        "verify": rng.uniform(1, 90),
        "growth": rng.random(),
        "plain": rng.uniform(1, 90),
        "rounds": 20 * rng.randint(1, 20),
        "seed": rng.randrange(2**32),
        "mode": rng.choice(lab.MODES),
    }
    if given["mode"] == "positions":
        rates = [rng.choice([0, 1, rng.random()]) for _ in range(rng.randint(1, 16))]
        given["meaning"] = rng.choice(["conditional", "joint"])
        given["rates"] = sorted(rates, reverse=True) if given["meaning"] == "joint" else rates
        given["draft_length"] = rng.randint(0, len(rates))
    return given


def test_two_hundred_random_settings_of_every_mode_are_computed_as_in_python(page) -> None:
    rng = random.Random(21)
    asked = [drawn(rng) for _ in range(200)]
    assert {(each["mode"], each.get("meaning")) for each in asked} == {
        ("constant", None),
        ("spread", None),
        ("positions", "conditional"),
        ("positions", "joint"),
    }
    told = page.evaluate("asked => asked.map((each) => Lab.text(Lab.report(each)))", asked)
    assert told == [lab.text(lab.report(each)) for each in asked]


def test_the_report_of_the_form_is_that_of_python(page) -> None:
    fill(page, acceptance="1", rounds="100")
    text = saved(page, "Export the report (JSON)")
    assert text == lab.text(lab.report({"acceptance": 1, "rounds": 100}))
    validator("report").validate(json.loads(text))
    facts = page.text_content("#lab-found dl")
    assert "formula5" in facts and "simulation5" in facts and "52 ms" in facts


def test_it_says_slower_in_words_and_refuses_with_the_limits(page) -> None:
    fill(page, acceptance="0,1")
    assert page.text_content("#lab-verdict").startswith("Slower than without")
    fill(page, acceptance="1.5")
    assert page.text_content("#lab-verdict") == "Acceptance: give a number from 0 to 1."
    assert page.get_attribute("#lab-acceptance", "aria-invalid") == "true"
    assert page.locator("#lab-found svg").count() == 0


def test_a_setting_in_the_address_comes_back_and_crosses_editions(page, site: Path) -> None:
    fill(page, acceptance="0.25", draft_length="3")
    address = page.evaluate("location.href")
    page.goto("about:blank")
    page.goto(address)
    page.wait_for_selector("#lab-found svg")
    assert (page.input_value("#lab-acceptance"), page.input_value("#lab-draft_length")) == ("0.25", "3")
    page.click("[data-edition-link]")
    page.wait_for_selector("#lab-found svg")
    assert page.input_value("#lab-acceptance") == "0.25"
    assert page.text_content("#lab-verdict").startswith("Langsamer als ohne")
    assert page.get_attribute("article", "lang") == "de"


@pytest.mark.parametrize("name", ["draft-greedy", "draft-sampled", "lookup-greedy", "lookup-sampled"])
def test_a_preset_brings_the_measured_rates(page, name: str) -> None:
    at = json.loads((ROOT / f"payloads/acceptance/{name}.json").read_text("utf-8"))["results"]["length_4"]
    page.click(f"[data-preset={name}] button")
    found = json.loads(saved(page, "Export the report (JSON)"))
    kept = [at[f"rounds_keeping_{k}"]["value"] for k in range(5)]
    assert found["acceptance"]["joint"] == pytest.approx([sum(kept[k:]) for k in range(1, 5)], rel=1e-12)
    assert found["expected"] == pytest.approx(at["tokens_per_check"]["value"], abs=0.02)


@pytest.mark.parametrize("width", [320, 390])
def test_presets_fit_a_phone_with_their_buttons_and_whole_words(
    watched, site: Path, edition: str, width: int
) -> None:
    watched.page.set_viewport_size({"width": width, "height": 800})
    page = watched.open((site / edition).as_uri())
    page.wait_for_selector("#lab-found svg")
    for button in page.locator("[data-preset] button").all():
        box = button.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= width
    hidden, broken = page.evaluate(
        """() => { const held = document.querySelector(".lab-presets").closest(".lab-wide");
             const walker = document.createTreeWalker(held, NodeFilter.SHOW_TEXT);
             const broken = [];
             for (let node = walker.nextNode(); node; node = walker.nextNode())
               for (const { 0: word, index } of node.data.matchAll(/\\S+/g)) {
                 const range = document.createRange();
                 range.setStart(node, index);
                 range.setEnd(node, index + word.length);
                 if (range.getClientRects().length > 1) broken.push(word);
               }
             return [held.scrollWidth - held.clientWidth, broken]; }"""
    )
    assert hidden <= 0 and broken == []
    heads = page.locator(".lab-presets thead th").all_text_contents()
    shown = page.locator("[data-preset=draft-greedy] .lab-head")
    assert shown.all_inner_texts() == heads[2:]
    page.set_viewport_size({"width": 1280, "height": 800})
    assert not shown.first.is_visible()


def test_what_is_pasted_is_read_or_refused(page) -> None:
    page.get_by_role("button", name="Load an example").click()
    assert page.input_value("#lab-rates") == "0.62, 0.41, 0.26"
    page.fill("#lab-text", '{"acceptance_histogram": {"0": 1, "1": 1}}')
    page.get_by_role("button", name="Read what is pasted").click()
    assert page.input_value("#lab-rates") == "0.5"
    page.fill("#lab-text", "<img src=x onerror=alert(1)>")
    page.get_by_role("button", name="Read what is pasted").click()
    assert "no list of rates" in page.text_content("#lab-paste [role=status]")


RATES = {
    "lab.html": "Load a preset or paste up to 16 rates, each between 0 and 1.",
    "lab.de.html": "Eine Voreinstellung laden oder höchstens 16 Raten einfügen, jede zwischen 0 und 1.",
}


def test_wrong_rates_are_refused_with_the_limits_of_a_rate(watched, site: Path, edition: str) -> None:
    page = watched.open((site / edition).as_uri())
    page.check("input[name=lab-mode][value=positions]")
    for wrong in ("0.5 1.5", "0.5 half", " ".join(["0.5"] * 17)):
        fill(page, rates=wrong)
        assert page.text_content("#lab-verdict") == RATES[edition], wrong
    page.fill("#lab-text", "0.5 1.5")
    page.locator("#lab-paste button").first.click()
    assert page.text_content("#lab-paste [role=status]") == RATES[edition]


LISTED: dict[str, dict[str, list[float] | None]] = {
    "lab.html": {
        "0.9; 0.8": [0.9, 0.8],
        "0.9,0.8 0.7\n1": [0.9, 0.8, 0.7, 1],
        "1,1,0": [1, 1, 0],
        "0,9; 0,8": None,
    },
    "lab.de.html": {
        "0,9; 0,8": [0.9, 0.8],
        "0,9;0,8;": [0.9, 0.8],
        "0,9 0,8\n0,1": [0.9, 0.8, 0.1],
        "0,9, 0,8": [0.9, 0.8],
        "1; 0,5; 0": [1, 0.5, 0],
        "0,1": [0.1],
        "0.9,0.8": [0.9, 0.8],
        "0.9, 0.8; 0.7": [0.9, 0.8, 0.7],
        "1,1,0": [1, 1, 0],
        "1, 0": [1, 0],
        "0,9,0,8": None,
        "1,0,1; 0,5": None,
    },
}


def test_rates_are_typed_and_pasted_with_the_decimals_of_the_edition(
    watched, site: Path, edition: str
) -> None:
    page = watched.open((site / edition).as_uri())
    page.check("input[name=lab-mode][value=positions]")
    for text, wanted in LISTED[edition].items():
        fill(page, draft_length=0, rates=text.replace("\n", " "))
        if wanted is None:
            assert page.get_attribute("#lab-rates", "aria-invalid") == "true", text
        else:
            assert f"rates={'+'.join(map(lab.number, wanted))}" in page.evaluate("location.hash"), text
        fill(page, draft_length=0, rates="0.25")
        page.fill("#lab-text", text)
        page.locator("#lab-paste button").first.click()
        kept = [0.25] if wanted is None else wanted
        assert page.input_value("#lab-rates") == ", ".join(map(lab.number, kept)), text


def test_a_shortened_table_says_so_and_a_whole_one_too(page) -> None:
    table = page.locator("#lab-found [data-table=table]")
    shown = table.locator("tbody tr").count()
    assert f"shortened: {shown} of 17 rows" in table.text_content()
    assert len(json.loads(saved(page, "Export the report (JSON)"))["curve"]) == 17
    page.get_by_role("button", name="Load an example").click()
    assert "The table is whole" in table.text_content()


def test_the_map_is_a_table_too_short_on_screen_and_whole_in_the_export(page) -> None:
    table = page.locator("#lab-found [data-table=map_table]")
    told = json.loads(saved(page, "Export the report (JSON)"))["map"]
    heads = table.locator("thead tr").last.locator("th").all_text_contents()
    lines = [line.locator("th, td").all_text_contents() for line in table.locator("tbody tr").all()]
    columns = [told["costs"].index(float(head)) for head in heads]
    rows = [told["acceptances"].index(float(line[0])) for line in lines[:-1]]
    assert {0, len(told["costs"]) - 1} <= {*columns} and {0, len(told["acceptances"]) - 1} <= {*rows}
    for row, line in zip(rows, lines, strict=False):
        assert [float(text) for text in line[1:]] == [round(told["speedup"][row][at], 3) for at in columns]
    even = [told["break_even"][at] for at in columns]
    assert None in even
    assert lines[-1][1:] == ["out of reach" if each is None else f"{each:.3f}".rstrip("0") for each in even]
    most = int(page.locator("#lab-shown data").get_attribute("value"))
    assert len(rows) <= most and len(columns) <= most
    assert f"{len(rows)} of 21 acceptances, {len(columns)} of 11 latencies" in table.text_content()


OFF = {
    "lab.html": ("costs 1.2 times a plain token, and the map ends at 1", "nothing is drafted", "The dot is"),
    "lab.de.html": ("das 1.2-Fache eines Tokens ohne Entwurf", "Nichts wird entworfen", "Der Punkt ist"),
}


def test_a_setting_without_a_dot_says_so_beside_the_map(watched, site: Path, edition: str) -> None:
    page = watched.open((site / edition).as_uri())
    page.wait_for_selector("#lab-found svg")
    off, none, dot = OFF[edition]
    for values, words, dots in (
        ({"draft": 30}, dot, 1),
        ({"draft": 36}, off, 0),
        ({"draft": 3, "draft_length": 0}, none, 0),
    ):
        fill(page, **values)
        figure = page.locator(".lab-drawings figure").last
        assert figure.locator("circle").count() == dots
        assert words in figure.locator("p").text_content()
        assert words in figure.locator("svg").get_attribute("aria-label")
        assert (dot in figure.locator("p").text_content()) == bool(dots)


def test_no_result_is_told_before_a_prediction(page) -> None:
    section = page.locator("[data-exercise=all_kept]")
    section.get_by_role("button").click()
    assert section.locator("dl").count() == 0 and "prediction comes before" in section.inner_text()
    section.locator("input").fill("4")
    section.get_by_role("button").click()
    told = section.locator("dl").inner_text()
    assert re.search(r"formula\s+5\s", told) and re.search(r"Off by\s+−1\s", told)


def test_the_exercises_tell_what_they_are_about(page) -> None:
    for name, wanted in (
        ("nothing_kept", [round(30 / 52, 3)]),
        ("meaning", [3.0, 1.938]),
        ("spread", [2.283, 1.938]),
        ("budget", [2.533, 2.497]),
    ):
        section = page.locator(f"[data-exercise={name}]")
        assert not section.locator("details p").is_visible()
        section.locator("input").fill("2")
        section.locator("button").click()
        assert all(str(each).removesuffix(".0") in section.locator("dl").inner_text() for each in wanted), (
            name
        )
    assert "larger draft wins" in page.locator("[data-exercise=budget]").inner_text()


def test_stages_are_marked_by_entries_and_the_editions_share_them(page, site: Path) -> None:
    mark = page.locator("#lab-contract [data-stage=investigate]")
    assert "not marked" in mark.inner_text()
    section = page.locator("[data-exercise=budget]")
    section.locator("input").fill("2.5")
    section.locator("button").click()
    section.get_by_role("button", name="Write it down").click()
    page.get_by_role("button", name="Add to the notebook").click()
    assert "Transfer test" in page.text_content("#lab-notebook > [role=status]")
    assert "not marked" in mark.inner_text()
    page.fill("#lab-note-transfer", "Where verify grows, <b>long</b> drafts lose.")
    page.get_by_role("button", name="Add to the notebook").click()
    assert "marked by your notebook" in mark.inner_text()
    book = json.loads(saved(page, "Export as JSON"))
    validator("notebook").validate(book)
    [entry] = book["entries"]
    assert (entry["exercise"], len(entry["input"]), entry["code"]) == ("budget", 2, lab.CODE)
    assert entry["discrepancy"] == pytest.approx(entry["observed"] - 2.5)
    assert "**Transfer test" in saved(page, "Export as Markdown")
    page.goto((site / "lab.de.html").as_uri())
    assert "durch das Notizbuch belegt" in page.locator("#lab-contract [data-stage=investigate]").inner_text()
    assert page.locator("#lab-entries b").count() == page.locator("#lab-entries p").count()
    page.get_by_role("button", name="Leeren").click()
    page.get_by_role("button", name="Noch einmal drücken").click()
    assert "leer" in page.text_content("#lab-entries")
    assert page.evaluate("JSON.parse(localStorage['specdec-lab-notebook']).entries") == []


LACKING = {
    "lab.html": ("at least 40 characters and 5 different words", "not what a run with this input gives"),
    "lab.de.html": (
        "mindestens 40 Zeichen und 5 verschiedene Wörter",
        "nicht das, was ein Lauf mit dieser Eingabe",
    ),
}
EXPLAINED = "If the prompts differ, the mean no longer says how long a round is."


def test_an_entry_that_explains_nothing_marks_no_stage(watched, site: Path, edition: str) -> None:
    page = watched.open((site / edition).as_uri())
    page.wait_for_selector("#lab-found svg")
    for stage, field in (("understand", "counterexample"), ("investigate", "transfer")):
        page.select_option("#lab-note-stage", stage)
        page.fill("#lab-note-expected", "3")
        page.fill("#lab-note-observed", "3")
        for empty in ("x", "x" * 60, "no no no no no no no no no no no no no no no", "It is not so here."):
            page.fill(f"#lab-note-{field}", empty)
            page.locator("#lab-notebook button.first").click()
            assert LACKING[edition][0] in page.text_content("#lab-notebook > [role=status]"), empty
            assert page.locator("#lab-contract .marked").count() == 0
        page.fill(f"#lab-note-{field}", EXPLAINED)
        page.locator("#lab-notebook button.first").click()
        marked = page.locator("#lab-contract .marked")
        assert marked.evaluate_all("items => items.map((each) => each.dataset.stage)") == [stage]
        page.evaluate("localStorage.clear()")
        page.reload()
        page.wait_for_selector("#lab-found svg")


def test_implement_is_marked_by_what_a_run_gives_and_by_no_other_numbers(
    watched, site: Path, edition: str
) -> None:
    page = watched.open((site / edition).as_uri())
    page.wait_for_selector("#lab-found svg")
    fill(page, acceptance="0.7", draft_length="3")
    told = lab.report({"acceptance": 0.7, "draft_length": 3})
    mark = page.locator("#lab-contract [data-stage=implement]")
    page.select_option("#lab-note-stage", "implement")
    right = (f"{told['expected']:.3f}", f"{told['observed']:.3f}")
    for expected, observed in (("1", "2"), (right[0], "2"), ("1", right[1]), right):
        assert "marked" not in (mark.get_attribute("class") or "")
        page.fill("#lab-note-expected", expected)
        page.fill("#lab-note-observed", observed)
        page.locator("#lab-notebook button.first").click()
        if (expected, observed) != right:
            assert LACKING[edition][1] in page.text_content("#lab-notebook > [role=status]")
            assert json.loads(page.input_value("#lab-note-input"))["acceptance"] == 0.7
    assert "marked" in (mark.get_attribute("class") or "")
    page.evaluate(
        """() => { const shelf = JSON.parse(localStorage["specdec-lab-notebook"]);
             shelf.entries[0].observed = 9;
             localStorage["specdec-lab-notebook"] = JSON.stringify(shelf); }"""
    )
    page.reload()
    page.wait_for_selector("#lab-found svg")
    assert "marked" not in (mark.get_attribute("class") or "")


def test_a_speedup_that_an_exercise_told_can_be_written_down(page) -> None:
    section = page.locator("[data-exercise=nothing_kept]")
    section.locator("input").fill("0.5")
    section.locator("button").click()
    section.get_by_role("button", name="Write it down").click()
    page.select_option("#lab-note-stage", "implement")
    page.get_by_role("button", name="Add to the notebook").click()
    assert "marked by your notebook" in page.locator("#lab-contract [data-stage=implement]").inner_text()


def test_the_keyboard_reaches_every_control(page) -> None:
    page.focus("#lab-draft_length")
    page.keyboard.press("Control+A")
    page.keyboard.type("2")
    page.wait_for_timeout(300)
    assert "36 ms" not in page.text_content("#lab-found") and "46 ms" in page.text_content("#lab-found")
    page.focus("input[name=lab-mode][value=constant]")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.wait_for_timeout(300)
    assert page.is_visible("#lab-kept") and not page.is_visible("#lab-acceptance")
    assert (
        page.evaluate("[...document.querySelectorAll('article [tabindex=\"-1\"]:not(data a)')].length") == 0
    )


def test_the_lab_looks_like_the_rest_of_the_site(page) -> None:
    gaps = page.evaluate(
        """() => [...document.querySelectorAll(".lab-choice label")].map((each) =>
             each.querySelector("b").getBoundingClientRect().left
               - each.querySelector("input").getBoundingClientRect().right)"""
    )
    assert len(gaps) == 6 and min(gaps) >= 6
    notes = page.evaluate(
        """() => [...document.querySelectorAll(".lab-exercise details, .lab-result details")].map((each) =>
             [getComputedStyle(each).borderLeftWidth,
              getComputedStyle(each.querySelector("summary")).backgroundColor,
              getComputedStyle(each.querySelector("summary"), "::before").display])"""
    )
    assert set(map(tuple, notes)) == {("0px", "rgba(0, 0, 0, 0)", "none")}


@pytest.mark.parametrize("width", [390, 1280])
def test_letters_in_the_drawings_are_legible_and_inside(
    watched, site: Path, edition: str, width: int
) -> None:
    watched.page.set_viewport_size({"width": width, "height": 800})
    page = watched.open((site / edition).as_uri())
    page.wait_for_selector("#lab-found svg")
    texts = page.evaluate(
        """() => [...document.querySelectorAll(".lab-drawings text")].map((each) => {
             const [text, whole] = [each, each.ownerSVGElement].map((one) => one.getBoundingClientRect());
             const inside = text.left >= whole.left && text.right <= whole.right
               && text.top >= whole.top && text.bottom <= whole.bottom + 1;
             const scale = each.ownerSVGElement.getScreenCTM().a;
             return [each.textContent, inside, scale * parseFloat(getComputedStyle(each).fontSize)]; })"""
    )
    assert [text for text, inside, size in texts if not inside or size < 12.5] == []


def test_every_field_has_a_name_with_its_unit(page) -> None:
    named = page.evaluate(
        """() => [...document.querySelectorAll('.lab-fields input')].map((each) =>
             each.getAttribute('aria-labelledby').split(' ')
               .map((id) => document.getElementById(id).textContent))"""
    )
    assert len(named) == len(lab.FIELDS) and all(name and unit for name, unit in named)


def test_live_elements_are_empty_and_fields_bare_in_the_published_page(site: Path, edition: str) -> None:
    root = lxml.html.parse(str(site / edition)).getroot()
    live = root.xpath("//article//*[@data-live]")
    assert live and not "".join(each.text_content() for each in live).strip()
    assert root.xpath("//article//input | //article//textarea") == []


def test_no_numeral_is_made_outside_what_is_live(watched, site: Path, edition: str) -> None:
    page = watched.open((site / edition).as_uri())
    page.wait_for_selector("#lab-found svg")
    for section in page.locator("[data-exercise]").all():
        section.locator("input").fill("2")
        section.locator("button").click()
        section.locator("button.first").last.click()
    page.click("[data-preset=draft-greedy] button")
    page.fill("#lab-note-counterexample", "7 times")
    page.locator("#lab-notebook button.first").click()
    page.fill("#lab-note-counterexample", f"7 times. {EXPLAINED}")
    page.fill("#lab-note-transfer", f"7 times. {EXPLAINED}")
    page.locator("#lab-notebook button.first").click()
    made = page.evaluate(
        """() => { const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
             const texts = [];
             for (let node = walker.nextNode(); node; node = walker.nextNode()) {
               const quiet = node.parentElement.closest("script, style, [data-live]");
               if (!quiet && /[0-9]/.test(node.data)) texts.push(node.data.trim());
             }
             return texts; }"""
    )
    audited = re.sub(r"\s+", " ", lxml.html.parse(str(site / edition)).getroot().text_content())
    assert [text for text in made if re.sub(r"\s+", " ", text) not in audited] == []
    attributes = page.evaluate(
        """() => ["aria-label", "title", "placeholder"].flatMap((name) =>
             [...document.querySelectorAll(`article [${name}]`)]
               .filter((each) => !each.closest("[data-live]") && !each.matches("data *"))
               .map((each) => each.getAttribute(name))
               .filter((text) => /[0-9]/.test(text)))"""
    )
    assert attributes == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(watched, site: Path, edition: str, scheme: str) -> None:
    watched.page.emulate_media(color_scheme=scheme)
    page = watched.open((site / edition).as_uri())
    page.wait_for_selector("#lab-found svg")
    page.locator("[data-exercise=budget] input").fill("2")
    page.locator("[data-exercise=budget] button").click()
    for fold in page.locator("#lab-found summary").all():
        fold.click()
    found = Axe().run(page).response["violations"]
    assert [(each["id"], [node["html"][:160] for node in each["nodes"][:3]]) for each in found] == []


@pytest.mark.parametrize("width", [320, 1280])
def test_nothing_scrolls_sideways(watched, site: Path, edition: str, width: int) -> None:
    watched.page.set_viewport_size({"width": width, "height": 800})
    page = watched.open((site / edition).as_uri())
    for mode in ("positions", "spread", "constant"):
        page.check(f"input[name=lab-mode][value={mode}]")
        page.wait_for_timeout(300)
        excess = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert excess <= 0, mode
