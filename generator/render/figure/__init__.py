"""Figures: inline SVG that is drawn from the numbers of the table it stands with.

Nothing in a drawing is text. What a reader reads of it are the words and the bound numbers of the table,
and at the ends of the axes of a plot the same numbers once more.
"""

from __future__ import annotations

from generator.render.figure.place import bar, closed, drawings, opened, table

__all__ = ["bar", "closed", "drawings", "opened", "table"]
