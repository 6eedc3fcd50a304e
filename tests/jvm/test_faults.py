"""What breaks in the middle of a transfer is an error that says where, and nothing else: the rest goes on.

`scripts/stress --faults N` does more of the same.
"""

from __future__ import annotations

import os
import random
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from skyway_py import LinkClosed, Orchestrator
from tests.jvm import faults
from tests.jvm.faults import FAULTS, World
from tests.jvm.jvms import FEATURES, Compiled, jdk_of, wait_for_text, wait_until_gone

#: Another one in every run; a failure's message has it, and the environment variable repeats it.
SEED = int(os.environ.get("SKYWAY_FAULT_SEED", random.SystemRandom().randrange(1 << 32)))


@pytest.fixture(scope="module")
def worlds(compiled: Compiled, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[int, World]]:
    """One for each JDK. Its JVMs are launched when they are needed."""
    with ExitStack() as stack:
        worlds = {
            feature: stack.enter_context(faults.world(compiled.app, feature, tmp_path_factory.mktemp("world")))
            for feature in FEATURES
        }
        yield worlds
        pids = [jvm.pid for world in worlds.values() for jvm in world.skyway.jvms.values()]
        for world in worlds.values():
            world.check_threads_end()
    for pid in pids:
        wait_until_gone(pid)


@pytest.mark.parametrize("name", FAULTS)
def test_fault(worlds: dict[int, World], name: str) -> None:
    # Half of them on each JDK, another half each time: all of them on both take minutes.
    feature = random.Random(f"{SEED} {name} JDK").choice(FEATURES)
    jdk_of(feature)
    print(faults.strike(worlds[feature], name, SEED)[0])


HOLDS = """
import sys
from skyway_py import Orchestrator
with Orchestrator() as skyway:
    print(skyway.launch("left", jdk={jdk}, heap="400m").pid, skyway.run_directory)
    {other}
    skyway.jvm("left").build_workload("graph", size={size})
    while True:
        print("begins", flush=True)
        skyway.transfer("left:graph", "right:x", transport="{transport}")
"""


def _killed_in_a_transfer(jdk: int, transport: str, other: str, rng: random.Random) -> tuple[list[str], int]:
    """An orchestrator that is killed while a transfer runs; gives what it printed, and the transfers it began."""
    script = HOLDS.format(jdk=jdk, transport=transport, other=other, size=faults.SIZE)
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            first = [process.stdout.readline().strip() for _ in range(2)]
            begun = rng.randrange(1, 4)
            for _ in range(begun):
                assert process.stdout.readline() == "begins\n"
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(rng.uniform(0.0, 0.3))
        finally:
            process.kill()
    return first, begun


@pytest.mark.parametrize("transport", ["shm", "tcp"])
@pytest.mark.parametrize("feature", FEATURES)
def test_killed_orchestrator(feature: int, transport: str) -> None:
    jdk_of(feature)
    other = f'print(skyway.launch("right", jdk={feature}, heap="400m").pid)'
    rng = random.Random(f"{SEED} {transport}")
    (left, right), _ = _killed_in_a_transfer(feature, transport, other, rng)
    pid, directory = left.split()
    for jvm in (pid, right):
        wait_until_gone(int(jvm))
    # The next one clears up.
    with Orchestrator():
        assert not Path(directory).exists(), f"seed {SEED}"


@pytest.mark.parametrize("feature", FEATURES)
def test_attached_jvm_outlives_an_orchestrator_that_is_killed_in_a_transfer(
    compiled: Compiled, tmp_path: Path, feature: int
) -> None:
    jdk = jdk_of(feature)
    flags = ["-XX:+EnableDynamicAgentLoading"] if feature >= 21 else []
    with (tmp_path / "log").open("wb") as log:
        command: list[str | Path] = [jdk.java, "-Xmx400m", *flags, "-cp", compiled.class_path, "fixture.Plain"]
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        wait_for_text(tmp_path / "log", "up")
        other = f'print(skyway.attach({process.pid}, "right").pid)'
        _killed_in_a_transfer(feature, "shm", other, random.Random(SEED))
        faults.wait_for(lambda: not faults.memory_files(process.pid), lambda: f"seed {SEED}: memory is left")
        faults.wait_for(lambda: not faults.link_threads(process.pid), lambda: f"seed {SEED}: threads are left")
        with Orchestrator() as skyway:
            skyway.attach(process.pid, "right")
            # What had arrived as a whole may be there; nothing else is.
            assert {root.name for root in skyway.roots("right")} <= {"x"}
            skyway.launch("left", jdk=feature, heap="400m", workload="boxes", size=1_000)
            assert skyway.transfer("left:boxes", "right:y", verify=True, timeout=240.0).verified
        assert process.poll() is None
    finally:
        process.kill()
        process.wait()


