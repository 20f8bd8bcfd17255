"""Numbers that know where they come from: expressions, display, claims, rules."""
