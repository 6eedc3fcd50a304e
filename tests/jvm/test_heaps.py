"""Small heaps: what fits arrives, what does not is refused with both sizes, and the receiver goes on."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from skyway_py import HeapFull, Jvm, Orchestrator
from tests.jvm.jvms import COMBINATIONS, Compiled, collect_by_hook, launch_kind

HEAPS = (32, 64, 128, 512)


@pytest.fixture(scope="module", params=COMBINATIONS)
def sender(request: pytest.FixtureRequest, compiled: Compiled) -> Iterator[tuple[Orchestrator, int, str]]:
    feature, collector = request.param
    with Orchestrator() as skyway:
        left = launch_kind(skyway, compiled, "left", feature, collector, heap="1500m")
        for heap in HEAPS:
            # A record is about 900 bytes: a fifth of a small heap, 18 MB of a large one.
            left.build_workload("media", size=min(heap * 200, 20_000), root=f"fits {heap}")
        # 55 MB of small objects, 540 MB of large ones.
        left.build_workload("media", size=60_000, root="many objects")
        left.build_workload("bytes", size=135, root="large arrays")
        left.build_workload("media", size=100, root="small")
        yield skyway, feature, collector


@pytest.mark.parametrize("heap", HEAPS)
def test_small_heap(sender: tuple[Orchestrator, int, str], compiled: Compiled, heap: int) -> None:
    skyway, feature, collector = sender
    right = launch_kind(
        skyway, compiled, "right", feature, collector, heap=f"{heap}m", app=compiled.app("fixture.Host", "churn")
    )
    try:
        assert skyway.transfer(f"left:fits {heap}", "right", verify=True, timeout=120.0).verified
        for root in ("many objects", "large arrays") if heap < 100 else ("large arrays",):
            with pytest.raises(HeapFull) as caught:
                skyway.transfer(f"left:{root}", "right", timeout=120.0)
            assert re.search(r"\d MiB needed so far, .*\d MiB free of \d", str(caught.value)), str(caught.value)
            _goes_on(skyway, right)
        assert right.log
        assert right.log.read_text() == "", "the application felt it"
    finally:
        skyway.stop(right, grace=0.0)


def _goes_on(skyway: Orchestrator, right: Jvm) -> None:
    assert not {"many objects", "large arrays"} & {root.name for root in right.roots()}
    collect_by_hook(skyway, "left:small", right.name)
    assert skyway.transfer("left:small", "right", verify=True, timeout=240.0).verified
    assert right.statistics().native_bytes < 32 << 20
