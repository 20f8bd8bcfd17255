"""A synthetic record of any size, and the same pages with their numbers typed in, for plain mkdocs."""

from __future__ import annotations

import subprocess
from pathlib import Path

from engine.contract import store
from engine.contract.payload import Leaf, Lexeme, Measured, Provenance

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
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "Synthetic record"]):
        identity = ["-c", "user.name=benchmark", "-c", "user.email=benchmark@example.invalid"]
        subprocess.run(["git", *identity, *command], cwd=root, check=True)


def write_plain(root: Path, findings: int) -> None:
    """The same pages without the generator: numbers typed in, payloads as code blocks."""
    docs = root / "docs"
    for folder in ("findings", "payloads/synthetic"):
        (docs / folder).mkdir(parents=True)
    (docs / "index.md").write_text("# Synthetic record\n\nWhat was found.\n")
    (root / "mkdocs.yml").write_text(MKDOCS.format(docs="docs", plugin="") + "nav:\n  - index.md\n")
    for index in range(1, findings + 1):
        (docs / f"findings/F-{index}.md").write_text(f"# F-{index}\n\n{_typed(index)}")
        payload = store.dump(_payload(index))
        (docs / f"payloads/synthetic/p{index}.md").write_text(f"# p{index}\n\n<pre>{payload}</pre>\n")


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


def _typed(index: int) -> str:
    return "\n\n".join(
        f"The run kept {float(value(index, i)):.2f} tokens where the text went on as before."
        for i in range(NUMBERS)
    )
