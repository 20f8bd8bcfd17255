"""The ledger of registered texts: what was fixed, when, and proof that it was not changed since."""
