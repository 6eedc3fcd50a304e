"""Layouts: alike ones work whatever the flags, others are refused when linking, with the names of what differs."""

from __future__ import annotations

from functools import partial

import pytest

from skyway_py import EngineRefused, LayoutMismatch, Orchestrator
from tests.jvm.jvms import FEATURES, Compiled, collect, jdk_of, launch_kind, together

COOPS_OFF = "-XX:-UseCompressedOops"
COMPACT = "-XX:+UseCompactObjectHeaders"
ALIGNED = "-XX:ObjectAlignmentInBytes=16"

ALIKE = [
    (17, "g1", ["-Xmx256m"], ["-Xmx5g"], "shift 0 and 3"),
    (25, "parallel", ["-Xmx256m"], ["-Xmx5g"], "shift 0 and 3"),
    (17, "serial", ["-Xmx31g"], ["-Xmx256m"], "with a heap base"),
    (25, "g1", ["-Xmx31g"], ["-Xmx256m"], "with a heap base"),
    (17, "parallel", [COOPS_OFF], [COOPS_OFF], "compressed oops off"),
    (25, "serial", [COOPS_OFF], [COOPS_OFF], "compressed oops off"),
    (25, "g1", [COMPACT], [COMPACT], "compact headers"),
    (25, "serial", [COMPACT, COOPS_OFF], [COMPACT, COOPS_OFF], "compact headers, compressed oops off"),
    (17, "g1", [ALIGNED], [ALIGNED], "alignment 16"),
    (17, "serial", ["-XX:-UseCompressedClassPointers"] * 1, ["-XX:-UseCompressedClassPointers"], "class pointers"),
]


@pytest.mark.parametrize(
    ("feature", "collector", "left", "right", "_name"),
    ALIKE,
    ids=[f"{feature}-{collector}-{name.replace(' ', '-')}" for feature, collector, _, _, name in ALIKE],
)
def test_alike_layouts_are_linked(
    skyway: Orchestrator,
    compiled: Compiled,
    feature: int,
    collector: str,
    left: list[str],
    right: list[str],
    _name: str,
) -> None:
    jvms = together(
        partial(launch_kind, skyway, compiled, name, feature, collector, java_args=["-Xms64m", *flags], heap=None)
        for name, flags in (("left", left), ("right", right))
    )
    jvms[0].build_workload("media", size=2_000)
    jvms[0].build_workload("graph", size=5_000)
    for root in ("media", "graph", "fixture.Known#ROOT"):
        destination = "known" if "#" in root else None
        assert skyway.transfer(f"left:{root}", "right", destination=destination, verify=True, timeout=240.0).verified
    collect(jvms[1], jdk_of(feature))


def test_different_collectors_are_linked(skyway: Orchestrator, compiled: Compiled) -> None:
    launch_kind(skyway, compiled, "left", 17, "serial").build_workload("media", size=1_000)
    launch_kind(skyway, compiled, "right", 17, "g1")
    assert skyway.transfer("left:media", "right", verify=True, timeout=240.0).verified


@pytest.mark.parametrize(
    ("kinds", "named"),
    [
        (((17, []), (17, [COOPS_OFF])), "compressed oops"),
        (((25, []), (25, [COOPS_OFF])), "compressed oops"),
        (((25, []), (25, [COMPACT])), "UseCompactObjectHeaders"),
        (((17, []), (17, [ALIGNED])), "alignment"),
        (((17, []), (25, [])), "17"),
    ],
    ids=["compressed-oops-17", "compressed-oops-25", "compact-headers", "alignment", "17-and-25"],
)
def test_difference_is_refused_with_its_name(
    skyway: Orchestrator, compiled: Compiled, kinds: tuple[tuple[int, list[str]], ...], named: str
) -> None:
    together(
        partial(launch_kind, skyway, compiled, name, feature, "g1", java_args=flags)
        for name, (feature, flags) in zip(("left", "right"), kinds, strict=True)
    )
    for sender, receiver in (("left", "right"), ("right", "left")):
        with pytest.raises(LayoutMismatch, match=named):
            skyway.connect(sender, receiver)


@pytest.mark.parametrize("feature", FEATURES)
@pytest.mark.parametrize(("collector", "shown"), [("zgc", "ZGC"), ("shenandoah", "Shenandoah"), ("epsilon", "Epsilon")])
def test_other_collectors_are_refused_by_name(
    skyway: Orchestrator, compiled: Compiled, feature: int, collector: str, shown: str
) -> None:
    jdk = jdk_of(feature)
    odd = skyway.launch("odd", jdk=jdk, collector=collector, heap="256m", app=compiled.app())
    assert odd.info.collector == shown
    assert not odd.info.raw_engine
    for word in (shown, "G1", "Parallel", "Serial"):
        assert word in odd.info.engine_refusal
    launch_kind(skyway, compiled, "even", feature, "g1")
    for sender, receiver in (("odd", "even"), ("even", "odd")):
        with pytest.raises(EngineRefused, match=shown):
            skyway.connect(sender, receiver)
