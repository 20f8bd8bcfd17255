"""What an import says: what was made, how names were changed, what stayed behind, what to do next."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from generator.importing.names import RULE
from generator.importing.run import Imported
from generator.report.refusal import Refusal

SHOWN = 20
"""Things that stayed behind of which each is said; more are counted."""

_OPTION = re.compile(r"has no unit\. Add (--unit .+)\.$")


def lines(made: Imported) -> Iterator[str]:
    """What was made, line by line."""
    yield f"{made.path}: {made.numbers} numbers, read as {made.shape}."
    if made.renamed:
        yield f"Names changed ({RULE}):"
        yield from (f"  {name} → {identifier}" for identifier, name in made.renamed.items())
    if made.left:
        yield "Left in the file:"
        yield from (f"  line {each.line}: {'.'.join(each.tokens)}, {each.why}" for each in made.left[:SHOWN])
    if len(made.left) > SHOWN:
        yield f"  and {len(made.left) - SHOWN} more"
    yield f"Commit both files, then cite it in a finding:\n{made.example}"


def asked(refusals: Iterable[Refusal]) -> Iterator[str]:
    """The options that are still to be given, on one line to paste; nothing where none is."""
    found = (_OPTION.search(each.message) for each in refusals)
    options = dict.fromkeys(match[1] for match in found if match)
    if options:
        yield f"Say the units: {' '.join(options)}"
