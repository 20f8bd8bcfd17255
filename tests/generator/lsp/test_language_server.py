"""An author meets in the editor what the gate would say, and where each number comes from."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
import sample_record
from editor import ROOT, Editor, play
from lsprotocol import types

from generator.lsp import binding
from generator.record import record as records
from generator.render import desk
from generator.render.desk import Desk

FINDING = "findings/F-01.md"
CASES = ROOT / "tests/cases/refused"
PAYLOAD = "payloads/acceptance/lookup.json"


@pytest.fixture
def record(tmp_path: Path) -> Path:
    return sample_record.write(tmp_path / "record")


def errors(found: list[types.Diagnostic]) -> list[str]:
    return [str(each.code) for each in found if each.severity == types.DiagnosticSeverity.Error]


def line_of(text: str) -> int:
    return sample_record.PAYLOAD[: sample_record.PAYLOAD.index(text)].count("\n") + 1


def test_a_number_is_refused_as_it_is_typed_and_let_go_as_it_is_bound(record: Path) -> None:
    async def scene(editor: Editor) -> None:
        assert errors(await editor.open(FINDING)) == []
        found = await editor.type(FINDING, "## What", "𝔘 A check emits 2.60 of them.\n\n## What")
        assert errors(found) == ["untraced-number"]
        assert editor.shown(FINDING, found[0].range) == "2.60"
        bound = "{{ a.results.tokens_per_check | places(2) }}"
        assert errors(await editor.type(FINDING, "emits 2.60 of", f"emits {bound} of")) == []
        assert errors(await editor.type(FINDING, f"emits {bound} of", "emits {{ a.results.gone }} of")) == [
            "unknown-field"
        ]
        assert "bad-template" in errors(await editor.type(FINDING, "a.results.gone }}", "a.results."))

    play(record, scene)


def test_a_hover_shows_value_place_digest_and_rounding(record: Path) -> None:
    async def scene(editor: Editor) -> None:
        await editor.open(FINDING)
        said = await editor.hover(FINDING, "a.results.tokens_per_check | ci(2)", 12)
        line = line_of("2.5978")
        digest = records.load(record).payloads[PAYLOAD].sha256
        for part in (
            "2.60 [2.41, 2.80]",
            "half to even as places(2)",
            f"2.5978  {PAYLOAD}:{line}:16",
            digest,
        ):
            assert part in said
        assert "tokens per check" in said
        claim = await editor.hover(FINDING, "claim a.results", 10)
        assert "true, because" in claim
        assert "unknown-field" in await hover_of_a_fault(editor)
        assert "K-1  findings/K-1.md" in await hover_of_an_id(editor)

    play(record, scene)


async def hover_of_a_fault(editor: Editor) -> str:
    await editor.type(FINDING, "a.seeds.root", "a.seeds.gone")
    return await editor.hover(FINDING, "a.seeds.gone", 3)


async def hover_of_an_id(editor: Editor) -> str:
    await editor.open("findings/F-02.md")
    return await editor.hover("findings/F-02.md", "K-1", 1)


POINTED = [
    ("a.results.tokens_per_check | ci(2)", 12, PAYLOAD, line_of("2.5978")),
    ("a.results.tokens_per_check.low", 28, PAYLOAD, line_of("2.4102")),
    ("a.results.tokens_per_check | ci(2)", 3, PAYLOAD, line_of('"results": {')),
    ("payloads/acceptance/lookup.json", 5, PAYLOAD, 1),
    ("F-02 says", 1, "findings/F-02.md", 2),
]


def test_what_is_pointed_at_is_found(record: Path) -> None:
    async def scene(editor: Editor) -> None:
        await editor.open(FINDING)
        for text, shift, path, line in POINTED:
            assert await editor.definition(FINDING, text, shift) == (path, line), text

    play(record, scene)


OFFERED = [
    ("{{ ", {"a", "min", "findings-count"}, "tokens_per_check"),
    ("{{ a.results.", {"tokens_per_check", "vanilla", "margin"}, "a"),
    ("{{ a.results.tok", {"tokens_per_check"}, "a"),
    ("{{ a.results.margin.", {"low", "high", "unit"}, "margin"),
    ("{{ a.results.margin | ", {"places", "ci", "ordinal"}, "margin"),
    ("{% ", {"claim", "statement", "endclaim"}, "a"),
    ("{% claim a.results.", {"vanilla"}, "places"),
    ("See ", {"F-01", "F-02", "K-1", "fp32"}, "a"),
]


def test_what_can_be_written_next_is_offered(record: Path) -> None:
    (record / "findings/terms.toml").write_text('[[term]]\ntext = "fp32"\nreason = "a precision"\n')

    async def scene(editor: Editor) -> None:
        await editor.open(FINDING)
        for typed, offered, absent in OFFERED:
            await editor.type(FINDING, "## What", f"Now {typed}\n\n## What")
            found = {each.label for each in await editor.complete(FINDING, f"Now {typed}")}
            assert offered <= found, typed
            assert absent not in found, typed
            await editor.type(FINDING, f"Now {typed}\n\n", "")

    play(record, scene)


def test_a_chosen_field_replaces_only_what_was_begun(record: Path) -> None:
    async def scene(editor: Editor) -> types.TextEdit:
        await editor.open(FINDING)
        await editor.type(FINDING, "## What", "Now {{ a.results.tok }}\n\n## What")
        found = await editor.complete(FINDING, "Now {{ a.results.tok")
        edit = next(each.text_edit for each in found if each.label == "tokens_per_check")
        assert isinstance(edit, types.TextEdit)
        assert editor.shown(FINDING, edit.range) == "tok"
        return edit

    assert play(record, scene).new_text == "tokens_per_check"


def test_every_field_that_could_be_meant_is_offered_and_none_is_picked(record: Path) -> None:
    twin = json.loads(sample_record.PAYLOAD)
    twin["name"] = "acceptance/twin"
    twin["results"] = {"rate": {"value": 2.6, "unit": "seconds"}}
    (record / "payloads/acceptance/twin.json").write_text(json.dumps(twin))
    (record / "payloads/SHA256SUMS").unlink()

    async def scene(editor: Editor) -> list[types.CodeAction]:
        await editor.open(FINDING)
        found = await editor.type(FINDING, "## What", "A check emits 2.60, not 2.61, tokens.\n\n## What")
        held, unheld = (each for each in found if each.code == "untraced-number")
        assert await editor.actions(FINDING, unheld) == []
        return await editor.actions(FINDING, held)

    made = play(record, scene)
    titles = [each.title for each in made]
    assert len(titles) == 2
    assert "a.results.tokens_per_check | places(2)" in titles[0]
    assert "twin.results.rate | places(2)" in titles[1]
    assert all(PAYLOAD in titles[0] or "twin.json" in each for each in titles)
    assert not any(each.is_preferred or each.command for each in made)
    assert [each.kind for each in made] == [types.CodeActionKind.QuickFix] * 2
    assert made[1].edit is not None
    assert made[1].edit.changes is not None
    (edits,) = made[1].edit.changes.values()
    assert [each.new_text for each in edits] == [
        "{{ twin.results.rate | places(2) }}",
        "  twin: payloads/acceptance/twin.json\n",
    ]


@pytest.mark.parametrize(
    ("written", "bound"),
    [
        ("2.5978", "{{ a.results.tokens_per_check }}"),
        ("12.5%", "{{ a.results.accepted | percent(1) }}"),
        ("-0.0069", "{{ a.results.margin | places(4) }}"),
        ("14,456,199,684", "{{ a.results.drawn | group }}"),
        ("eighty-four", "{{ a.config.prompts | words }}"),
        ("84th", "{{ a.config.prompts | ordinal }}"),
        ("+2.598", "{{ a.results.tokens_per_check | signed(3) }}"),
    ],
)
def test_a_number_is_bound_in_the_form_in_which_it_was_typed(record: Path, written: str, bound: str) -> None:
    held = desk.read(record)
    source = held.record.findings[0]
    text = source.text + written
    typed = binding.typed(text, len(source.text))
    assert typed is not None
    assert bound in [each.expression for each in binding.candidates(held, source, text, typed)]


def test_saving_reads_the_record_again_and_tells_of_files_that_are_not_open(record: Path) -> None:
    async def scene(editor: Editor) -> tuple[list[str], list[str]]:
        await editor.open(FINDING)
        (record / "findings/F-02.md").write_text(sample_record.NULL.replace("K-1", "K-9"))
        held = types.TextDocumentIdentifier(editor.uri(FINDING))
        editor.text_document_did_save(types.DidSaveTextDocumentParams(held))
        told = errors(await editor.diagnostics("findings/F-02.md"))
        (record / "findings/F-02.md").write_text(sample_record.NULL)
        change = types.FileEvent(editor.uri("findings/F-02.md"), types.FileChangeType.Changed)
        editor.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([change]))
        return told, errors(await editor.diagnostics("findings/F-02.md"))

    assert play(record, scene) == (["unknown-id"], [])


def test_a_file_outside_any_record_is_left_alone(tmp_path: Path, record: Path) -> None:
    (tmp_path / "notes.md").write_text("It took 7 days.\n")

    async def scene(editor: Editor) -> None:
        uri = (tmp_path / "notes.md").as_uri()
        item = types.TextDocumentItem(uri, "markdown", 1, "It took 7 days.\n")
        editor.text_document_did_open(types.DidOpenTextDocumentParams(item))
        where = types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(0, 8))
        assert await editor.text_document_hover_async(where) is None
        with pytest.raises(asyncio.QueueEmpty):
            editor.told.get_nowait()

    play(record, scene)


def source_cases() -> list[Path]:
    """Cases in which a source is refused for what stands in it."""
    elsewhere = {"registered-text-changed", "untracked-source", "stale-critic", "unused-term", "too-large"}
    return [
        each
        for each in sorted(CASES.iterdir())
        if each.name not in elsewhere and (each / "findings").is_dir()
    ]


@pytest.mark.parametrize("case", source_cases(), ids=lambda case: case.name)
def test_a_typed_text_is_judged_as_the_file_would_be(case: Path) -> None:
    held = desk.read(case)
    for file in case.glob("findings/**/*.md"):
        path = file.relative_to(case).as_posix()
        try:
            text = file.read_bytes().decode("utf-8")
        except UnicodeDecodeError:
            continue
        assert desk.typed(held, path, text).refusals == desk.saved(held, path).refusals


@pytest.fixture(scope="module")
def published() -> Desk:
    return desk.read(ROOT)


def test_the_sources_of_this_record_are_judged_alike_as_text_and_as_files(published: Desk) -> None:
    held = published
    for source in held.record.sources[::5]:
        report, saved = desk.typed(held, source.path, source.text), desk.saved(held, source.path)
        assert (report.refusals, report.warnings) == (saved.refusals, saved.warnings)


def test_a_registered_text_may_not_be_typed_over(published: Desk) -> None:
    held = published
    source = next(each for each in held.record.findings if each.id == "F-01")
    codes = {each.code for each in desk.typed(held, source.path, source.text + "\nMore.\n").refusals}
    assert "registered-text-changed" in codes
