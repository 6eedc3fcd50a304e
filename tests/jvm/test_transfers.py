"""What can be done with a transfer: progress, cancelling, time limits; both ways and many at once."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from skyway_py import Orchestrator, Progress, TransferCancelled, TransferTimeout
from tests.jvm.jvms import COMBINATIONS, Compiled, Pair, collect, jdk_of, launch_kind, together

LARGE = 1_000_000


@pytest.fixture(scope="module")
def large() -> Iterator[Orchestrator]:
    """Two JVMs with room, one with a graph that takes a while."""
    with Orchestrator() as skyway:
        for name in ("left", "right"):
            skyway.launch(name, jdk=17, collector="g1", heap="1g")
        skyway.jvm("left").build_workload("graph", size=LARGE)
        yield skyway


@pytest.mark.parametrize("transport", ["shm", "tcp"])
def test_progress_is_told(large: Orchestrator, transport: str) -> None:
    seen: list[Progress] = []
    result = large.transfer("left:graph", "right", transport=transport, on_progress=seen.append, timeout=120.0)
    assert seen
    assert [p.objects for p in seen] == sorted(p.objects for p in seen)
    assert all(p.objects <= result.objects for p in seen)
    assert all(p.segments_landed <= p.segments_sent for p in seen)
    assert result.objects > LARGE


@pytest.mark.parametrize("transport", ["shm", "tcp"])
def test_cancelled_transfer_leaves_nothing(large: Orchestrator, transport: str) -> None:
    running = large.start_transfer("left:graph", "right:cancelled", transport=transport, timeout=120.0)
    next(iter(running))
    running.cancel()
    with pytest.raises(TransferCancelled):
        running.result()
    assert "cancelled" not in [root.name for root in large.roots("right")]
    _still_works(large, transport)


def test_failing_progress_hook_cancels(large: Orchestrator) -> None:
    def stop(_: Progress) -> None:
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        large.transfer("left:graph", "right:cancelled", on_progress=stop, timeout=120.0)
    assert "cancelled" not in [root.name for root in large.roots("right")]
    _still_works(large, "shm")


@pytest.mark.parametrize("transport", ["shm", "tcp"])
def test_time_limit(large: Orchestrator, transport: str) -> None:
    with pytest.raises(TransferTimeout, match=r"longer than 0\.001 s, its limit"):
        large.transfer("left:graph", "right:late", transport=transport, timeout=0.001)
    assert "late" not in [root.name for root in large.roots("right")]
    _still_works(large, transport)


def _still_works(skyway: Orchestrator, transport: str) -> None:
    skyway.jvm("left").build_workload("boxes", size=1_000, root="small")
    assert skyway.transfer("left:small", "right", verify=True, transport=transport, timeout=240.0).verified
    for name in ("left", "right"):
        collect(skyway.jvm(name), jdk_of(17))
        assert skyway.jvm(name).statistics().native_bytes < 64 << 20


def test_both_ways_at_once(pair: Pair) -> None:
    for jvm in (pair.left, pair.right):
        jvm.build_workload("media", size=500, root=f"of {jvm.name}")

    def send(number: int) -> None:
        a, b = (("left", "right"), ("right", "left"))[number % 2]
        transport = ("shm", "tcp")[number // 2 % 2]
        result = pair.skyway.transfer(
            f"{a}:of {a}", f"{b}:arrived {number}", verify=True, transport=transport, timeout=120.0
        )
        assert result.verified

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(send, range(24)))
    for jvm in (pair.left, pair.right):
        for root in jvm.roots():
            jvm.drop_root(root.name)


@pytest.mark.parametrize("kind", COMBINATIONS)
def test_under_forced_collections_and_allocation(compiled: Compiled, kind: tuple[int, str]) -> None:
    """Collections all the time, each with a check of the heap, while graphs come and go in both directions."""
    feature, collector = kind
    with Orchestrator() as skyway:
        app = compiled.app("fixture.Host", "churn", "collect")
        jvms = together(
            partial(launch_kind, skyway, compiled, name, feature, collector, heap="128m", app=app)
            for name in ("left", "right")
        )
        for jvm in jvms:
            jvm.build_workload("media", size=2_000, root="media")
            jvm.build_workload("graph", size=10_000, root="graph")

        def send(number: int) -> None:
            a, b = (("left", "right"), ("right", "left"))[number % 2]
            root = ("media", "graph")[number // 2 % 2]
            skyway.transfer(f"{a}:{root}", f"{b}:arrived {root}", timeout=120.0)

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(send, range(24)))
        for a, b in (("left", "right"), ("right", "left")):
            for root in ("media", "graph"):
                assert skyway.jvm(b).digest(f"arrived {root}") == skyway.jvm(a).digest(root)
        for name in ("left", "right"):
            assert skyway.jvm(name).statistics().gc_collections > 10
            collect(skyway.jvm(name), jdk_of(feature))
