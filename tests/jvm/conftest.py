"""Pairs of real JVMs that many tests share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from skyway_py import Orchestrator, find_jdk
from skyway_py._paths import agent_jar
from tests.jvm.jvms import APPS, COMBINATIONS, Compiled, Pair, collect, javac, jdk_of, launch_pair


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    target = tmp_path_factory.mktemp("apps")
    javac(find_jdk(), target, sorted((APPS / "fixture").glob("*.java")), str(agent_jar()))
    return Compiled(target)


@pytest.fixture(scope="session", params=COMBINATIONS)
def pair(
    request: pytest.FixtureRequest, compiled: Compiled, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Pair]:
    """One pair for each JDK and collector, for all tests that ask for it."""
    feature, collector = request.param
    jdk = jdk_of(feature)
    directory = tmp_path_factory.mktemp(f"pair-{feature}-{collector}")
    with Orchestrator() as skyway:
        app = compiled.app("fixture.Host", "churn")
        both = launch_pair(skyway, jdk, collector, app, app, directory=directory)
        yield both
        for jvm in (both.left, both.right):
            collect(jvm, jdk)
            assert jvm.log
            assert jvm.log.read_text() == "", "a launched JVM printed something"
    assert not list(directory.glob("hs_err*")), "a JVM crashed"


@pytest.fixture
def skyway() -> Iterator[Orchestrator]:
    """An orchestrator of the test's own."""
    with Orchestrator() as orchestrator:
        yield orchestrator
