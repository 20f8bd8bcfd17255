"""Messages to bytes and back, in integers."""
