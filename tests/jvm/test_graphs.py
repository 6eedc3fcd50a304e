"""Random graphs: what arrives is what the receiver builds itself from the same seed, and works."""

from __future__ import annotations

import os

import pytest

from skyway_py import Orchestrator
from tests.graphs import BATCH, run
from tests.jvm.jvms import COMBINATIONS, Compiled, Pair, collect, jdk_of, launch_kind, together, wait_for_line

#: SKYWAY_GRAPHS_SEED=N begins with the graph of that seed, which an error names.
FIRST = int(os.environ.get("SKYWAY_GRAPHS_SEED", "1"))
BATCHES = 6


@pytest.mark.parametrize("kind", COMBINATIONS)
def test_random_graphs(skyway: Orchestrator, compiled: Compiled, kind: tuple[int, str]) -> None:
    feature, collector = kind
    place = [tuple(p.values[0]) for p in COMBINATIONS].index(kind)
    # Every combination has its own graphs, but all begin with the one that was asked for.
    first = FIRST + place * BATCH * BATCHES if "SKYWAY_GRAPHS_SEED" not in os.environ else FIRST
    print(f"seeds {first} to {first + BATCH * BATCHES - 1}")
    left, right = together(
        [
            lambda name=name: launch_kind(
                skyway, compiled, name, feature, collector, app=compiled.app("fixture.Graphs", str(first), str(BATCH))
            )
            for name in ("left", "right")
        ]
    )
    for jvm in (left, right):
        wait_for_line(jvm, "ready")
    assert run(skyway, BATCHES) == BATCHES * BATCH
    # The digests, which are made in another way, agree; and what arrived before lives through a collection.
    pair = Pair(skyway, left, right, jdk_of(feature), collector)
    assert pair.transfer("graphs", "as it is").verified
    for jvm in (left, right):
        collect(jvm, pair.jdk)
