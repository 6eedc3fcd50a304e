"""The agent in an application: unseen by it, never in its way, and quiet."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from skyway_py import LaunchError, Orchestrator
from skyway_py._paths import agent_jar, native_library
from tests.jvm.jvms import APPS, FEATURES, Compiled, javac, jdk_of, launch_kind, wait_for_line

OLD = {
    "com.google.protobuf:protobuf-java": "3.19.6",
    "io.netty:netty-buffer": "4.1.50.Final",
    "io.netty:netty-common": "4.1.50.Final",
}


@pytest.fixture(scope="session")
def old_libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Versions of protobuf and Netty that are years older than the agent's, from the Maven repository."""
    directory = tmp_path_factory.mktemp("old")
    for name, version in OLD.items():
        command = [
            "mvn",
            "--batch-mode",
            "--quiet",
            "org.apache.maven.plugins:maven-dependency-plugin:3.9.0:copy",
            f"-Dartifact={name}:{version}",
            f"-DoutputDirectory={directory}",
        ]
        subprocess.run(command, cwd=directory, timeout=240, check=True, stdin=subprocess.DEVNULL)
    return directory


@pytest.mark.parametrize("feature", FEATURES)
def test_application_keeps_its_own_libraries(
    skyway: Orchestrator, compiled: Compiled, old_libraries: Path, tmp_path: Path, feature: int
) -> None:
    class_path = os.pathsep.join([str(tmp_path), *map(str, sorted(old_libraries.glob("*.jar")))])
    javac(
        jdk_of(feature), tmp_path, [APPS / "oldlibs" / "OldLibs.java"], os.pathsep.join((class_path, str(agent_jar())))
    )
    app = skyway.launch(
        "app", jdk=jdk_of(feature), collector="g1", heap="128m", app=["-cp", class_path, "oldlibs.OldLibs"]
    )
    printed = wait_for_line(app, "done")
    assert "netty 4.1.50.Final works" in printed
    assert any(line.startswith("protobuf ") and line.endswith("protobuf-java-3.19.6.jar value") for line in printed)
    for name in ("io.grpc.Server", "io.skyway.core.Engine", "io.skyway.proto.Root"):
        assert f"{name} visible false" in printed
    launch_kind(skyway, compiled, "right", feature, "g1")
    assert skyway.transfer("app:message", "right", verify=True, timeout=240.0).verified


@pytest.mark.parametrize("feature", FEATURES)
def test_idle_application_prints_one_word(skyway: Orchestrator, feature: int) -> None:
    for name in ("left", "right"):
        skyway.launch(name, jdk=jdk_of(feature), heap="256m")
    skyway.jvm("left").build_workload("media", size=1_000)
    for transport in ("shm", "tcp"):
        skyway.transfer("left:media", "right", verify=True, transport=transport, timeout=240.0)
    for name in ("left", "right"):
        log = skyway.jvm(name).log
        assert log
        assert log.read_text() == "ready\n"


def _properties(tmp_path: Path, **changed: str) -> Path:
    entries = {
        "launch.id": "x",
        "mode": "launch",
        "name": "x",
        "orchestrator.host": "127.0.0.1",
        "orchestrator.port": "1",
        "token": "t",
        "library": str(native_library()),
        **changed,
    }
    file = tmp_path / "agent.properties"
    file.write_text("".join(f"{key}={value}\n" for key, value in entries.items() if value))
    file.chmod(0o600)
    return file


BROKEN = {
    "no entry": {"launch.id": ""},
    "not a number": {"orchestrator.port": "many"},
    "no library": {"library": "missing.so"},
    "a library that is none": {"library": "text.so"},
    "nobody listens": {},
}


@pytest.mark.parametrize("feature", FEATURES)
@pytest.mark.parametrize("broken", ["no options", "no such file", *BROKEN])
def test_application_starts_whatever_fails_in_the_agent(
    compiled: Compiled, tmp_path: Path, feature: int, broken: str
) -> None:
    (tmp_path / "text.so").write_text("not a library")
    options = {"no options": "", "no such file": "=nowhere.properties"}.get(broken)
    if options is None:
        options = f"={_properties(tmp_path, **BROKEN[broken])}"
    agent = f"-javaagent:{agent_jar()}{options}"
    command: list[str | Path] = [jdk_of(feature).java, agent, "-cp", compiled.directory, "fixture.Hello"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (0, "hello\n"), done.stderr
    # The JVM itself warns of the library that is none, in two lines.
    lines = [line for line in done.stderr.splitlines() if "stack guard" not in line and "execstack" not in line]
    # One line for what failed, and one because there is no orchestrator that could be told.
    assert 1 <= len(lines) <= 2, done.stderr
    assert all(line.startswith("skyway: ") for line in lines), done.stderr


def test_engine_that_does_not_load_is_reported(
    skyway: Orchestrator, compiled: Compiled, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "text.so").write_text("not a library")
    monkeypatch.setattr("skyway_py._paths.native_library", lambda: tmp_path / "text.so")
    jvm = skyway.launch("left", jdk=17, heap="128m", app=compiled.app())
    assert not jvm.info.raw_engine
    assert "text.so" in jvm.info.engine_refusal
    assert jvm.alive


def test_application_that_ends_at_once_is_reported(skyway: Orchestrator, compiled: Compiled) -> None:
    with pytest.raises(LaunchError, match=r"com\.acme\.Missing"):
        skyway.launch("left", heap="128m", app=["-cp", str(compiled.directory), "com.acme.Missing"], timeout=240.0)
    with pytest.raises(LaunchError, match="NoSuchFlag"):
        skyway.launch("left", heap="128m", java_args=["-XX:+NoSuchFlag"], timeout=240.0)
    assert skyway.jvms == {}
