"""Ratios against named peers, both sides measured in one run."""
