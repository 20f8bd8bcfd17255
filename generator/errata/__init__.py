"""Corrections in the open: what an erratum changes, how one is begun, and the pass that rules on all."""
