"""Independent libraries read an export as crate, trail, assertions, identifiers; again, the same bytes."""

from __future__ import annotations

import hashlib
import json
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import pytest
import sample_record
from click.testing import CliRunner, Result

pytest.importorskip("rocrate", reason="the extra [export] is not installed")

from prov.model import ProvDocument
from pyshacl import validate
from rdflib import Dataset, Graph, Namespace
from rocrate.rocrate import ROCrate

from generator.cli import main

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning:rdflib", "ignore::DeprecationWarning:pyshacl"
)
"""What rdflib's own parsers still call, it warns of."""

SHAPES = Graph().parse(Path(__file__).with_name("shapes.ttl"))
PROV = Namespace("http://www.w3.org/ns/prov#")
CONTEXT = {
    "@vocab": "http://schema.org/",
    "File": "http://schema.org/MediaObject",
    "conformsTo": {"@id": "http://purl.org/dc/terms/conformsTo"},
}
"""Stands in for the contexts of schema.org and RO-Crate, which are had from the network."""

CITATION = """cff-version: 1.2.0
message: Cite it.
title: A sample
license: MIT
date-released: 2026-03-01
authors:
  - given-names: Ada
    family-names: Example
    orcid: https://orcid.org/0000-0002-1825-0097
"""


def export(root: Path, out: Path) -> Result:
    return CliRunner().invoke(
        main, ["export", "--root", str(root), "--out", str(out)], catch_exceptions=False
    )


