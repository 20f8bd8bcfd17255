"""What an editor is told while a source is written: refusals, origins, completions, bindings."""
