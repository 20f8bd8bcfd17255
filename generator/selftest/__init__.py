"""Proof that the gate bites: faults planted one at a time in a copy of a record and its site."""
