"""A synthetic record of any size, and the same pages with their numbers typed in, for plain mkdocs."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from unittest import mock

from engine.contract import store
from engine.contract.payload import Leaf, Lexeme, Measured, Provenance
from generator.render import site
from generator.render.mark import payload_url
from generator.render.sheet import Sheet

_TRACES = re.compile(r"</?data\b[^>]*>|(?<=\s)(?:data-[a-z0-9-]+|id)=\"[^\"]*\"")
NUMBERS = 20
MKDOCS = """site_name: Synthetic record
docs_dir: {docs}
use_directory_urls: false
theme:
  name: material
  font: false
plugins:
  - search
{plugin}"""


def value(finding: int, number: int) -> str:
    """A decimal that differs from number to number."""
    return f"{finding}.{number:02d}57"


def write(root: Path, findings: int) -> None:
    """A git repository with one payload and one finding a number, `findings` of them, 20 numbers each."""
    (root / "site_src").mkdir(parents=True)
    (root / "findings").mkdir()
    (root / "mkdocs.yml").write_text(MKDOCS.format(docs="site_src", plugin="  - findings\n"))
    for index in range(1, findings + 1):
        store.write(root / f"payloads/synthetic/p{index}.json", _payload(index))
        (root / f"findings/F-{index}.md").write_text(_finding(index))
    _commit(root, ["init", "-q"], ["add", "."], ["commit", "-q", "-m", "Synthetic record"])


def correct(root: Path, finding: int) -> None:
    """An erratum to the words of one finding."""
    folder = root / "findings/errata"
    folder.mkdir(exist_ok=True)
    (folder / "E-1.md").write_text(
        f"---\nid: E-1\nfinding: F-{finding}\nstatement: sa\ndate: 2026-11-30\nkind: wording\n"
        'reason: "The text went on otherwise."\npayloads: {}\n---\n'
    )
    _commit(root, ["add", "."], ["commit", "-q", "-m", "An erratum"])


def _commit(root: Path, *commands: list[str]) -> None:
    for command in commands:
        identity = ["-c", "user.name=benchmark", "-c", "user.email=benchmark@example.invalid"]
        subprocess.run(["git", *identity, *command], cwd=root, check=True)


def write_plain(root: Path, ours: Path) -> None:
    """Every page of a record at `ours` as plain Markdown: numbers typed in, payloads as blocks of text."""
    (root / "docs").mkdir(parents=True)
    (root / "mkdocs.yml").write_text(MKDOCS.format(docs="docs", plugin="") + "nav:\n  - index.md\n")
    with mock.patch.object(Sheet, "mark", _typed):
        made = site.build(ours)
    shown = {payload_url(path): payload.data.decode() for path, payload in made.record.payloads.items()}
    for source, page in made.pages.items():
        file = root / "docs" / source
        file.parent.mkdir(parents=True, exist_ok=True)
        text = f"<pre>{shown[page.url]}</pre>" if page.url in shown else page.markdown
        search = "" if page.searchable else "search:\n  exclude: true\n"
        file.write_text(f"---\ntitle: {json.dumps(page.title)}\n{search}---\n\n# {page.title}\n\n{text}\n")


def _typed(_: Sheet, html: str, plain_text: str = "", line: int = 0, column: int = 0) -> str:
    """What a mark shows, without what traces it."""
    return plain_text or _TRACES.sub("", html)


def _payload(index: int) -> Measured:
    return Measured(
        schema="specdec-sidechannels/payload/1",
        name=f"synthetic/p{index}",
        question="How long does a page take?",
        regime={"target": "none"},
        config={"numbers": NUMBERS},
        seeds={"root": 1},
        provenance=Provenance(
            command=["engine", "run", "synthetic"],
            commit="0" * 40,
            dirty=False,
            versions={"python": "any"},
            device="any",
            models=[],
            inputs=[],
        ),
        results={
            f"n{_letters(i)}": Leaf(value=Lexeme(value(index, i)), unit="tokens") for i in range(NUMBERS)
        },
    )


def _letters(number: int) -> str:
    return chr(ord("a") + number)


def _finding(index: int) -> str:
    front = (
        f'---\nid: F-{index}\ntitle: "A synthetic finding"\nrecord: synthetic\nstatus: holds\n'
        f'regime: "{{{{ a.regime.target }}}}"\npayloads:\n  a: payloads/synthetic/p{index}.json\n---\n'
    )
    return front + "\n\n".join(
        f'{{% statement "s{_letters(i)}" %}}The run kept '
        f"{{{{ a.results.n{_letters(i)} | places(2) }}}} tokens "
        f"where the text went on as before.{{% endstatement %}}"
        for i in range(NUMBERS)
    )
