"""The streams: which addresses the target touches at each position, one file a stream.

S1 (`tap`) and S2 (`pages`) rank by values, so neither is a pure address stream; S3 (`experts`) and the
address-only form of S2 (`schedule`) are.
"""

from __future__ import annotations

from engine.observe.streams import experts, pages, schedule, tap
from engine.observe.streams.stream import Stream

STREAMS: dict[str, Stream] = {
    "s1": tap.STREAM,
    "s2": pages.STREAM,
    "s2a": schedule.STREAM,
    "s3": experts.STREAM,
}
