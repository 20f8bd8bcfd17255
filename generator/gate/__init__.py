"""The source side of the gate: what counts as a number, and where a source prints one by hand."""

VERSION = 1
"""Counts changes to the rules; a text registered under an older gate is only warned about by younger rules."""
