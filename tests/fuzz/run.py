"""Fuzzes every parser for a while and stores what breaks one: python tests/fuzz/run.py SECONDS."""

from __future__ import annotations

import random
import sys
import time

from hypothesis import HealthCheck, Phase, given, seed, settings
from targets import TARGETS, keep, spoiled

ROUND = 500
"""Texts that are tried on a parser before the next one has its turn."""


def fuzz(name: str) -> str:
    """One round on one parser; the path of a crasher, empty where there was none."""
    target, last = TARGETS[name], [b""]

    @seed(random.randrange(2**32))
    @settings(
        max_examples=ROUND,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(spoiled(target.seeds))
    def tried(data: bytes) -> None:
        last[0] = data
        target.survives(data)

    try:
        tried()
    except Exception as crash:
        file = keep(name, last[0])
        print(f"{name}: {type(crash).__name__}: {crash}\n  kept in {file}", flush=True)
        return str(file)
    return ""


def main(seconds: float) -> int:
    """Rounds in turn until the time is over; 1 where anything broke."""
    end, found, tried = time.monotonic() + seconds, [], 0
    while time.monotonic() < end:
        for name in TARGETS:
            found.append(fuzz(name))
            tried += ROUND
    crashers = [each for each in found if each]
    print(f"{tried} texts on {len(TARGETS)} parsers, {len(crashers)} crashers.")
    return 1 if crashers else 0


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1])))
