"""The line at the end of each page: the tag at which its payloads were read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from generator.record.manifest import UNRELEASED
from generator.record.record import Record
from generator.render.environment import part
from generator.render.mark import Marker, payload_url
from generator.render.page import Page
from generator.render.tally import Tally


def stamped(record: Record, tally: Tally, pages: Iterable[Page]) -> Iterator[Page]:
    """Pages with that line: of a finding and of a payload about their own, of any other about all."""
    rules = {f"findings/{each.id}.html": f"read-at:{each.id}" for each in record.findings}
    rules |= {payload_url(path): f"read-at:{path}" for path in record.payloads}
    for page in pages:
        yield _stamped(page, Marker(page.url, tally), rules.get(page.url, "read-at"))


def _stamped(page: Page, marker: Marker, rule: str) -> Page:
    released = marker.tally.text(rule) != UNRELEASED
    line = part("read_at.html.j2", tag=marker.made(rule), released=released)
    return replace(page, finish=lambda html: f"{page.finish(html)}\n{line}")
