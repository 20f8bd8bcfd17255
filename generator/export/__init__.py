"""The record for other machines: crate, provenance, assertions, identifiers, one archive."""
