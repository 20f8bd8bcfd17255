"""Turns any repository into a record: the files of a first one, written only where nothing stands."""
