"""Payloads from what an evaluation has left already: JSON, tables, logs."""
