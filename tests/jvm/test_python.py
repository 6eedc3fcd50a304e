"""The Python API on real JVMs: comparisons, and a JVM inside the Python process."""

from __future__ import annotations

import subprocess
import sys

import pytest

from skyway_py import InvalidRequest, Orchestrator, UnknownJvm
from tests.jvm.jvms import FEATURES, Compiled, jdk_of

EMBEDDED = """
import sys
from skyway_py import Orchestrator
with Orchestrator() as skyway:
    feature = int(sys.argv[1])
    here = skyway.embed(jdk=feature, collector="g1", heap="128m")
    assert here.alive and here.info.raw_engine, here.info
    skyway.launch("left", jdk=feature, collector="g1", heap="128m", workload="map", size=100)
    skyway.transfer("left:map", "python:numbers", timeout=240.0)
    numbers = here.take("numbers", timeout=100.0)
    assert numbers.size() == 100, numbers
    try:
        here.take("numbers", timeout=0.05)
    except TimeoutError:
        pass
    else:
        raise AssertionError("taken twice")
    here.publish("back", numbers)
    result = skyway.transfer("python:back", "left", verify=True, timeout=240.0)
    assert result.verified
    assert here.peek("back") is None
print("done")
"""


@pytest.mark.parametrize("feature", FEATURES)
def test_embedded_jvm(feature: int) -> None:
    jdk_of(feature)
    command = [sys.executable, "-c", EMBEDDED, str(feature)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


@pytest.mark.parametrize("feature", FEATURES)
def test_comparison(skyway: Orchestrator, compiled: Compiled, feature: int) -> None:
    for name in ("left", "right"):
        skyway.launch(name, jdk=jdk_of(feature), collector="g1", heap="512m", app=compiled.app())
    skyway.jvm("left").build_workload("media", size=500)
    comparison = skyway.compare("left:media", "right", with_=["java", "kryo"], runs=3, warmup=1)
    assert [entry.serializer for entry in comparison.results] == ["skyway", "java", "kryo", "kryo-tree"]
    for entry in comparison.results:
        assert entry.error is None
        assert len(entry.runs) == 3
        assert entry.total_ms
        assert entry.bytes
    assert comparison.ratio("skyway") == pytest.approx(1.0)

    # What a serializer cannot move is said, and the others go on.
    partly = skyway.compare("left:fixture.Data#INSTANCE", "right", with_=["java"], runs=2, warmup=0)
    assert partly["skyway"].error is None
    assert "fixture.Data" in str(partly["java"].error)
    assert skyway.transfer("left:media", "right", verify=True, timeout=240.0).verified


def test_comparison_with_a_serializer_that_takes_no_cycles(skyway: Orchestrator) -> None:
    for name in ("left", "right"):
        skyway.launch(name, jdk=jdk_of(17), collector="g1", heap="256m")
    skyway.jvm("left").build_workload("graph", size=100)
    cyclic = skyway.compare("left:graph", "right", with_=["kryo-tree"], runs=1, warmup=0)
    assert cyclic["skyway"].error is None
    assert "has a cycle" in str(cyclic["kryo-tree"].error)
    assert skyway.transfer("left:graph", "right", verify=True, timeout=240.0).verified


def test_usage_errors_name_what_is_there(skyway: Orchestrator) -> None:
    skyway.launch("left", heap="64m")
    with pytest.raises(UnknownJvm, match="left"):
        skyway.transfer("elsewhere:x", "left")
    with pytest.raises(InvalidRequest, match="left"):
        skyway.launch("left")
    with pytest.raises(InvalidRequest, match="itself"):
        skyway.connect("left", "left")
    with pytest.raises(InvalidRequest, match="nosuch"):
        skyway.jvm("left").build_workload("nosuch")


def test_statistics_count(skyway: Orchestrator) -> None:
    skyway.launch("left", heap="128m", workload="boxes", size=1_000)
    skyway.launch("right", heap="128m")
    for _ in range(3):
        skyway.transfer("left:boxes", "right", timeout=240.0)
    sent, received = skyway.jvm("left").statistics(), skyway.jvm("right").statistics()
    assert (sent.transfers_sent, sent.transfers_received) == (3, 0)
    assert (received.transfers_sent, received.transfers_received) == (0, 3)
    assert sent.bytes_sent == received.bytes_received > 0
    assert sent.windows > 0
    assert received.windows > 0
    assert sent.classes_known > 0
    assert received.heap_max_bytes <= 128 << 20
