"""What changed between two states of a record: number by number, claim by claim."""
