"""What a record is made of: payloads, sources, terms, and what git says about them."""
