"""The lint alone: numerals and number words of plain texts, with the standard library and this folder.

python -m generator.gate.numerals FILE… [--name TEXT]… prints one hit a line; exit 1 where one is refused,
2 for misuse. Markup is not stripped: code, links and front matter are read as prose.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from generator.gate.numerals.judgement import judge
from generator.gate.numerals.names import Names


def hits(path: str, text: str, names: Names) -> Iterator[tuple[str, bool]]:
    """Each hit as a line with its place, and whether it is refused."""
    for number, line in enumerate(text.split("\n"), 1):
        found = judge(line, names)
        for hit in (*found.refused, *found.warned):
            said = "" if hit.refused else "warning: "
            yield (
                f'{path}:{number}:{hit.start + 1}: {said}{hit.kind}: "{line[hit.start : hit.end]}"',
                hit.refused,
            )


def main(arguments: list[str] | None = None) -> int:
    """Lint every file; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m generator.gate.numerals")
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--name", action="append", default=[], metavar="TEXT", help="passes as it is")
    given = parser.parse_args(arguments)
    refused = 0
    for path in given.files:
        try:
            text = Path(path).read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            parser.error(f"{path} cannot be read: {error}")
        for line, counts in hits(path, text, Names(given.name)):
            print(line)
            refused += counts
    print(f"{refused} refused", file=sys.stderr)
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