def test_link_that_has_ended_is_replaced(skyway: Orchestrator, compiled: Compiled) -> None:
    """A link may end while nobody looks, as after a cancelled transfer that the receiver did not stop in time."""
    for name in ("left", "right"):
        skyway.launch(name, heap="128m", app=compiled.app())
    link = skyway.connect("left", "right")
    # The other side of it, behind the orchestrator's back.
    assert link._close_at(link.receiver) == ""
    assert link._close_at(link.receiver) == "it was closed on request"
    # Until the sender has noticed, a transfer may still begin, and its end says that the receiver is gone.
    left = skyway.jvm("left")
    faults.wait_for(lambda: not faults.memory_files(left.pid), lambda: str(faults.memory_files(left.pid)))
    result = skyway.transfer("left:fixture.Data#INSTANCE", "right:x", verify=True, timeout=240.0)
    assert result.verified
    assert skyway.connect("left", "right") is not link
    # Whoever holds the link itself is told.
    link.is_open = True
    why = "the link to right is closed: the connection to right broke .* says: it was closed on request"
    with pytest.raises(LinkClosed, match=why):
        link.transfer("fixture.Data#INSTANCE", "x", timeout=240.0)


def test_link_that_was_cut_before_a_transfer_says_so(skyway: Orchestrator, compiled: Compiled) -> None:
    left, right = (skyway.launch(name, heap="128m", app=compiled.app()) for name in ("left", "right"))
    link = faults.RelayedLink(left, right)
    with link:
        link.relay.cut()
        # Now the sender has noticed.
        faults.wait_for(lambda: not faults.memory_files(left.pid), lambda: str(faults.memory_files(left.pid)))
        with pytest.raises(LinkClosed, match=r"the link to right is closed: the connection to right broke .* says: "):
            link.transfer("fixture.Data#INSTANCE", "x", timeout=240.0)


def _without_disk(most: int, arguments: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    limited = (
        "import os, resource, sys\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY))\n"
        "os.execv(sys.executable, [sys.executable, *sys.argv[2:]])"
    )
    return subprocess.run(
        [sys.executable, "-c", limited, str(most), *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


# Not even Python's own trial of a directory succeeds, or that does, but no more.
@pytest.mark.parametrize("most", [0, 8])
def test_full_disk_is_an_error_in_one_line(tmp_path: Path, most: int) -> None:
    environment = {**os.environ, "SKYWAY_STATE_DIR": str(tmp_path / "state"), "TMPDIR": str(tmp_path)}
    up = _without_disk(most, ["-m", "skyway_py.cli", "up"], environment)
    assert up.returncode == 1, up.stderr
    assert "cannot write" in up.stderr
    assert "make room there" in up.stderr
    assert "Traceback" not in up.stderr
    assert up.stdout == ""
    assert not (tmp_path / "state" / "state.json").exists()
    assert not list(tmp_path.glob("skyway-run-*"))
    status = subprocess.run(
        [sys.executable, "-m", "skyway_py.cli", "status"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert "no orchestrator is running" in status.stderr


def test_full_disk_for_the_log_disturbs_no_transfer(skyway: Orchestrator, compiled: Compiled) -> None:
    for name in ("left", "right"):
        jvm = skyway.launch(name, heap="256m", app=compiled.app(), workload=None)
        _, hard = resource.prlimit(jvm.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(jvm.pid, resource.RLIMIT_FSIZE, (0, hard))
    skyway.jvm("left").build_workload("media", size=2_000)
    assert skyway.transfer("left:media", "right", transport="tcp", verify=True, timeout=240.0).verified
