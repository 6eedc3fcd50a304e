"""Random graphs between two JVMs that run fixture.Graphs: "left" builds, "right" compares with its own."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path
from typing import Final

from skyway_py import Jdk, Jvm, Orchestrator
from skyway_py._paths import agent_jar

#: Graphs in one transfer.
BATCH: Final = 200
_SOURCES: Final = Path(__file__).parent / "jvm" / "apps" / "fixture"
_START_SECONDS: Final = 60.0


def run(skyway: Orchestrator, batches: int) -> int:
    """Sends so many batches; gives the number of graphs. A difference is a TransferError that has the graph's seed."""
    for _ in range(batches):
        # The receiver says which seeds come next, after each batch that was right.
        skyway.transfer("right:fixture.Graphs#next", "left", destination="asked", timeout=240.0)
        skyway.transfer("left:graphs", "right", destination="arrived", timeout=300.0)
    return batches * BATCH


def compile_apps(jdk: Jdk, target: Path) -> None:
    """Without pytest's fixtures: for runs outside of it. Raises CalledProcessError with what the compiler says."""
    javac = jdk.home / "bin" / "javac"
    command: list[str | Path] = [
        javac,
        "--release",
        "17",
        "-nowarn",
        "-cp",
        agent_jar(),
        "-d",
        target,
        *sorted(_SOURCES.glob("*.java")),
    ]
    subprocess.run(command, timeout=120, check=True)


def launch(
    skyway: Orchestrator, classes: Path, jdk: Jdk, collector: str, java_args: list[str], first: int
) -> tuple[Jvm, Jvm]:
    """A pair whose first graph has that seed."""
    app = ["-cp", os.fspath(classes), "fixture.Graphs", str(first), str(BATCH)]
    left, right = (
        skyway.launch(name, jdk=jdk, collector=collector, heap="256m", java_args=java_args, app=app, timeout=120.0)
        for name in ("left", "right")
    )
    for jvm in (left, right):
        until = time.monotonic() + _START_SECONDS
        while jvm.log is None or "ready" not in jvm.log.read_text():
            if time.monotonic() > until:
                raise TimeoutError(f"the application of '{jvm.name}' is not ready after {_START_SECONDS:g} s")
            time.sleep(0.05)
    return left, right
