"""Experiments on what a speculative decoding system gives away for free."""
