"""Refusals, the reasons not to publish, and the forms they are printed in."""
