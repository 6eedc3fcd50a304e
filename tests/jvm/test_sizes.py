"""Sizes: what `scripts/stress --sizes` runs with large graphs, with small ones; and a transfer's native memory."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.jvm import sizes
from tests.jvm.jvms import jdk_of
from tests.jvm.sizes import MIB, SLOT_BYTES, SLOTS, Case, World

HEAP = 320
#: The engine's own needs beside what grows with a graph: a few tables, and large pages that are used in part.
FIXED = 6 * MIB
KINDS = [pytest.param((17, "parallel"), id="17-parallel"), pytest.param((25, "g1"), id="25-g1")]


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return sizes.compile_app(jdk_of(17), tmp_path_factory.mktemp("sizes"))


@pytest.fixture(scope="module", params=KINDS)
def pair(request: pytest.FixtureRequest, app: list[str]) -> Iterator[World]:
    feature, collector = request.param
    with sizes.world(app, jdk_of(feature), collector, HEAP, HEAP) as both:
        yield both


@pytest.mark.parametrize(
    ("shape", "size"),
    [
        ("one", 1),
        ("list", 300_000),
        ("chain", 100_000),
        ("tree", 300_000),
        ("web", 100_000),
        ("longs", 4_000_000),
        ("array", 1_000_000),
        ("cells", 50_000),
        ("hubs", 100),
        ("soft", 5_000),
    ],
)
def test_a_graph_of_many_objects_arrives(pair: World, shape: str, size: int) -> None:
    outcome = pair.send(Case(shape, shape, size, HEAP, HEAP), timeout=240.0)
    assert outcome.verified
    assert outcome.sender
    assert outcome.receiver
    assert outcome.sender.engine_after == 0
    assert outcome.receiver.engine_after == 0


def test_large_arrays_inside_of_each_other_take_no_slots(pair: World) -> None:
    outcome = pair.send(Case("nested", "hubs", 300, HEAP, HEAP, verify=False), timeout=240.0)
    assert outcome.sender
    assert outcome.sender.shared_peak <= (SLOTS + 4) * SLOT_BYTES


@pytest.mark.parametrize("kind", [pytest.param((17, "serial"), id="17-serial"), KINDS[1]])
def test_a_graph_far_larger_than_the_young_generation(app: list[str], kind: tuple[int, str]) -> None:
    case = Case("young", "tree", 2_000_000, 256, 256, ("-Xmn6m",), verify=False)
    outcome = sizes.run(app, jdk_of(kind[0]), kind[1], case, timeout=240.0)
    assert outcome.objects == 2_000_001
    assert outcome.image_bytes > 6 * 6 * MIB


def test_native_memory_is_what_the_formula_says(app: list[str]) -> None:
    """docs/architecture.md, "Memory outside of the heap". Each graph needs more of its kind than those before it."""
    with sizes.world(app, jdk_of(17), "parallel", 512, 512) as both:
        for shape, size, stack, kept in (
            ("list", 300_000, 0, 0),
            ("web", 400_000, 400_000, 0),
            ("longs", 10_000_000, 400_000, 80_000_000),
        ):
            outcome = both.send(Case(shape, shape, size, 512, 512, verify=False), timeout=240.0)
            assert outcome.sender
            assert outcome.receiver
            late = outcome.late_references
            # Side table: a quarter of the graph at least, unless that is large arrays, and of the heap at most. Stack:
            # every object at most, doubled when it is full.
            if not kept:
                assert outcome.sender.engine_peak >= (outcome.image_bytes - 16 * late) // 4
            assert outcome.sender.engine_peak <= FIXED + 512 * MIB // 4 + 64 * stack
            starts = (outcome.image_bytes - 16 * late) // 64 * 3 // 2
            most = FIXED + starts + 176 * outcome.segments + 96 * late + kept
            assert outcome.receiver.engine_peak >= max(starts // 2, 32 * late, kept), outcome
            if shape != "longs":
                assert outcome.receiver.engine_peak <= most, outcome
            assert outcome.sender.engine_after == outcome.receiver.engine_after == 0
            assert outcome.sender.shared_peak <= (SLOTS + 1) * SLOT_BYTES
            if stack and not kept:
                assert late > size // 4, "this graph was to have late references"


def test_a_receiver_without_room_refuses(app: list[str]) -> None:
    with sizes.world(app, jdk_of(25), "g1", 256, 64) as both:
        case = Case("refused", "list", 4_000_000, 256, 64)
        outcome = sizes.refused(both, case, timeout=240.0)
        assert outcome.receiver
        assert outcome.receiver.engine_after == 0


def test_small_transfers_in_a_row_leave_nothing(pair: World) -> None:
    facts = sizes.in_a_row(pair, 300, 60.0)
    assert facts["transfers"] == 300
    assert facts["left engine bytes"] == facts["right engine bytes"] == 0


def test_small_records_over_a_stream_leave_nothing(app: list[str]) -> None:
    facts = sizes.streamed(app, jdk_of(25), "g1", 128, 10_000, 60.0)
    assert facts["transfers"] == 10_000
    assert facts["left engine bytes"] == facts["right engine bytes"] == 0
    # Growing with each of them would be some bytes each at least.
    for side in ("left", "right"):
        assert facts[f"{side} engine bytes most"] < 2 * MIB
