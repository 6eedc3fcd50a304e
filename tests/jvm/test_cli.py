"""Every command of the command line, as a user runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.jvm.jvms import FEATURES, Compiled, jdk_of, wait_until_gone


@dataclass(frozen=True)
class Cli:
    """Runs commands against an orchestrator of their own."""

    environment: dict[str, str]
    directory: Path

    def run(self, *arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, "-m", "skyway_py.cli", *arguments],
            cwd=self.directory,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=200,
            check=False,
        )
        assert done.returncode == code, f"{arguments}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def json(self, *arguments: str) -> Any:
        return json.loads(self.run(arguments[0], "--format", "json", *arguments[1:]).stdout)


@pytest.fixture(scope="module")
def cli(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    directory = tmp_path_factory.mktemp("cli")
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("SKYWAY_") and "JAVA_OPTIONS" not in name
    }
    # The package of this tree, also where it is not installed.
    environment |= {"SKYWAY_STATE_DIR": str(directory / "state"), "PYTHONPATH": str(Path(__file__).parents[2])}
    cli = Cli(environment, directory)
    try:
        yield cli
    finally:
        cli.run("down")


def test_a_session(cli: Cli, compiled: Compiled) -> None:
    assert "no orchestrator" in cli.run("status", code=1).stderr
    assert "skyway up" in cli.run("ps", code=1).stderr
    assert "no orchestrator" in cli.run("down").stderr

    first = cli.run("launch", "left", "--workload", "media", "--size", "2000", "--heap", "256m")
    assert "no orchestrator was running, so one was started" in first.stderr
    cli.run("launch", "right", "--heap", "256m")
    assert "is running already" in cli.run("up").stderr
    app = cli.json("launch", "app", "--heap", "128m", "--", *compiled.app())
    assert (app["name"], app["main_class"]) == ("app", "fixture.Host")

    assert [jvm["name"] for jvm in cli.json("ps")] == ["left", "right", "app"]
    table = cli.run("ps").stdout.splitlines()
    assert table[0].startswith("NAME")
    assert len(table) == 4
    assert [(root["jvm"], root["name"]) for root in cli.json("roots")] == [("left", "media")]
    assert "left:media" in cli.run("roots", "left").stdout

    report = cli.json("transfer", "left:media", "right", "--verify")
    assert report["verified"] is True
    assert report["objects"] > 2000
    for transport in ("shm", "tcp"):
        text = cli.run("transfer", "left:media", "right:copy", "--verify", "--transport", transport).stdout
        for word in ("objects", "classes", "image", "send", "transport", "land", "total", "throughput", "collections"):
            assert word in text
        assert transport in text
    cli.run("transfer", "app:fixture.Data#INSTANCE.byName", "right:names", "--verify")
    cli.run("transfer", "app:fixture.Data#NUMBERS", "app2:x", code=2)
    assert {root["name"] for root in cli.json("roots", "right")} == {"media", "copy", "names"}

    comparison = cli.json("compare", "left:media", "right", "--with", "java,kryo", "--runs", "2", "--warmup", "1")
    assert {entry["serializer"] for entry in comparison["results"]} == {"skyway", "java", "kryo", "kryo-tree"}
    assert "kryo-tree" in cli.run("compare", "left:media", "right", "--runs", "1", "--warmup", "0").stdout

    status = cli.json("status")
    assert status["running"] is True
    assert "left" in cli.run("status").stdout
    pids = {jvm["name"]: jvm["pid"] for jvm in cli.json("ps")}
    cli.run("stop", "app")
    wait_until_gone(pids["app"])
    assert [jvm["name"] for jvm in cli.json("ps")] == ["left", "right"]
    cli.run("down")
    for pid in pids.values():
        wait_until_gone(pid)
    cli.run("status", code=1)


def test_refused_graph_shows_its_paths(cli: Cli, compiled: Compiled) -> None:
    cli.run("launch", "bound", "--heap", "128m", "--", *compiled.app())
    cli.run("launch", "other", "--heap", "128m")
    refused = cli.run("transfer", "bound:fixture.Bound#SEVERAL", "other:x", code=1)
    assert refused.stdout == ""
    assert "root.first → java.lang.Thread" in refused.stderr
    assert "root.second → java.nio.DirectByteBuffer" in refused.stderr
    assert "Traceback" not in refused.stderr
    missing = cli.run("transfer", "bound:nothing", "other:x", code=1)
    assert "nothing" in missing.stderr
    cli.run("stop", "bound", "other")


@pytest.mark.parametrize("feature", FEATURES)
def test_attach(cli: Cli, compiled: Compiled, feature: int) -> None:
    jdk = jdk_of(feature)
    flags = ["-XX:+EnableDynamicAgentLoading"] if feature >= 21 else []
    command: list[str | Path] = [jdk.java, "-Xmx64m", *flags, "-cp", compiled.directory, "fixture.Plain"]
    with subprocess.Popen(command) as process:
        try:
            assert "shop" in cli.run("attach", str(process.pid), "--name", "shop").stdout
            cli.run("launch", "taker", "--jdk", str(feature), "--heap", "64m")
            missing = cli.run("transfer", "shop:fixture.Data#INSTANCE", "taker:x", code=1)
            assert "class fixture.Data cannot be loaded by the receiver" in missing.stderr
            cli.run("transfer", "shop:fixture.Data#INSTANCE.last", "taker:x", "--verify")
            cli.run("stop", "shop", "taker")
            assert process.poll() is None
        finally:
            process.kill()


def test_commands_without_an_orchestrator(cli: Cli) -> None:
    arguments = ["--workload", "graph", "--size", "2000", "--runs", "2", "--warmup", "1", "--heap", "256m"]
    assert cli.json("compare", *arguments)["results"]
    document = cli.json("demo", "--size", "1000", "--runs", "1", "--warmup", "0", "--heap", "1g")
    assert set(document) == {"transfers", "comparison"}
    assert [entry["workload"] for entry in document["transfers"]] == ["catalog", "media"]
    for entry in document["transfers"]:
        assert set(entry) == {
            "workload",
            "jdk",
            "collector",
            "objects",
            "image_bytes",
            "send_ms",
            "transport_ms",
            "land_ms",
            "total_ms",
            "verified",
        }
        assert entry["verified"] is True
    for entry in document["comparison"]:
        assert set(entry) == {"workload", "serializer", "total_ms", "bytes", "ratio", "error"}
    checks = {check["name"]: check["state"] for check in cli.json("doctor")}
    assert checks["native engine"] == "ok"
    assert any(name.startswith("JDK 17") and state == "ok" for name, state in checks.items())


def test_usage_errors(cli: Cli) -> None:
    for arguments in (
        ["nonsense"],
        ["launch"],
        ["transfer", "left"],
        ["launch", "a b"],
        ["transfer", "a", "b"],
        ["launch", "x", "--heap", "lots"],
        ["launch", "x", "--collector", "cms"],
    ):
        failed = cli.run(*arguments, code=2)
        assert failed.stdout == ""
        assert failed.stderr


def test_help_has_examples(cli: Cli) -> None:
    commands = [
        "doctor",
        "up",
        "status",
        "launch",
        "attach",
        "ps",
        "roots",
        "transfer",
        "compare",
        "stop",
        "down",
        "demo",
    ]
    listed = cli.run("--help").stdout
    for command in commands:
        assert command in listed
        assert f"skyway {command}" in cli.run(command, "--help").stdout
