"""The policy of a page lets the site work, from a folder and from a server, and nothing else run."""

from __future__ import annotations

from pathlib import Path

import pytest

POLICY = 'http-equiv="Content-Security-Policy"'
SCRIPT = "<script>document.title = 'another'</script></body>"


def test_every_page_has_a_policy(small: Path) -> None:
    pages = list(small.rglob("*.html"))
    assert len(pages) > 5
    assert [page.name for page in pages if page.read_text("utf-8").count(POLICY) != 1] == []


@pytest.mark.parametrize("served", [False, True], ids=["folder", "server"])
def test_search_and_colours_work_under_the_policy(watched, small: Path, serve, served: bool) -> None:
    page = watched.open((serve(small) if served else small.as_uri() + "/") + "findings/F-01.html")
    page.locator(".md-search__input").click()
    page.keyboard.type("margin", delay=100)  # a text put in at once may be there before anything listens
    page.wait_for_selector(".md-search-result__item", state="attached")
    assert watched.complaints == [] and watched.elsewhere == []


def test_a_script_that_is_not_listed_does_not_run(watched, tampered: Path) -> None:
    file = tampered / "findings/F-01.html"
    file.write_text(file.read_text("utf-8").replace("</body>", SCRIPT), "utf-8")
    page = watched.open(file.as_uri())
    assert page.title() != "another"
    assert any("Content Security Policy" in each for each in watched.complaints)


def test_it_would_run_without_a_policy(watched, tampered: Path) -> None:
    file = tampered / "findings/F-01.html"
    text = file.read_text("utf-8").replace("</body>", SCRIPT)
    file.write_text(text.replace(POLICY, 'name="none"'), "utf-8")
    assert watched.open(file.as_uri()).title() == "another"
