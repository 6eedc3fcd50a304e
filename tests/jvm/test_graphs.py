"""Random graphs: what arrives is what the receiver builds itself from the same seed, and works.

SKYWAY_GRAPHS_SEED=N begins with the graph of that seed, which an error names.
"""

from __future__ import annotations

import os
from functools import partial
from typing import Final

import pytest

from skyway_py import Orchestrator
from tests.graphs import BATCH, run
from tests.jvm.jvms import (
    COLLECTORS,
    COMBINATIONS,
    FEATURES,
    Compiled,
    collect,
    jdk_of,
    launch_kind,
    together,
    wait_for_line,
)

BATCHES: Final = 3


@pytest.mark.parametrize("kind", COMBINATIONS)
def test_random_graphs(skyway: Orchestrator, compiled: Compiled, kind: tuple[int, str]) -> None:
    feature, collector = kind
    # Every combination has its own graphs; a replay begins with the one that was asked for in all of them.
    place = FEATURES.index(feature) * len(COLLECTORS) + COLLECTORS.index(collector)
    first = int(os.environ.get("SKYWAY_GRAPHS_SEED", 1 + place * BATCHES * BATCH))
    print(f"seeds {first} to {first + BATCH * BATCHES - 1}")
    app = compiled.app("fixture.Graphs", str(first), str(BATCH))
    left, right = together(
        partial(launch_kind, skyway, compiled, name, feature, collector, app=app) for name in ("left", "right")
    )
    for jvm in (left, right):
        wait_for_line(jvm, "ready")
    assert run(skyway, BATCHES) == BATCHES * BATCH
    # What arrived lives through a collection, with the collector's checks.
    for jvm in (left, right):
        collect(jvm, jdk_of(feature))
