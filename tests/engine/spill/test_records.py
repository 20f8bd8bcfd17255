"""Headers of TLS records, read from bytes in any pieces."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest

from engine.contract.errors import BadData
from engine.spill.capture import Group, by_gap, by_record, differing, gaps, recovery
from engine.spill.tls import APPLICATION, Authority, Record, RecordReader, trusting


def record(kind: int, length: int) -> bytes:
    """A record of zeros."""
    return bytes([kind, 3, 3]) + length.to_bytes(2, "big") + bytes(length)


STREAM = record(22, 90) + record(20, 1) + record(APPLICATION, 300) + record(APPLICATION, 16_640)


@pytest.mark.parametrize("piece", [1, 2, 5, 7, 100, len(STREAM)])
def test_records_are_found_however_the_bytes_are_cut(piece: int) -> None:
    reader = RecordReader("the server")
    for start in range(0, len(STREAM), piece):
        reader.read(STREAM[start : start + piece], float(start))
    assert [(r.type, r.length) for r in reader.records] == [(22, 90), (20, 1), (23, 300), (23, 16_640)]
    assert reader.whole


def test_a_stream_cut_within_a_record_is_not_whole() -> None:
    reader = RecordReader("the server")
    reader.read(STREAM[:-1], 0.0)
    assert len(reader.records) == 3 and not reader.whole


@pytest.mark.parametrize(
    "data", [b"HTTP/1.1 200 OK", b"\x17\x02\x03\x00\x05", b"\x17\x03\x03\xff\xff", b"\x17\x03\x03\x00\x00"]
)
def test_bytes_that_are_no_tls_are_refused(data: bytes) -> None:
    with pytest.raises(BadData, match="no TLS record"):
        RecordReader("the server").read(data, 0.0)


def test_an_authority_that_is_no_certificate_is_refused(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("no certificate")
    for path in (tmp_path / "ca.pem", tmp_path / "absent.pem"):
        with pytest.raises(BadData, match="is no certificate"):
            trusting(path)
    Authority.make().write(tmp_path / "ca.pem")
    assert trusting(tmp_path / "ca.pem").verify_mode is ssl.CERT_REQUIRED


TIMES = [
    Record(0.0, 23, 10),
    Record(0.001, 23, 11),
    Record(0.02, 23, 12),
    Record(0.021, 23, 13),
    Record(0.05, 23, 14),
]


def test_rounds_are_parted_by_gaps_or_by_records() -> None:
    assert by_gap(TIMES, 0.005) == [Group(0.001, 21, 2), Group(0.021, 25, 2), Group(0.05, 14, 1)]
    assert [group.length for group in by_record(TIMES)] == [10, 11, 12, 13, 14]
    assert gaps(by_gap(TIMES, 0.005)) == [20_000, 29_000]


@pytest.mark.parametrize(
    ("truth", "read", "missed", "invented"),
    [
        ([2, 1, 3], [2, 1, 3], 0, 0),
        ([2, 1, 3], [3, 3], 1, 0),
        ([3, 3], [2, 1, 3], 0, 1),
        ([2, 2], [1, 3], 1, 1),
    ],
)
def test_rounds_missed_and_made_up_are_counted_by_their_ends(
    truth: list[int], read: list[int], missed: int, invented: int
) -> None:
    found = recovery(truth, read)
    assert (found.rounds, found.missed, found.invented) == (len(truth), missed, invented)
    assert found.wrong == missed + invented


def test_differing_sizes_count_those_that_one_row_lacks() -> None:
    assert differing([1, 2, 3], [1, 9]) == 2
