"""The version of the generator that is installed."""

from __future__ import annotations

from importlib.metadata import version

DISTRIBUTION = "specdec-sidechannels"
"""What the generator is called where packages are kept."""


def installed() -> str:
    """The version of the distribution that this code came with."""
    return version(DISTRIBUTION)
