"""What every experiment agrees on: payloads, their store, provenance, seed streams, errors."""
