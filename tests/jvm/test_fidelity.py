"""Shapes that broke other tools: what arrives works in its new process, or is refused with its path."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pytest

from skyway_py import GraphRefused, InvalidRequest, Orchestrator
from tests.jvm.jvms import COMBINATIONS, Compiled, Pair, ask, collect, jdk_of, launch_pair, wait_for_line
from tests.shapes import SHAPES, Shape

#: What a rule changes on the way is not the same afterwards.
CHANGED: Final = {
    "an object with an arrival hook",
    "a replacement that is replaced itself",
    "objects with readResolve that refer to each other and to themselves",
    "a dynamic proxy of an interface with writeReplace",
    "a subclass of HashMap with readResolve, and such keys",
    "a hash structure of another library, with an arrival hook",
}


@pytest.fixture(scope="module", params=COMBINATIONS)
def shapes(request: pytest.FixtureRequest, compiled: Compiled) -> Iterator[Pair]:
    feature, collector = request.param
    jdk = jdk_of(feature)
    with Orchestrator() as skyway:
        # One counts, so that there is something to be consistent about.
        left, right = compiled.app("fixture.Shapes", "counting"), compiled.app("fixture.Shapes")
        both = launch_pair(skyway, jdk, collector, left, right)
        for jvm in (both.left, both.right):
            wait_for_line(jvm, "ready")
        yield both
        for jvm in (both.left, both.right):
            collect(jvm, jdk)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_shape(shapes: Pair, shape: Shape) -> None:
    ask(shapes, shape, changes=shape.name in CHANGED)


def test_cuts_of_a_transfer(shapes: Pair) -> None:
    with pytest.raises(GraphRefused, match=r"root\[1\]\.thread"):
        shapes.transfer("left behind", "elsewhere", verify=False)
    with pytest.raises(InvalidRequest, match="nothing to cut"):
        shapes.transfer("left behind", "elsewhere", cuts=["fixture.Nothing.at"])
    # The hook asks that the field is null and the rest is there.
    assert shapes.transfer("left behind", "got left behind", cuts=["fixture.Shapes$Dragging.thread"]).verified
    shapes.right.drop_root("got left behind")


def test_a_consistent_copy_is_of_one_moment(shapes: Pair) -> None:
    # A thread counts the cells up in their order; the hook throws when they are of different moments.
    for _ in range(3):
        shapes.transfer("counted", "got counted", verify=False, consistent=True)
    shapes.right.drop_root("got counted")
