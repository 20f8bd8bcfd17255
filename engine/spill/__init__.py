"""The packet stream of a server on loopback, as a listener sees it, and what hides it."""
