"""Every workload, on every collector and both JDKs, over both transports, proved by plain Java."""

from __future__ import annotations

import pytest

from tests.jvm.jvms import Pair

SIZES = {"catalog": 400, "media": 1_000, "graph": 10_000, "boxes": 10_000, "map": 10_000, "bytes": 2}


@pytest.mark.parametrize("transport", ["shm", "tcp"])
@pytest.mark.parametrize("workload", SIZES)
def test_workload_arrives(pair: Pair, workload: str, transport: str) -> None:
    pair.left.build_workload(workload, size=SIZES[workload], seed=7)
    result = pair.transfer(workload, transport=transport)
    assert result.verified
    assert result.transport == transport
    assert result.objects > SIZES[workload]
    assert result.image_bytes > result.objects * 8
    assert result.classes > 0
    assert result.segments > 0
    assert 0 < max(result.send_ms, result.transport_ms, result.land_ms) <= result.total_ms
    # What arrived is an ordinary graph: it survives collections, and can be sent on.
    pair.collect()
    back = pair.skyway.transfer(f"right:{workload}", "left", destination="back", verify=True, transport=transport)
    assert (back.digest, back.objects) == (result.digest, result.objects)
    for jvm, name in ((pair.left, workload), (pair.left, "back"), (pair.right, workload)):
        assert jvm.drop_root(name)


def test_many_small_graphs(pair: Pair) -> None:
    pair.left.build_workload("media", size=1, root="one")
    link = pair.skyway.connect("left", "right")
    for _ in range(300):
        link.transfer("one", timeout=240.0)
    assert pair.left.digest("one") == pair.right.digest("one")
    assert pair.right.statistics().native_bytes < 64 << 20
