"""What counts as a number in plain text. Standard library only; both sides of the gate decide by it.

Callers decode entities and strip markup first. Positions are those of the text that was given.
"""

from generator.gate.numerals.finding import Hit, find
from generator.gate.numerals.judgement import Judgement, judge
from generator.gate.numerals.names import ID, Names

__all__ = ["ID", "Hit", "Judgement", "Names", "find", "judge"]
