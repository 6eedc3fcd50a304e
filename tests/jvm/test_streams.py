"""Object streams between processes that run one after the other: a file is all that they share."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from skyway_py import Orchestrator
from skyway_py._paths import agent_jar
from tests.jvm.jvms import COMBINATIONS, FEATURES, Compiled, jdk_of, launch_kind, wait_for_line


def _run(skyway: Orchestrator, compiled: Compiled, feature: int, collector: str, *args: str) -> list[str]:
    """What the application printed, which ends with "done"."""
    name = f"{args[0]}-{feature}-{collector}"
    jvm = launch_kind(skyway, compiled, name, feature, collector, app=compiled.app("fixture.Streams", *args))
    assert jvm.log
    lines = wait_for_line(jvm, "done", seconds=60.0)
    skyway.stop(name)
    return lines


@pytest.mark.parametrize("kind", COMBINATIONS)
def test_one_process_writes_and_the_next_reads(
    skyway: Orchestrator, compiled: Compiled, tmp_path: Path, kind: tuple[int, str]
) -> None:
    feature, collector = kind
    file = tmp_path / "stream"
    assert _run(skyway, compiled, feature, collector, "write", str(file)) == ["done"]
    # Another orchestrator, which knows nothing of the classes; another collector.
    with Orchestrator() as other:
        reader = "serial" if collector == "g1" else "g1"
        assert _run(other, compiled, feature, reader, "read", str(file)) == ["the end", "done"]


@pytest.mark.parametrize("feature", FEATURES)
def test_memory_of_streams_that_nobody_closes_comes_back(
    skyway: Orchestrator, compiled: Compiled, feature: int
) -> None:
    assert _run(skyway, compiled, feature, "g1", "many", "-") == ["done"]


@pytest.mark.parametrize("feature", FEATURES)
def test_streams_that_cannot_be_read_are_exceptions(
    skyway: Orchestrator, compiled: Compiled, tmp_path: Path, feature: int
) -> None:
    file = tmp_path / "stream"
    _run(skyway, compiled, feature, "g1", "write", str(file))
    whole = file.read_bytes()

    def said(name: str, content: bytes, *flags: str) -> str:
        file.write_bytes(content)
        jvm = launch_kind(
            skyway,
            compiled,
            name,
            feature,
            "g1",
            java_args=flags,
            app=compiled.app("fixture.Streams", "read", str(file)),
        )
        lines = wait_for_line(jvm, "failed")
        assert jvm.alive
        return lines[0]

    corrupted = "java.io.StreamCorruptedException: "
    cut = said("cut", whole[: len(whole) // 2])
    assert cut.startswith(corrupted)
    assert "ends inside a record" in cut
    altered = bytearray(whole)
    altered[len(whole) // 2] ^= 1
    assert said("altered", bytes(altered)).startswith(corrupted)
    other = said("layout", whole, "-XX:-UseCompressedOops")
    assert other.startswith(corrupted)
    assert "compressed oops (UseCompressedOops): false here, true there" in other


def test_without_an_agent_the_constructor_says_so(compiled: Compiled, tmp_path: Path) -> None:
    java = jdk_of(FEATURES[0]).home / "bin" / "java"
    class_path = os.pathsep.join((compiled.class_path, str(agent_jar())))
    command = [str(java), "-cp", class_path, "fixture.Streams", "write", str(tmp_path / "stream"), "once"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=True)
    assert done.stdout.splitlines()[0].startswith(
        "java.lang.IllegalStateException: object streams need Skyway's engine"
    )
    assert "skyway launch" in done.stdout


def test_where_the_engine_refuses_the_constructor_has_its_reason(
    skyway: Orchestrator, compiled: Compiled, tmp_path: Path
) -> None:
    app = compiled.app("fixture.Streams", "write", str(tmp_path / "stream"))
    jvm = launch_kind(skyway, compiled, "refused", FEATURES[0], "zgc", app=app)
    lines = wait_for_line(jvm, "failed")
    assert "which refused this JVM: ZGC" in lines[0]
