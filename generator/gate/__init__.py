"""The source side of the gate: what counts as a number, and where a source prints one by hand."""