def git(root: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=Anyone", "-c", "user.email=anyone@example.org")
    done = subprocess.run(["git", "-C", str(root), *identity, *arguments], check=True, capture_output=True)
    return done.stdout.decode().strip()


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample record, committed, with its export in out/."""
    root = sample_record.write(tmp_path_factory.mktemp("record"), {"CITATION.cff": CITATION})
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-qm", "One")
    done = export(root, root / "out")
    assert done.exit_code == 0, done.output
    return root


def conforms(graph: Graph) -> tuple[bool, str]:
    ok, _, text = validate(graph, shacl_graph=SHAPES)
    return bool(ok), str(text)


def crate_graph(document: dict[str, Any]) -> Graph:
    return Graph().parse(data=json.dumps({**document, "@context": CONTEXT}), format="json-ld")


def crate_document(root: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((root / "out/record/ro-crate-metadata.json").read_text())
    return loaded


def test_the_crate_is_read_back_with_every_file_its_size_its_digest_and_its_people(exported: Path) -> None:
    folder = exported / "out/record"
    crate = ROCrate(folder)
    told = {each.id: each for each in crate.data_entities}
    there = {file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()}
    assert set(told) == there - {"ro-crate-metadata.json", "SHA256SUMS"}
    for path, entity in told.items():
        data = (folder / path).read_bytes()
        assert entity["sha256"] == hashlib.sha256(data).hexdigest()
        assert entity["contentSize"] == str(len(data))
    assert crate.root_dataset["author"][0]["name"] == "Ada Example"
    assert crate.root_dataset["datePublished"] == "2026-03-01"


def test_the_crate_obeys_its_shapes_and_one_without_a_digest_does_not(exported: Path) -> None:
    document = crate_document(exported)
    ok, text = conforms(crate_graph(document))
    assert ok, text
    del next(each for each in document["@graph"] if each["@id"] == "findings/F-01.md")["sha256"]
    assert not conforms(crate_graph(document))[0]


def trail_graph(root: Path) -> Graph:
    trail = ProvDocument.deserialize(root / "out/record/prov.json", format="json")
    graph = Graph()
    written = trail.serialize(format="rdf", rdf_format="trig")
    for quad in Dataset().parse(data=written, format="trig").quads():
        graph.add(quad[:3])
    return graph


def test_the_trail_has_payloads_made_by_runs_and_numbers_quoted_from_them(
    exported: Path,
) -> None:
    graph = trail_graph(exported)
    ok, text = conforms(graph)
    assert ok, text
    numbers = json.loads((exported / "out/record/numbers.json").read_text())["pages"]
    read = sum("path" in entry for entries in numbers.values() for entry in entries.values())
    assert len(set(graph.subjects(PROV.qualifiedQuotation))) == read > 0
    graph.remove((None, PROV.wasGeneratedBy, None))
    assert not conforms(graph)[0]


def test_each_finding_is_an_assertion_with_four_graphs_about_numbers_of_its_page(exported: Path) -> None:
    for name in ("F-01", "F-02"):
        text = (exported / f"out/record/nanopublications/{name}.json").read_text()
        dataset = Dataset().parse(data=text, format="json-ld")
        named = {str(each.identifier) for each in dataset.graphs() if len(each)}
        parts = ("head", "assertion", "provenance", "pubinfo")
        assert named == {f"urn:findings:{name}/{part}" for part in parts}
        union = Graph()
        for quad in dataset.quads():
            union.add(quad[:3])
        ok, said = conforms(union)
        assert ok, said
        values = {str(each) for each in union.objects(None, Namespace("http://schema.org/").value)}
        assert values
        union.remove((None, Namespace("http://www.nanopub.org/nschema#").hasAssertion, None))
        assert not conforms(union)[0]


def test_each_identifier_is_what_git_calls_the_file_and_cuts_out_the_number(
    exported: Path,
) -> None:
    spans = json.loads((exported / "out/record/swhids.json").read_text())
    numbers = json.loads((exported / "out/record/numbers.json").read_text())["pages"]
    head = git(exported, "rev-parse", "HEAD")
    assert spans
    for address, swhid in spans.items():
        content, anchor, path, span = swhid.split(";")
        file = exported / path.removeprefix("path=/")
        assert content == f"swh:1:cnt:{git(exported, 'hash-object', str(file))}"
        assert anchor == f"anchor=swh:1:rev:{head}"
        first, last = map(int, span.removeprefix("bytes=").split("-"))
        page, _, name = address.partition("#")
        assert file.read_bytes()[first : last + 1].decode() == numbers[page][name]["value"]


def test_identifiers_of_a_record_in_a_folder_name_what_the_commit_holds(tmp_path: Path) -> None:
    root = sample_record.write(tmp_path / "record")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "One")
    assert export(root, tmp_path / "out").exit_code == 0
    for swhid in json.loads((tmp_path / "out/record/swhids.json").read_text()).values():
        content, anchor, path, _ = swhid.split(";")
        commit, file = anchor.removeprefix("anchor=swh:1:rev:"), path.removeprefix("path=/")
        assert content == f"swh:1:cnt:{git(tmp_path, 'rev-parse', f'{commit}:{file}')}"
    changed = sample_record.PAYLOAD.replace('"root": 20261130', '"root": 20261201').encode()
    (root / "payloads/acceptance/lookup.json").write_bytes(changed)
    listed = f"{hashlib.sha256(changed).hexdigest()}  payloads/acceptance/lookup.json\n"
    (root / "payloads/SHA256SUMS").write_text(listed)
    assert export(root, tmp_path / "other").exit_code == 0
    spans = json.loads((tmp_path / "other/record/swhids.json").read_text()).values()
    assert spans and all(each.count(";") == 1 for each in spans)


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        ("license: [MIT, Apache-2.0]", "license that is not one identifier"),
        ("date-released: soon", "date-released that is no day"),
        ("authors: Ada", "authors that are no list"),
        ("authors:\n  - {}", "authors that are no list"),
        ("a: [", "is no YAML"),
        ("- a", "holds no keys"),
    ],
)
def test_a_citation_that_cannot_be_passed_on_is_told(tmp_path: Path, stated: str, expected: str) -> None:
    root = sample_record.write(tmp_path / "record", {"CITATION.cff": f"{stated}\n"})
    done = export(root, tmp_path / "out")
    assert done.exit_code == 2 and expected in done.output
    assert not (tmp_path / "out").exists()


def test_no_authors_and_a_tag_of_python_in_the_configuration_are_no_faults(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    root = sample_record.write(tmp_path / "record", {"CITATION.cff": "authors:\n"})
    file = root / "mkdocs.yml"
    emoji = "  - pymdownx.emoji:\n      emoji_index: !!python/name:material.extensions.emoji.twemoji\n"
    text = file.read_text()
    assert "markdown_extensions:\n" in text
    file.write_text(text.replace("markdown_extensions:\n", f"markdown_extensions:\n{emoji}"))
    done = export(root, tmp_path / "out")
    assert done.exit_code == 0, done.output


def test_the_linked_data_of_every_page_is_read_as_schema_org(exported: Path) -> None:
    pages = list((exported / "out/record/site").rglob("*.html"))
    kinds = set()
    for file in pages:
        html = file.read_text()
        if file.name == "404.html":
            continue
        _, opened, after = html.partition('<script type="application/ld+json">')
        assert opened, file
        document = json.loads(after.partition("</script>")[0])
        kinds.add(document["@type"])
        graph = Graph().parse(
            data=json.dumps({**document, "@context": CONTEXT, "@id": "urn:page"}), format="json-ld"
        )
        assert len(graph) >= 2
    assert kinds == {"WebPage", "ScholarlyArticle", "Dataset"}


def test_the_archive_holds_the_folder_and_coreutils_find_every_digest(exported: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(exported / "out/record.zip") as archive:
        assert archive.testzip() is None
        archive.extractall(tmp_path)
    subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=tmp_path / "record", check=True)
    listed = (tmp_path / "record/SHA256SUMS").read_text().splitlines()
    there = [file for file in (tmp_path / "record").rglob("*") if file.is_file()]
    assert len(listed) == len(there) - 1
    (tmp_path / "record/findings/F-01.md").write_text("x")
    spoilt = subprocess.run(
        ["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=tmp_path / "record", capture_output=True
    )
    assert spoilt.returncode == 1


def test_an_export_made_again_has_the_same_bytes(exported: Path) -> None:
    assert export(exported, exported / "again").exit_code == 0
    assert (exported / "again/record.zip").read_bytes() == (exported / "out/record.zip").read_bytes()


def test_a_record_without_a_citation_outside_git_needs_a_date_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = sample_record.write(tmp_path / "record")
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    refused = export(root, tmp_path / "out")
    assert refused.exit_code == 2 and "SOURCE_DATE_EPOCH" in refused.output
    assert not (tmp_path / "out").exists()
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    done = export(root, tmp_path / "out")
    assert done.exit_code == 0, done.output
    ok, text = conforms(crate_graph(json.loads((tmp_path / "out/record/ro-crate-metadata.json").read_text())))
    assert ok, text


def test_a_folder_that_holds_something_is_left_alone(exported: Path) -> None:
    refused = export(exported, exported / "findings")
    assert refused.exit_code == 2 and "not empty" in refused.output
