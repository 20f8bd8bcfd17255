"""The text form: one refusal a line, then the count with its denominators."""

from __future__ import annotations

from generator.report.refusal import Refusal, Report


def render(report: Report) -> str:
    """Every refusal and warning at its place, sorted, and one closing line."""
    lines = [line(refusal) for refusal in sorted(set(report.refusals))]
    lines += [line(warning, "warning: ") for warning in sorted(set(report.warnings))]
    return "\n".join([*lines, summary(report)]) + "\n"


def line(refusal: Refusal, severity: str = "") -> str:
    """`path:line:column: code: message`, on one line whatever the message holds."""
    message = " ".join(refusal.message.split())
    return f"{refusal.path}:{refusal.line}:{refusal.column}: {severity}{refusal.code}: {message}"


def summary(report: Report) -> str:
    """How many refusals and warnings, out of how much that was looked at."""
    refusals = _counted(len(set(report.refusals)), "refusal")
    warnings = _counted(len(set(report.warnings)), "warning")
    traced = ", ".join(
        [
            _counted(report.numbers, "number"),
            f"{report.derived} derived",
            _counted(report.claims, "claim"),
            f"{report.computed} computed",
        ]
    )
    passed = exempt(report)
    pages = _counted(report.pages, "page")
    return f"{refusals}, {warnings}; {traced} on {pages}" + (f"; exempt: {passed}" if passed else "")


def exempt(report: Report) -> str:
    """How much passed without a proof, by kind of exemption; empty where nothing did."""
    return ", ".join(f"{count} {kind}" for kind, count in sorted(report.exempt.items()))


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
