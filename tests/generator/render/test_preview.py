"""What is saved while a record is served: its own page at once, the whole site from a process beside."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import sample_record

from generator.render.mkdocs_plugin import Stopped
from generator.render.preview import Place, Preview

NULL = "findings/F-02.md"
TOLD = "The margin is not told from nothing"


@pytest.fixture
def preview(tmp_path: Path) -> Iterator[Preview]:
    place = Place(sample_record.write(tmp_path / "record"), None, "http://127.0.0.1:1/", tmp_path / "served")
    place.bell.mkdir(parents=True)
    made = Preview(place)
    made.whole()
    yield made
    made.drop()


def shown(preview: Preview, page: str) -> str:
    return (preview.place.site / page).read_text("utf-8")


def save(preview: Preview, path: str, old: str, new: str) -> None:
    file = preview.place.root / path
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new), "utf-8")


def test_the_page_of_a_saved_finding_is_shown_before_the_whole_site_is_there(preview: Preview) -> None:
    save(preview, NULL, "told from nothing", "told from chance")
    preview()
    assert "The margin is not told from chance" in shown(preview, "findings/F-02.html")
    assert TOLD in shown(preview, "findings/index.html")
    preview.beside.join()
    preview()
    for page in ("findings/index.html", "findings/F-02.html"):
        assert "The margin is not told from chance" in shown(preview, page)
    assert preview.beside is None and not preview.place.next.exists()


def test_the_page_is_the_one_that_a_whole_build_makes(preview: Preview) -> None:
    save(preview, NULL, "told from nothing", "told from chance")
    preview()
    at_once = shown(preview, "findings/F-02.html")
    preview.drop()
    preview.whole()
    assert shown(preview, "findings/F-02.html") == at_once


def test_a_number_that_is_typed_stops_its_page_and_nothing_is_built(preview: Preview) -> None:
    save(preview, NULL, "told from nothing", "told from 17")
    with pytest.raises(Stopped) as stopped:
        preview()
    assert [each.code for each in stopped.value.report.refusals] == ["untraced-number"]
    assert TOLD in shown(preview, "findings/F-02.html") and preview.beside is None
    save(preview, NULL, "told from 17", "told from chance")
    preview()
    assert "told from chance" in shown(preview, "findings/F-02.html")


def test_a_save_while_the_whole_site_is_built_is_shown_and_builds_it_anew(preview: Preview) -> None:
    save(preview, NULL, "told from nothing", "told from chance")
    preview()
    older = preview.beside
    save(preview, NULL, "told from chance", "told from luck")
    preview()
    assert "told from luck" in shown(preview, "findings/F-02.html")
    assert preview.beside is not older and older.exitcode
    preview.beside.join()
    preview()
    assert "told from luck" in shown(preview, "findings/F-02.html")


@pytest.mark.parametrize("path", ["mkdocs.yml", "findings/K-1.md"])
def test_what_other_pages_are_made_of_is_built_as_a_whole(preview: Preview, path: str) -> None:
    built = preview.plugin.site
    file = preview.place.root / path
    file.write_bytes(file.read_bytes() + b"\n")
    preview()
    assert preview.beside is None and preview.plugin.site is not built


def test_a_refused_whole_leaves_what_is_shown_and_the_next_save_builds_it(preview: Preview) -> None:
    file = preview.place.root / "payloads/acceptance/lookup.json"
    data = file.read_bytes()
    file.write_bytes(data + b"\n")
    with pytest.raises(Stopped) as stopped:
        preview()
    assert [each.code for each in stopped.value.report.refusals] == ["payload-changed"]
    assert TOLD in shown(preview, "findings/F-02.html")
    file.write_bytes(data)
    save(preview, NULL, "told from nothing", "told from chance")
    preview()
    assert preview.beside is None
    assert "told from chance" in shown(preview, "findings/index.html")


def test_a_source_that_goes_or_comes_is_built_as_a_whole(preview: Preview) -> None:
    text = (preview.place.root / NULL).read_text("utf-8")
    (preview.place.root / "findings/F-09.md").write_text(text.replace("F-02", "F-09"), "utf-8")
    preview()
    assert preview.beside is None and TOLD in shown(preview, "findings/F-09.html")
    (preview.place.root / "findings/F-09.md").unlink()
    preview()
    assert not (preview.place.site / "findings/F-09.html").exists()


def test_a_whole_site_that_is_refused_does_not_take_the_place_of_what_is_shown(
    preview: Preview, capfd: pytest.CaptureFixture[str]
) -> None:
    save(preview, NULL, "told from nothing", "told from chance")
    preview()
    preview.drop()
    (preview.place.root / "findings/terms.toml").write_text('[[term]]\ntext = "S1"\nreason = "A name."\n')
    preview.begin()
    preview.beside.join()
    assert "unused-term" in capfd.readouterr().err and not preview.done()
    assert list(preview.place.bell.iterdir()) == []
    assert "told from chance" in shown(preview, "findings/F-02.html")
