"""Bytes to text: strict UTF-8 without a byte order mark, refused at the byte that breaks it."""

from __future__ import annotations

from generator.record.tree import Text
from generator.report.refusal import Refusal, Refused


def decoded(path: str, data: bytes) -> str:
    """The text of a file; raises Refused with the place of the fault."""
    if data.startswith(b"\xef\xbb\xbf"):
        message = "The file starts with a byte order mark. Save it without."
        raise Refused([Refusal(path, 1, 1, "bad-encoding", "", message)])
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        place, at = Text(data), error.start
        message = f"Not UTF-8: byte {data[at]:#04x}."
        raise Refused(
            [Refusal(path, place.line(at), place.column(at), "bad-encoding", "", message)]
        ) from None
