"""An application that is compiled against the api: publish, onReceive, take, peek, withdraw."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from skyway_py import Orchestrator, SkywayError, TransferError
from skyway_py._paths import agent_jar
from tests.jvm.jvms import APPS, FEATURES, Pair, javac, jdk_of, wait_for_line


@pytest.mark.parametrize("feature", FEATURES)
def test_application_jar(skyway: Orchestrator, tmp_path: Path, feature: int) -> None:
    jdk = jdk_of(feature)
    javac(jdk, tmp_path / "classes", [APPS / "shop" / "Shop.java"], str(agent_jar()))
    jar = str(jdk.home / "bin" / "jar")
    command = [jar, "--create", "--file", "shop.jar", "--main-class", "shop.Shop", "-C", "classes", "."]
    subprocess.run(command, cwd=tmp_path, timeout=240, check=True)
    left, right = (
        skyway.launch(name, jdk=jdk, heap="128m", app=["-jar", "shop.jar"], directory=tmp_path)
        for name in ("left", "right")
    )
    assert wait_for_line(right, "waiting") == [
        "withdrawn true, again false",
        'timed out: no graph has arrived as "never" within PT0.05S',
        "peek null",
        "waiting",
    ]
    wait_for_line(left, "waiting")
    assert [(root.name, root.origin) for root in left.roots()] == [("items", "published")]

    # The receiver publishes that name itself: nothing may replace what it offers.
    with pytest.raises(SkywayError, match="items"):
        skyway.transfer("left:items", "right", timeout=240.0)

    skyway.transfer("left:items", "right:orders", timeout=240.0)
    wait_for_line(
        right,
        "took 500, first Item[name=item 0, price=0, tags=[tag 0]], last Item[name=item 499, price=49900, tags=[tag 2]]",
    )
    skyway.transfer("left:items", "right:orders", timeout=240.0)
    lines = wait_for_line(right, "took again, the same false, equal true")
    assert lines.count("peek null") == 2


def test_failing_hook_is_an_error_on_both_sides(pair: Pair) -> None:
    for destination, said in (("refusing", "the hook says no"), ("only strings", "java.lang.String")):
        with pytest.raises(TransferError) as caught:
            pair.transfer("fixture.Data#INSTANCE.byName", destination)
        assert said in str(caught.value)
        assert destination not in [root.name for root in pair.right.roots()]
    assert pair.transfer("fixture.Data#INSTANCE.byName", "later").verified
    pair.right.drop_root("later")


def test_hook_sees_the_whole_graph_and_can_publish_it(pair: Pair) -> None:
    pair.transfer("fixture.Data#NUMBERS", "echo")
    assert pair.right.digest("echoed") == pair.left.digest("fixture.Data#NUMBERS")
    assert pair.right.drop_root("echoed")
    assert pair.right.drop_root("echo")
