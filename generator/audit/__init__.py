"""The output side of the gate: reads a finished site from any builder and re-derives everything it shows.

It shares no code with the number and render packages: its byte scanner, evaluator and rounding are its own.
"""

from generator.audit.coverage import Coverage
from generator.audit.crew import Crew
from generator.audit.site import Audit, begin, verify

__all__ = ["Audit", "Coverage", "Crew", "begin", "verify"]
