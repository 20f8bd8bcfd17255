"""Readers that predict a concept bucket from a baseline and a stream, and how they are scored."""
