"""What a record does not show and where it bent its rules, held against the list of its experiments."""
