"""From what is shown back to what made it: the chain behind a number, and the command run again."""
