"""An independent reader of the record: own statistics, own rule reader, committed state alone."""

PROGRAM = "engine critic"
VERSION = "1.0"
"""Raised whenever the critic would judge otherwise."""
