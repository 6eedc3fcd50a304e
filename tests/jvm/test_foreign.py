"""Containers of other libraries, with keys whose hash is each process's own: what arrives works."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from skyway_py import Orchestrator, find_jdk
from skyway_py._paths import agent_jar
from tests.jvm.jvms import APPS, FEATURES, Pair, ask, collect, javac, jdk_of, launch_pair, wait_for_line
from tests.shapes import FOREIGN, Shape

APP: Final = APPS / "foreign"
#: Its hook puts it in order, after which its fields differ from the sender's.
CHANGED: Final = {"fastutil a table with an arrival hook"}


@pytest.fixture(scope="module")
def class_path(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The application and its libraries, which Maven fetches; they are no part of the agent."""
    directory = tmp_path_factory.mktemp("foreign")
    command = [
        "mvn",
        "--batch-mode",
        "--quiet",
        "-f",
        str(APP / "pom.xml"),
        "org.apache.maven.plugins:maven-dependency-plugin:3.9.0:copy-dependencies",
        f"-DoutputDirectory={directory}",
    ]
    subprocess.run(command, cwd=directory, timeout=240, check=True, stdin=subprocess.DEVNULL)
    jars = [str(jar) for jar in sorted(directory.glob("*.jar"))]
    javac(find_jdk(), directory, [APP / "Foreign.java"], os.pathsep.join([*jars, str(agent_jar())]))
    return os.pathsep.join([str(directory), *jars])


@pytest.fixture(scope="module", params=FEATURES)
def libraries(
    request: pytest.FixtureRequest, class_path: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Pair]:
    jdk = jdk_of(request.param)
    directory: Path = tmp_path_factory.mktemp(f"foreign-{request.param}")
    with Orchestrator() as skyway:
        app = ["-cp", class_path, "foreign.Foreign"]
        both = launch_pair(skyway, jdk, "g1", app, app, directory=directory)
        for jvm in (both.left, both.right):
            wait_for_line(jvm, "ready")
        yield both
        for jvm in (both.left, both.right):
            collect(jvm, jdk)


@pytest.mark.parametrize("shape", FOREIGN, ids=lambda shape: shape.name)
def test_container(libraries: Pair, shape: Shape) -> None:
    # All of them are there when the collector looks at the heap in the end.
    ask(libraries, shape, changes=shape.name in CHANGED, again=False)
