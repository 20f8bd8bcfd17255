"""Whatever bytes stand in a file of a record or of a site: done, refused or misused, never a traceback."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import sample_record
from command import call
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

SETTINGS = settings(
    derandomize=True, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)

ERRATUM = """---
id: E-1
finding: F-02
statement: margin
date: 2026-11-30
kind: value
reason: It was taken from another run.
old: a.results.margin
new: a.results.margin.low
payloads:
  a: payloads/acceptance/lookup.json
---

Words.
"""
WHOLE: dict[str, str | bytes | None] = {
    "findings/errata/E-1.md": ERRATUM,
    "findings/terms.toml": '[[term]]\ntext = "top-1"\nreason = "a measure"\n',
    "findings/F-02.md": sample_record.NULL.replace("See [the", "At top-1, see [the"),
}
PLANTED = [
    *(
        "{{",
        "}}",
        "{%",
        "%}",
        "{#",
        "-",
        "\n",
        "---\n",
        "\0",
        '"',
        "'",
        ":",
        "[",
        "]",
        "{",
        "}",
        "&#55;",
        "<",
    ),
    *("!!python/object/apply:os.system [a]", "&x ", "*x", "!ENV a", "? ", "| ", ">", "null", "[]", "{}", "/"),
    *(
        "9" * 500,
        "e999",
        "1e+5",
        "NaN",
        "-Infinity",
        "\\ud800",
        "\u202e",
        "\U000f0000",
        "\ufeff",
        "..",
        "a" * 300,
    ),
    *(
        "#L1-L999999999",
        "<!--",
        "</data>",
        '<pre data-verbatim="a">',
        '<data class="num">',
        "'''",
        "\t",
        "\r",
    ),
]


@st.composite
def spoiled(draw: st.DrawFn, whole: bytes) -> bytes:
    """Other bytes altogether, or the same with a few pieces taken out, put in or doubled."""
    if draw(st.integers(0, 9)) == 0:
        return draw(st.binary(max_size=80))
    data = whole
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(data)))
        gone = draw(st.sampled_from([0, 0, 1, 3, 10, 40]))
        planted = st.one_of(st.sampled_from(PLANTED).map(str.encode), st.binary(max_size=6))
        start = draw(st.integers(0, len(data)))
        doubled = st.just(data[start : start + 60])
        data = data[:at] + draw(st.one_of(planted, doubled)) + data[at + gone :]
    return data


SOURCES = {
    "findings/F-01.md": 40,
    "findings/F-02.md": 20,
    "findings/K-1.md": 15,
    "findings/errata/E-1.md": 25,
    "findings/terms.toml": 20,
    "payloads/acceptance/lookup.json": 40,
    "payloads/SHA256SUMS": 10,
    "templates/landing.md.j2": 15,
    "site_src/reading.md": 10,
    "mkdocs.yml": 20,
}


@pytest.mark.parametrize("path", SOURCES)
def test_any_bytes_in_a_source_are_judged(tmp_path: Path, path: str) -> None:
    root = sample_record.write(tmp_path, WHOLE)
    assert call("check", "--root", root).exit_code == 0

    @settings(SETTINGS, max_examples=SOURCES[path])
    @given(spoiled((root / path).read_bytes()))
    def judge(data: bytes) -> None:
        (root / path).write_bytes(data)
        assert call("check", "--root", root).exit_code in (0, 1)

    judge()


PAGES = {
    "site/findings/F-01.html": 30,
    "site/payloads/acceptance/lookup.html": 10,
    "site/search/search_index.json": 10,
    "site/sitemap.xml": 10,
    "findings/F-01.md": 10,
    "findings/terms.toml": 10,
    "payloads/acceptance/lookup.json": 20,
}


@pytest.mark.parametrize("path", PAGES)
def test_any_bytes_in_a_site_or_behind_it_are_audited(built: Path, tmp_path: Path, path: str) -> None:
    root = shutil.copytree(built, tmp_path / "record")

    @settings(SETTINGS, max_examples=PAGES[path])
    @given(spoiled((root / path).read_bytes()))
    def audit(data: bytes) -> None:
        (root / path).write_bytes(data)
        assert call("verify", "site", "--root", root).exit_code in (0, 1)

    audit()


@settings(SETTINGS, max_examples=8)
@given(spoiled(sample_record.MKDOCS.encode()))
def test_any_bytes_in_the_configuration_are_built_refused_or_misused(tmp_path: Path, data: bytes) -> None:
    root = tmp_path / "record"
    shutil.rmtree(root, ignore_errors=True)
    sample_record.write(root, {"mkdocs.yml": data})
    result = call("build", "--root", root)
    assert result.exit_code in (0, 1, 2)
    assert (result.exit_code == 0) == (root / "site/index.html").is_file()
