"""The counting of scripts/exports."""

from __future__ import annotations

import struct

from tests.stress.exports import BEGINS, HEADER, Named, blocks, count

NAMES = {1: "com.acme.Node", 2: "java.lang.String"}
#: Bit of a target that is a named object.
NAMED = 1 << 63


def _block(segment: int, types: list[int], cross: list[int], late: list[tuple[int, int]]) -> bytes:
    """One of objects of 16 bytes, without references of their own."""
    payload = b"".join(struct.pack("<QII", 1, number, 0) for number in types)
    lists = b"".join(struct.pack("<Q", target) for target in cross)
    lists += b"".join(struct.pack("<QQ", *entry) for entry in late)
    magic, version, size = struct.unpack("<IHH", BEGINS)
    total = HEADER.size + len(payload) + len(lists)
    counts = (len(payload), len(cross), len(late), 0, 0, 0)
    return (
        HEADER.pack(
            magic, version, size, 0, 7, 0, 0, 0, segment, total, segment, 0, len(types), *counts, 0, 0, 0, 0, 0, 0
        )
        + payload
        + lists
    )


def test_objects_that_a_later_segment_names() -> None:
    first = _block(0, [1, 2], [], [])
    # The second object of the first segment, twice, a named object, and one of its own.
    second = _block(1, [1], [0 << 16 | 3, 0 << 16 | 3, NAMED | 5, 1 << 16 | 1], [])
    third = _block(2, [1], [], [(1 << 32 | 8, 0 << 16 | 1)])
    data = b"hello" + first + b"frame" + second + b"frame" + third
    found = list(blocks(data))
    assert [block.segment for block in found] == [0, 1, 2]
    assert count("acme", 4, found, NAMES) == Named("acme", 4, 3, 2, 1, 2, {"java.lang.String": 1, "com.acme.Node": 1})


def test_an_image_of_one_segment_names_nothing_later() -> None:
    found = list(blocks(_block(0, [1], [0 << 16 | 1], [])))
    assert count("acme", 1, found, NAMES) == Named("acme", 1, 1, 0, 0, 0, {})
