"""A receiving JVM that takes certain classes only."""

from __future__ import annotations

import pytest

from skyway_py import LaunchError, Orchestrator, SkywayError
from tests.jvm.jvms import FEATURES, VERIFY, Compiled, jdk_of

#: What the media workload is made of.
MEDIA = "io.skyway.bench.workload.*;java.util.ArrayList;java.lang.Object"


@pytest.mark.parametrize("feature", FEATURES)
def test_only_what_is_allowed_is_landed(skyway: Orchestrator, compiled: Compiled, feature: int) -> None:
    def launch(name: str, *flags: str) -> None:
        skyway.launch(
            name, jdk=jdk_of(feature), heap="256m", java_args=[*VERIFY, *flags], app=compiled.app("fixture.Host")
        )

    launch("left")
    launch("right", f"-Dskyway.allow={MEDIA}")
    launch("none", f"-Dskyway.allow=!io.skyway.bench.workload.Image;{MEDIA}")
    left = skyway.jvm("left")
    left.build_workload("media", size=100)
    left.build_workload("map", size=100)
    assert skyway.transfer("left:media", "right:first", verify=True, timeout=240.0).verified
    with pytest.raises(SkywayError, match=r"class java\.util\.HashMap.* is not on the receiver's allow-list"):
        skyway.transfer("left:map", "right:second", timeout=240.0)
    with pytest.raises(SkywayError, match=r"class io\.skyway\.bench\.workload\.Image is not on the receiver's allow"):
        skyway.transfer("left:media", "none:second", timeout=240.0)
    # Nothing is visible of what was refused, and the next one arrives.
    assert [root.name for root in skyway.roots("right")] == ["first"]
    assert skyway.roots("none") == []
    assert skyway.transfer("left:media", "right:third", verify=True, timeout=240.0).verified


def test_a_list_that_is_misunderstood_is_refused(skyway: Orchestrator, compiled: Compiled) -> None:
    with pytest.raises(LaunchError, match=r"the pattern 'java\.base/\*'"):
        skyway.launch(
            "right",
            jdk=jdk_of(FEATURES[0]),
            java_args=["-Dskyway.allow=java.base/*"],
            app=compiled.app("fixture.Host"),
            timeout=240.0,
        )
