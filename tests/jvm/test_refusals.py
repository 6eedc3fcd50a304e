"""What is bound to a process is refused, with the path of each such object, and nothing arrives."""

from __future__ import annotations

import pytest

from skyway_py import GraphRefused
from tests.jvm.jvms import Pair

# Where Box holds it: rows is an ArrayList, of which the array is one of the VM's own fields.
IN_BOX = "root.rows.elementData[1][2]"

BOUND = {
    "THREAD": (IN_BOX, "java.lang.Thread"),
    "LOADER": (IN_BOX, "jdk.internal.loader.ClassLoaders$AppClassLoader"),
    "DIRECT": (IN_BOX, "java.nio.DirectByteBuffer"),
    "LAMBDA": (IN_BOX, "fixture.Bound$$Lambda"),
    "CAPTURING": (IN_BOX, "fixture.Bound$$Lambda"),
    "SOCKET": (IN_BOX, "java.net.Soc"),
    "INFLATER": (IN_BOX, "java.util.zip.Inflater"),
    "HANDLE": (IN_BOX, "java.lang.invoke."),
    "LOOKED_UP": (IN_BOX, "java.lang.invoke.MethodHandles$Lookup"),
    "DESCRIPTOR": (IN_BOX, "java.io.FileDescriptor"),
    "CHANNEL": (IN_BOX, "sun.nio.ch."),
    "SELECTOR": (IN_BOX, "sun.nio.ch."),
    "EXECUTOR": (IN_BOX, "java."),
}


@pytest.mark.parametrize("field", BOUND)
def test_refused_with_its_path(pair: Pair, field: str) -> None:
    path, class_name = BOUND[field]
    with pytest.raises(GraphRefused) as caught:
        pair.transfer(f"fixture.Bound#{field}", "refused")
    refusals = caught.value.refusals
    assert refusals
    assert all(refusal.path.startswith(path) for refusal in refusals), refusals
    assert any(class_name in refusal.class_name for refusal in refusals), refusals
    assert all(refusal.reason for refusal in refusals)
    assert refusals[0].path in str(caught.value)
    assert "refused" not in [root.name for root in pair.right.roots()]


def test_all_of_a_graph_are_named_at_once(pair: Pair) -> None:
    with pytest.raises(GraphRefused) as caught:
        pair.transfer("fixture.Bound#SEVERAL", "refused")
    paths = {refusal.path for refusal in caught.value.refusals}
    assert {"root.first", "root.second", "root.third[1]"} <= paths


def test_a_transfer_after_a_refusal_works(pair: Pair) -> None:
    with pytest.raises(GraphRefused):
        pair.transfer("fixture.Bound#THREAD", "refused")
    assert pair.transfer("fixture.Data#INSTANCE", "after").verified
    pair.right.drop_root("after")


def test_identities_are_kept(pair: Pair) -> None:
    # The hook of this name looks at each part and throws when one is not what it was.
    result = pair.transfer("fixture.Known#ROOT", "known")
    assert result.verified
    pair.collect()
    pair.skyway.transfer("right:known", "left", destination="known", timeout=240.0)
    pair.left.drop_root("known")
    pair.right.drop_root("known")
