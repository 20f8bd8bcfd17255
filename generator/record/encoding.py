"""Bytes to text: strict UTF-8 without a byte order mark, refused at the byte that breaks it."""

from __future__ import annotations

import re

from generator.record.tree import Text
from generator.report.refusal import Refusal, Refused

HIDDEN = re.compile(
    "[\u00ad\u034f\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff"
    "\U000e0000-\U000e007f]|(?<=[0-9A-Za-z])[\u200c\u200d]|[\u200c\u200d](?=[0-9A-Za-z])"
)
"""Characters that show nothing and can split a number or turn its order around."""

UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ue000-\uf8ff\U000f0000-\U000ffffd\U00100000-\U0010fffd]"
)
"""Controls, and private-use characters, which pages use as marks."""


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
