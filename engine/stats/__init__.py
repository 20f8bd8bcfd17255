"""Intervals for results clustered by prompt."""
