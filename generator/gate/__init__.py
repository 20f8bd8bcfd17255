"""The source side of the gate: what counts as a number, and where a source prints one by hand."""

VERSION = 1
"""Counts changes to the rules; younger rules only warn about a text registered under an older gate."""
