"""A release: everything is proved at once, and what it consists of is written down."""
