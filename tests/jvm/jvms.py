"""What the tests know of JVMs: which there are, how to compile for them, and pairs that many tests share."""

from __future__ import annotations

import functools
import os
import subprocess
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

from skyway_py import GraphRefused, Jdk, JdkNotFound, Jvm, Orchestrator, TransferResult, find_jdk
from skyway_py._paths import bench_jar
from tests.shapes import Shape

FEATURES: Final = (17, 25)
COLLECTORS: Final = ("serial", "parallel", "g1")
#: The collector checks the heap, and what points into it, before and after each collection, and stops the JVM when
#: something is wrong. Left out: what the VM knows of its classes, which takes most of the time (on 25 it grows with the
#: square of the classes of a loader). Java's unit tests check all.
VERIFY: Final = (
    "-XX:+UnlockDiagnosticVMOptions",
    "-XX:+VerifyBeforeGC",
    "-XX:+VerifyAfterGC",
    "-XX:VerifySubSet=threads,heap,string_table,codecache,codecache_oops,jni_handles",
)
APPS: Final = Path(__file__).parent / "apps"


@functools.cache
def _jdk(feature: int) -> Jdk | None:
    try:
        return find_jdk(feature)
    except JdkNotFound:
        return None


def jdk_of(feature: int) -> Jdk:
    """The JDK of that feature release; the test is skipped when there is none, except in CI."""
    jdk = _jdk(feature)
    if jdk is None:
        if os.environ.get("CI") == "true":
            pytest.fail(f"CI needs a JDK {feature}")
        pytest.skip(f"no JDK {feature} was found")
    return jdk


@dataclass(frozen=True)
class Compiled:
    """The test applications' classes."""

    directory: Path

    @property
    def class_path(self) -> str:
        """With the bench module, for its workloads."""
        return os.pathsep.join((str(self.directory), str(bench_jar())))

    def app(self, main: str = "fixture.Host", *args: str) -> list[str]:
        """What `launch` is given to run one of them."""
        return ["-cp", self.class_path, main, *args]


def javac(jdk: Jdk, target: Path, sources: list[Path], class_path: str) -> None:
    """Compiles for Java 17."""
    command: list[str | Path] = [
        jdk.home / "bin" / "javac",
        "--release",
        "17",
        "-cp",
        class_path,
        "-d",
        target,
        *sources,
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr


@dataclass(frozen=True)
class Pair:
    """Two JVMs of a kind, of which the collectors check the heap, and both allocate all the time."""

    skyway: Orchestrator
    left: Jvm
    right: Jvm
    jdk: Jdk
    collector: str

    def transfer(self, root: str, destination: str | None = None, **options: Any) -> TransferResult:
        """From left to right; verified unless the test says otherwise."""
        options.setdefault("verify", True)
        options.setdefault("timeout", 60.0)
        return self.skyway.transfer(f"left:{root}", "right", destination=destination, **options)

    def collect(self) -> None:
        """A full collection in both, with the checks before and after it."""
        for a, b in (("left", "right"), ("right", "left")):
            collect_by_hook(self.skyway, f"{a}:fixture.Data#INSTANCE.last", b)


def collect_by_hook(skyway: Orchestrator, source: str, target: str) -> None:
    """A full collection in a JVM whose application has a hook that does it; takes less time than jcmd."""
    skyway.transfer(source, f"{target}:collect", timeout=240.0)
    skyway.jvm(target).drop_root("collect")


def collect(jvm: Jvm, jdk: Jdk) -> None:
    """A full collection; fails when the JVM does not survive it."""
    command: list[str | Path] = [jdk.home / "bin" / "jcmd", str(jvm.pid), "GC.run"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}{jvm.quote_log()}"
    assert jvm.alive, jvm.quote_log()


def ask(pair: Pair, shape: Shape, *, changes: bool = False, again: bool = True) -> None:
    """Asks a shape to work in the other JVM, or to be refused.

    `changes`: a rule makes it another graph on the way; `again`: another one arrives after the first and a collection.
    Without it, what has arrived stays.
    """
    root, destination = f"shape {shape.name}", f"got {shape.name}"
    if shape.works:
        # The hook of this destination asks the graph to work, and throws when it does not.
        pair.transfer(root, destination, verify=False)
        # The check may change what it got; another copy says whether the whole graph is the same.
        if not changes:
            assert pair.transfer(root, "as it is").verified
        if not again:
            return
        # Its objects live through a collection, and another one of the same arrives after the first.
        collect_by_hook(pair.skyway, "left:nothing", "right")
        pair.transfer(root, destination, verify=False)
        pair.right.drop_root(destination)
        if not changes:
            pair.right.drop_root("as it is")
    else:
        with pytest.raises(GraphRefused) as caught:
            pair.transfer(root, destination, verify=False)
        assert all(refusal.path.startswith("root[1]") for refusal in caught.value.refusals)
        assert destination not in [r.name for r in pair.right.roots()]


COMBINATIONS: Final = [
    pytest.param((feature, collector), id=f"{feature}-{collector}") for feature in FEATURES for collector in COLLECTORS
]


def launch_kind(
    skyway: Orchestrator, compiled: Compiled, name: str, feature: int, collector: str, **options: Any
) -> Jvm:
    """A JVM with a test application and heap checks."""
    options.setdefault("heap", "256m")
    options.setdefault("app", compiled.app())
    options["java_args"] = [*VERIFY, *options.get("java_args", ())]
    return skyway.launch(name, jdk=jdk_of(feature), collector=collector, **options)


def together(launches: Iterable[Callable[[], Jvm]]) -> list[Jvm]:
    """Launches at the same time."""
    calls = list(launches)
    with ThreadPoolExecutor(len(calls)) as pool:
        return [later.result() for later in [pool.submit(call) for call in calls]]


def launch_pair(
    skyway: Orchestrator, jdk: Jdk, collector: str, left: Sequence[str], right: Sequence[str], **options: Any
) -> Pair:
    """Two JVMs with heap checks, at the same time, each with its application."""
    one, other = together(
        partial(skyway.launch, name, jdk=jdk, collector=collector, heap="256m", java_args=VERIFY, app=app, **options)
        for name, app in (("left", left), ("right", right))
    )
    return Pair(skyway, one, other, jdk, collector)


def wait_for_line(jvm: Jvm, line: str, seconds: float = 30.0) -> list[str]:
    """Waits until the JVM has printed a line; gives all lines until then."""
    assert jvm.log
    return wait_for_text(jvm.log, line, seconds)


def wait_for_text(log: Path, line: str, seconds: float = 30.0) -> list[str]:
    """As wait_for_line, in any file."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        lines = log.read_text().splitlines()
        if line in lines:
            return lines
        time.sleep(0.05)
    pytest.fail(f"'{line}' was not printed within {seconds:g} s: {log.read_text()}")


def wait_until_gone(pid: int, seconds: float = 30.0) -> None:
    """Waits until a process has ended."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return
        if state == "Z":
            return
        time.sleep(0.05)
    pytest.fail(f"process {pid} still runs after {seconds:g} s")
