"""Turns evaluated sources into pages, and hands them to the site builder."""
