"""Whose classes a graph arrives with: missing ones, different ones, and those of an application's plug-ins."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

import pytest

from skyway_py import ClassMissing, LayoutMismatch, Orchestrator, SkywayError
from tests.jvm.jvms import COMBINATIONS, Compiled, Pair, collect, javac, jdk_of, launch_kind, together, wait_for_line

#: A plug-in's class. It finds its keys, one of which is a lambda's result, only with its own classes.
THING: Final = """
package plug;

import java.io.Serializable;
import java.lang.reflect.Proxy;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;

public class Thing implements Supplier<String> {
    public enum Kind { A, B }
    public interface Source extends Supplier<Kind>, Serializable {}
    static final Only ONLY = Only.INSTANCE;
    public static Object place;
    FIELDS
    final Map<Object, String> map = new HashMap<>(Map.of(Kind.A, "a", Thing.class, "thing"));
    final Source source = () -> Kind.A;
    final Only only = Only.INSTANCE;
    final Object proxy = Proxy.newProxyInstance(
            Thing.class.getClassLoader(), new Class<?>[] {Runnable.class}, new Handler());

    @Override
    public String get() {
        ((Runnable) proxy).run();
        return only == ONLY && "a".equals(map.get(source.get())) && map.containsKey(Thing.class) ? "works" : "fails";
    }

    static final class Only {
        static final Only INSTANCE = new Only();
    }

    static final class Handler implements java.lang.reflect.InvocationHandler {
        @Override
        public Object invoke(Object p, java.lang.reflect.Method m, Object[] a) {
            return null;
        }
    }
}
"""
#: What each plug-in's class has instead of FIELDS.
VARIANTS: Final = {
    "same": "int first = 1; long second = 2;",
    "again": "int first = 1; long second = 2;",
    "more": "int first = 1; long second = 2; Object third;",
    "less": "int first = 1;",
    "other": "int first = 1; double second = 2;",
}
PLACES: Final = {name: place for place, name in enumerate(VARIANTS)}


@pytest.fixture(scope="module")
def plugins(tmp_path_factory: pytest.TempPathFactory, compiled: Compiled) -> list[str]:
    directories = []
    for name, fields in VARIANTS.items():
        directory: Path = tmp_path_factory.mktemp(name)
        source = directory / "Thing.java"
        source.write_text(THING.replace("FIELDS", fields))
        javac(jdk_of(17), directory, [source], compiled.class_path)
        directories.append(str(directory))
    return directories


@pytest.fixture(scope="module", params=COMBINATIONS)
def apps(request: pytest.FixtureRequest, compiled: Compiled, plugins: list[str]) -> Iterator[Pair]:
    feature, collector = request.param
    with Orchestrator() as skyway:
        left, right = together(
            partial(launch_kind, skyway, compiled, name, feature, collector, app=compiled.app("fixture.Plugins", *args))
            for name, args in (("left", plugins), ("right", plugins))
        )
        for jvm in (left, right):
            wait_for_line(jvm, "ready")
        yield Pair(skyway, left, right, jdk_of(feature), collector)
        for jvm in (left, right):
            collect(jvm, jdk_of(feature))


def send(apps: Pair, root: str, destination: str) -> None:
    """Without --verify: the class path of its digests is the application's own."""
    apps.transfer(root, destination, verify=False)
    apps.right.drop_root(destination)


def after_a_failure(apps: Pair, destination: str) -> None:
    """Nothing of the graph can be seen, and the next one arrives."""
    assert destination not in [root.name for root in apps.right.roots()]
    assert apps.transfer("fixture.Data#INSTANCE", "after").verified
    apps.right.drop_root("after")


def test_missing_class_is_named(apps: Pair) -> None:
    # The receiver has it, but only in plug-ins: this destination's classes are those of the class path.
    with pytest.raises(ClassMissing, match=r"plug\.Thing") as caught:
        apps.transfer("thing 0", "class path", verify=False)
    assert "class path" in str(caught.value)
    after_a_failure(apps, "class path")


def test_classes_of_a_destination(apps: Pair) -> None:
    # Each hook looks at the loaders of what it gets, and asks it to work.
    for destination in ("same", "again"):
        for _ in range(2):
            send(apps, f"thing {PLACES['same']}", f"for {PLACES[destination]}")
    send(apps, f"thing {PLACES['more']}", f"for {PLACES['more']}")
    # The parent's classes are the same ones in every plug-in.
    for destination in ("same", "again", "less"):
        send(apps, "parent's", f"for {PLACES[destination]}")


@pytest.mark.parametrize(
    ("root", "destination", "difference"),
    [
        ("more", "same", r"the receiver has no field plug\.Thing\.third"),
        ("same", "more", r"the sender has no field plug\.Thing\.third"),
        ("same", "less", r"the receiver has no field plug\.Thing\.second"),
        ("less", "same", r"the sender has no field plug\.Thing\.second"),
        ("same", "other", r"plug\.Thing\.second is a long there, a double here"),
    ],
)
def test_different_class_is_refused_with_the_difference(
    apps: Pair, root: str, destination: str, difference: str
) -> None:
    name = f"for {PLACES[destination]}"
    with pytest.raises(SkywayError, match=difference) as caught:
        apps.transfer(f"thing {PLACES[root]}", name, verify=False)
    assert isinstance(caught.value, LayoutMismatch), type(caught.value)
    after_a_failure(apps, name)


def test_two_classes_of_one_name(apps: Pair, plugins: list[str]) -> None:
    # Classes go by name: of two alike, both arrive as the receiver's one; of two that differ, one cannot.
    for place in range(len(plugins)):
        with pytest.raises(LayoutMismatch, match=r"plug\.Thing differs"):
            apps.transfer("both", f"for {place}", verify=False)
        after_a_failure(apps, f"for {place}")


def test_two_alike_arrive_as_one(skyway: Orchestrator, compiled: Compiled, plugins: list[str]) -> None:
    alike = plugins[:2]
    for name in ("left", "right"):
        wait_for_line(
            launch_kind(skyway, compiled, name, 17, "g1", app=compiled.app("fixture.Plugins", *alike)), "ready"
        )
    for _ in range(2):
        for destination in ("for 0", "for 1"):
            # Its hook wants every object's class to be its own plug-in's.
            skyway.transfer("left:both", "right", destination=destination, timeout=240.0)
    # Of a static field, the class says which loader.
    with pytest.raises(SkywayError, match="loaded by several class loaders"):
        skyway.transfer("left:thing 0", "right:plug.Thing#place", timeout=240.0)


def test_static_field_of_a_plugin_gets_its_classes(
    skyway: Orchestrator, compiled: Compiled, plugins: list[str]
) -> None:
    for name in ("left", "right"):
        app = compiled.app("fixture.Plugins", plugins[0])
        wait_for_line(launch_kind(skyway, compiled, name, 25, "serial", app=app), "ready")
    skyway.transfer("left:thing 0", "right:plug.Thing#place", timeout=240.0)
    # What arrived there is asked by the hook, on its way back.
    skyway.transfer("right:plug.Thing#place", "left:for 0", timeout=240.0)
