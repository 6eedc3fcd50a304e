"""A few seconds of `scripts/stress`: each JDK, collector and layout."""

from __future__ import annotations

import os
import random

import pytest

from tests.jvm import load
from tests.jvm.jvms import COLLECTORS, FEATURES, Compiled, jdk_of

KINDS = [
    pytest.param((feature, collector, flags), id="-".join([str(feature), collector, *flags]))
    for feature in FEATURES
    for collector in COLLECTORS
    for flags in load.VARIANTS[feature]
]
SECONDS = 6.0
#: What both applications must have done.
DONE = ("received", "checks", "locks", "streams", "unloaded_classes")


@pytest.fixture(scope="module")
def application(tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    return load.compile_app(tmp_path_factory.mktemp("load"))


@pytest.mark.parametrize("kind", KINDS)
def test_load(application: Compiled, kind: tuple[int, str, list[str]]) -> None:
    feature, collector, flags = kind
    jdk_of(feature)
    seed = int(os.environ.get("SKYWAY_LOAD_SEED", random.SystemRandom().randrange(1 << 32)))
    print(f"seed {seed}: SKYWAY_LOAD_SEED replays its choices")
    totals = load.Totals(seed)
    load.run(application, feature, collector, flags, SECONDS, random.Random(seed), totals, DONE)
    assert totals.good, totals
    assert totals.transfers, totals
    assert totals.collections, totals
    assert all(totals.application[name] for name in DONE), totals
