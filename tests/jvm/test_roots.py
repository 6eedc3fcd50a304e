"""Static field paths: roots and destinations in an application that knows nothing of Skyway."""

from __future__ import annotations

import pytest

from skyway_py import InvalidRequest, RootMissing, SkywayError, TransferError
from tests.jvm.jvms import Pair


@pytest.mark.parametrize(
    "path",
    [
        "fixture.Data#INSTANCE",
        "fixture.Data#INSTANCE.byName",
        "fixture.Data#NUMBERS",
        "fixture.Data#INSTANCE.table",
        "fixture.Data#holder.content",
    ],
)
def test_static_field_is_a_root(pair: Pair, path: str) -> None:
    result = pair.transfer(path, "from a field")
    assert result.verified
    assert pair.right.digest("from a field") == pair.left.digest(path)
    pair.right.drop_root("from a field")


def test_static_field_is_a_destination(pair: Pair) -> None:
    result = pair.transfer("fixture.Data#NUMBERS", "fixture.Data#map")
    assert result.verified
    assert pair.right.digest("fixture.Data#map") == pair.left.digest("fixture.Data#NUMBERS")
    # It is no published name.
    assert "fixture.Data#map" not in [root.name for root in pair.right.roots()]
    pair.transfer("fixture.Data#INSTANCE.last", "fixture.Data#anything")
    assert pair.right.digest("fixture.Data#anything") == pair.left.digest("fixture.Data#INSTANCE.last")


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("nobody published this", "nobody published this"),
        ("com.acme.Missing#FIELD", "com.acme.Missing"),
        ("fixture.Data#MISSING", "MISSING"),
        ("fixture.Data#byName", "byName"),
        ("fixture.Data#INSTANCE.missing", "missing"),
        ("fixture.Data#NOTHING", "NOTHING"),
        ("fixture.Data#", "fixture.Data#"),
    ],
)
def test_missing_root_is_named(pair: Pair, path: str, said: str) -> None:
    with pytest.raises((RootMissing, InvalidRequest)) as caught:
        pair.transfer(path, "nowhere")
    assert said in str(caught.value)
    assert "nowhere" not in [root.name for root in pair.right.roots()]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("com.acme.Missing#FIELD", "com.acme.Missing"),
        ("fixture.Data#MISSING", "MISSING"),
        ("fixture.Data#NUMBERS", "final"),
        ("fixture.Data#text", "java.lang.String"),
        ("fixture.Data#number", "number"),
    ],
)
def test_impossible_destination_is_named(pair: Pair, path: str, said: str) -> None:
    with pytest.raises((TransferError, InvalidRequest)) as caught:
        pair.transfer("fixture.Data#NUMBERS", path)
    assert said in str(caught.value)
    assert pair.left.alive
    assert pair.right.alive


def test_published_name_is_no_destination(pair: Pair) -> None:
    pair.right.build_workload("boxes", size=10, root="taken")
    with pytest.raises(SkywayError, match="taken"):
        pair.transfer("fixture.Data#NUMBERS", "taken")
    pair.right.drop_root("taken")


def test_roots_are_listed(pair: Pair) -> None:
    pair.left.build_workload("boxes", size=10, root="listed")
    pair.transfer("listed", "arrived")
    sent = {root.name: root for root in pair.skyway.roots("left")}["listed"]
    arrived = {root.name: root for root in pair.skyway.roots("right")}["arrived"]
    assert (sent.origin, sent.class_name) == ("published", "java.util.LinkedList")
    assert (arrived.origin, arrived.class_name) == ("received", "java.util.LinkedList")
    assert arrived.since >= sent.since
    assert pair.left.drop_root("listed")
    assert pair.right.drop_root("arrived")
    assert not pair.right.drop_root("arrived")
