"""Small heaps: what fits arrives, what does not is refused with both sizes, and the receiver goes on."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from skyway_py import HeapFull, Jvm, Orchestrator
from tests.jvm.jvms import COMBINATIONS, Compiled, collect, jdk_of, launch_kind

HEAPS = (32, 64, 128, 512)


@pytest.fixture(scope="module", params=COMBINATIONS)
def sender(request: pytest.FixtureRequest, compiled: Compiled) -> Iterator[tuple[Orchestrator, int, str]]:
    feature, collector = request.param
    with Orchestrator() as skyway:
        left = launch_kind(skyway, compiled, "left", feature, collector, heap="1500m")
        for heap in HEAPS:
            # A record is about 700 bytes, a block of the other workload 1 MB or more.
            left.build_workload("media", size=heap * 350, root=f"quarter {heap}")
        left.build_workload("bytes", size=160, root="too large")
        left.build_workload("media", size=100, root="small")
        yield skyway, feature, collector


@pytest.mark.parametrize("heap", HEAPS)
def test_small_heap(sender: tuple[Orchestrator, int, str], compiled: Compiled, heap: int) -> None:
    skyway, feature, collector = sender
    right = launch_kind(skyway, compiled, "right", feature, collector, heap=f"{heap}m")
    try:
        assert skyway.transfer(f"left:quarter {heap}", "right", verify=True, timeout=120.0).verified
        with pytest.raises(HeapFull) as caught:
            skyway.transfer("left:too large", "right", timeout=120.0)
        assert len(re.findall(r"\d+(?:\.\d+)? ?(?:bytes|[KMG]i?B)", str(caught.value))) >= 2, str(caught.value)
        _goes_on(skyway, right, feature)
    finally:
        skyway.stop(right, grace=0.0)


def _goes_on(skyway: Orchestrator, right: Jvm, feature: int) -> None:
    assert "too large" not in [root.name for root in right.roots()]
    collect(right, jdk_of(feature))
    assert skyway.transfer("left:small", "right", verify=True, timeout=60.0).verified
    assert right.statistics().native_bytes < 32 << 20
