"""The orchestrator against stand-ins for JVMs."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import skyway_py
from skyway_py import (
    EngineRefused,
    GraphRefused,
    InternalError,
    InvalidRequest,
    Jdk,
    Jvm,
    JvmLost,
    LaunchError,
    LayoutMismatch,
    Orchestrator,
    Progress,
    RootMissing,
    TransferCancelled,
    TransferTimeout,
    UnknownJvm,
    VerificationFailed,
)
from skyway_py._process import ProcessIdentity


def gone(identity: ProcessIdentity, seconds: float = 30.0) -> bool:
    deadline = time.monotonic() + seconds
    while identity.alive() and time.monotonic() < deadline:
        time.sleep(0.02)
    return not identity.alive()


def misbehaving(kind: str) -> dict[str, str]:
    return {**os.environ, "FAKE_JAVA": kind}


def pair(skyway: Orchestrator, jdk: Jdk) -> tuple[Jvm, Jvm]:
    return skyway.launch("left", jdk=jdk, workload="catalog"), skyway.launch("right", jdk=jdk)


def test_launch_describes_the_jvm(skyway: Orchestrator, jdk: Jdk) -> None:
    jvm = skyway.launch("left", jdk=jdk, workload="catalog", root="books")
    assert skyway.jvms == {"left": jvm}
    info = jvm.info
    assert (info.name, info.kind, info.state, info.collector) == ("left", "launched", "running", "G1")
    assert info.startup_ms == {"engine": 5.0}
    assert {root.name: root.origin for root in skyway.roots("left")}["books"] == "published"
    assert jvm.statistics().classes_known == 3
    assert jvm.drop_root("books")
    assert not jvm.drop_root("books")


def test_command_line_of_a_launched_jvm(skyway: Orchestrator, jdk: Jdk, tmp_path: Path, built_files: Path) -> None:
    jvm = skyway.launch(
        "app",
        jdk=jdk,
        collector="parallel",
        heap="512m",
        java_args=["-Xlog:gc"],
        app=["-cp", "app jar", "com.acme.Main", "--", "x"],
        directory=tmp_path,
    )
    assert jvm.log
    output = jvm.log.read_text().splitlines()
    arguments = json.loads(output[0].removeprefix("arguments: "))
    agent = next(argument for argument in arguments if argument.startswith("-javaagent:"))
    assert agent.startswith(f"-javaagent:{built_files}/skyway-agent.jar={skyway.run_directory}/")
    arguments.remove(agent)
    assert arguments == [
        "-XX:+UnlockDiagnosticVMOptions",
        "-XX:GCLockerRetryAllocationCount=100",
        "-XX:+UseParallelGC",
        "-Xmx512m",
        "-Xlog:gc",
        "-cp",
        "app jar",
        "com.acme.Main",
        "--",
        "x",
    ]
    assert output[1] == f"directory: {tmp_path}"


def test_private_files(skyway: Orchestrator, jdk: Jdk) -> None:
    jvm = skyway.launch("left", jdk=jdk)
    assert skyway.run_directory.stat().st_mode & 0o777 == 0o700
    assert jvm.log
    assert jvm.log.stat().st_mode & 0o777 == 0o600
    # The token must not lie around.
    assert [path for path in skyway.run_directory.iterdir() if path.suffix == ".properties"] == []
    skyway.close()
    assert not skyway.run_directory.exists()


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("exit", "exit code 7.*Could not find or load main class"),
        ("failure", "no engine room"),
        ("wrong-pid", "runs in process 1"),
        ("no-agent", "did not start; its last output.*the agent did not start: no jar"),
        ("silent", "not ready within 1 s"),
    ],
)
def test_failed_launch_leaves_nothing(skyway: Orchestrator, jdk: Jdk, kind: str, message: str) -> None:
    timeout = 1.0 if kind == "silent" else 30.0
    with pytest.raises(LaunchError, match=f"(?s){message}"):
        skyway.launch("left", jdk=jdk, environment=misbehaving(kind), timeout=timeout)
    assert skyway.jvms == {}
    assert children() == []
    # The name is free again.
    assert skyway.launch("left", jdk=jdk).alive


def children() -> list[int]:
    found = subprocess.run(["ps", "--ppid", str(os.getpid()), "-o", "pid=,comm="], capture_output=True, text=True)
    return [int(line.split()[0]) for line in found.stdout.splitlines() if not line.endswith("ps")]


def test_failed_workload_ends_the_jvm(skyway: Orchestrator, jdk: Jdk) -> None:
    with pytest.raises(InvalidRequest, match="no workload is called 'nonsense'"):
        skyway.launch("left", jdk=jdk, workload="nonsense")
    assert skyway.jvms == {}
    assert children() == []


def test_names(skyway: Orchestrator, jdk: Jdk) -> None:
    skyway.launch("left", jdk=jdk)
    with pytest.raises(InvalidRequest, match="already called 'left'"):
        skyway.launch("left", jdk=jdk)
    with pytest.raises(InvalidRequest, match="is not a JVM's name"):
        skyway.launch("left:right", jdk=jdk)
    with pytest.raises(UnknownJvm, match=r"'middle' \(here: left\)"):
        skyway.roots("middle")
    with pytest.raises(InvalidRequest, match="does not name a graph"):
        skyway.transfer("left", "right")


def test_impossible_launches(skyway: Orchestrator, jdk: Jdk) -> None:
    with pytest.raises(InvalidRequest, match="'fast' is not a collector"):
        skyway.launch("left", jdk=jdk, collector="fast")
    with pytest.raises(InvalidRequest, match="'much' is not a heap size"):
        skyway.launch("left", jdk=jdk, heap="much")
    with pytest.raises(InvalidRequest, match="needs the idle application"):
        skyway.launch("left", jdk=jdk, workload="catalog", app=["Main"])
    with pytest.raises(InvalidRequest, match="not one string"):
        skyway.launch("left", jdk=jdk, app="-jar app.jar")
    with pytest.raises(LaunchError, match="does not run"):
        skyway.launch("left", jdk=jdk, directory="/does/not/exist")


def test_transfer(skyway: Orchestrator, jdk: Jdk) -> None:
    pair(skyway, jdk)
    seen: list[Progress] = []
    result = skyway.transfer("left:catalog", "right", verify=True, on_progress=seen.append)
    assert result.verified
    assert (result.objects, result.image_bytes, result.total_ms, result.transport) == (10, 240, 4.0, "shm")
    assert (result.sender_gc.collections, result.receiver_gc.collections) == (2, 0)
    assert seen == [Progress(10, 240, 1, 1)]
    assert {root.name: root.origin for root in skyway.roots("right")}["catalog"] == "received"
    assert skyway.transfer("left:catalog", "right:copy", transport="tcp").transport == "shm"
    assert "copy" in {root.name for root in skyway.roots("right")}
    assert len(skyway.links) == 2
    assert skyway.connect("left", "right") is skyway.connect("left", "right")


def test_result_survives_the_way_to_the_command_line(skyway: Orchestrator, jdk: Jdk) -> None:
    from skyway_py._daemon import _messages as messages

    pair(skyway, jdk)
    result = skyway.transfer("left:catalog", "right", verify=True)
    assert messages.result_of(messages.outcome(result)) == result
    comparison = skyway.compare("left:catalog", "right", runs=2, warmup=0)
    assert messages.comparison_of(messages.comparison_outcome(comparison)).to_dict()["results"][1]["ratio"] == 10.0


def test_verification_fails(skyway: Orchestrator, jdk: Jdk) -> None:
    skyway.launch("left", jdk=jdk, workload="catalog")
    skyway.launch("right", jdk=jdk, environment=misbehaving("corrupt"))
    running = skyway.start_transfer("left:catalog", "right", verify=True)
    with pytest.raises(VerificationFailed, match="'catalog' in 'right' differs from 'catalog' in 'left'"):
        running.result()
    assert running.unverified_result().verified is None


def test_refused_graph(skyway: Orchestrator, jdk: Jdk) -> None:
    pair(skyway, jdk)
    with pytest.raises(GraphRefused, match="2 objects") as caught:
        skyway.transfer("left:bound", "right")
    assert [refusal.path for refusal in caught.value.refusals] == ["root.t[1]", "root.t[2]"]
    assert caught.value.side == "sender"


def test_missing_root(skyway: Orchestrator, jdk: Jdk) -> None:
    pair(skyway, jdk)
    with pytest.raises(RootMissing, match="no graph is called 'nothing'"):
        skyway.transfer("left:nothing", "right")


def test_long_error_arrives_whole(skyway: Orchestrator, jdk: Jdk) -> None:
    pair(skyway, jdk)
    with pytest.raises(InternalError, match="a long story") as caught:
        skyway.transfer("left:long", "right")
    assert len(caught.value.stack_trace) == 100_000


def test_layouts_differ(skyway: Orchestrator, jdk: Jdk) -> None:
    skyway.launch("left", jdk=jdk)
    skyway.launch("right", jdk=jdk, environment=misbehaving("other-layout"))
    with pytest.raises(LayoutMismatch, match="compressed oops"):
        skyway.connect("left", "right")
    assert skyway.links == []


def test_timeout(skyway: Orchestrator, jdk: Jdk) -> None:
    pair(skyway, jdk)
    with pytest.raises(TransferTimeout) as caught:
        skyway.transfer("left:endless", "right", timeout=0.2)
    assert isinstance(caught.value, TimeoutError)


def test_cancel_from_the_progress_hook(skyway: Orchestrator, jdk: Jdk) -> None:
    pair(skyway, jdk)

    def stop(_: Progress) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        skyway.transfer("left:endless", "right", on_progress=stop)
    # The link is as good as before.
    assert skyway.launch("third", jdk=jdk, workload="media").alive


def test_cancel_from_another_side(skyway: Orchestrator, jdk: Jdk) -> None:
    pair(skyway, jdk)
    running = skyway.start_transfer("left:endless", "right")
    for number, _ in enumerate(progress := iter(running)):
        if number == 3:
            running.cancel()
            break
    with pytest.raises(TransferCancelled):
        list(progress)


def test_comparison(skyway: Orchestrator, jdk: Jdk) -> None:
    pair(skyway, jdk)
    steps: list[tuple[int, int, str]] = []
    comparison = skyway.compare("left:catalog", "right", runs=3, warmup=1, on_step=lambda *step: steps.append(step))
    assert [result.serializer for result in comparison.results] == ["skyway", "java", "kryo", "kryo-tree"]
    assert comparison.ratio("java") == 10.0
    assert comparison.ratio("kryo") == 5.0
    assert comparison.ratio("kryo-tree") is None
    assert comparison["kryo-tree"].error == "kryo-tree: StackOverflowError: cycles need references"
    assert [len(result.runs) for result in comparison.results] == [3, 3, 3, 0]
    # Interleaved, the first one of a round changes, and what failed is not tried again.
    assert [name for _, _, name in steps][:7] == ["skyway", "java", "kryo", "kryo-tree", "java", "kryo", "skyway"]
    assert "skyway-comparison" not in {root.name for root in skyway.roots("right")}
    hurried = skyway.compare("left:catalog", "right", with_=[], runs=1000, warmup=1000, max_seconds=0.5)
    assert 1 <= len(hurried["skyway"].runs) < 1000
    with pytest.raises(InvalidRequest, match="at least one run"):
        skyway.compare("left:catalog", "right", runs=0)


def test_dead_jvm_is_named_with_its_last_words(skyway: Orchestrator, jdk: Jdk) -> None:
    jvm = skyway.launch("left", jdk=jdk, environment=misbehaving("die-late"))
    with pytest.raises(JvmLost, match=r"(?s)'left' .* has ended with exit code 3.*out of cheese"):
        skyway.roots("left")
    assert jvm.info.state == "ended with 3"
    with pytest.raises(JvmLost):
        jvm.statistics()
    # Its name may be used again.
    assert skyway.launch("left", jdk=jdk).alive


def test_refused_engine_is_told(skyway: Orchestrator, jdk: Jdk) -> None:
    jvm = skyway.launch("left", jdk=jdk, environment=misbehaving("refused"))
    assert not jvm.info.raw_engine
    assert "use Serial, Parallel or G1" in jvm.info.engine
    skyway.launch("right", jdk=jdk)
    with pytest.raises(EngineRefused, match="does not run in JVM 'left': ZGC"):
        skyway.connect("right", "left")


def test_stop_ends_a_jvm_that_does_not_want_to(skyway: Orchestrator, jdk: Jdk) -> None:
    jvm = skyway.launch("left", jdk=jdk, environment=misbehaving("hang-on-shutdown"))
    skyway.stop("left", grace=0.2)
    assert gone(jvm.identity, 0.1)
    assert skyway.jvms == {}


def test_exception_in_the_block_ends_the_jvms(jdk: Jdk) -> None:
    identities: list[ProcessIdentity] = []
    with pytest.raises(ZeroDivisionError), Orchestrator() as skyway:  # noqa: PT012
        identities += [jvm.identity for jvm in pair(skyway, jdk)]
        raise ZeroDivisionError
    assert all(gone(identity, 0.1) for identity in identities)


SCRIPT = """
import os, signal, sys, time
# A shell that runs the tests in the background has it ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.path.insert(0, {package!r})
from pathlib import Path
from skyway_py import Orchestrator, _paths
_paths._LIB = Path({lib!r})
with Orchestrator() as skyway:
    jvm = skyway.launch("left", jdk={jdk!r})
    if {fork!r} and os.fork() == 0:
        time.sleep(60)
        os._exit(0)
    print(jvm.pid, jvm.identity.start_time_ticks, flush=True)
    time.sleep(60)
"""


@pytest.mark.parametrize("fork", [False, True])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_no_jvm_outlives_its_orchestrator(jdk: Jdk, built_files: Path, number: signal.Signals, fork: bool) -> None:
    script = SCRIPT.format(
        package=str(Path(skyway_py.__file__).parents[1]), lib=str(built_files), jdk=str(jdk.home), fork=fork
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
    ) as process:
        assert process.stdout
        identity = ProcessIdentity(*map(int, process.stdout.readline().split()))
        assert identity.alive()
        process.send_signal(number)
        try:
            assert gone(identity)
            process.wait(10)
        finally:
            # The forked child has the process group's id as well.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    # The next orchestrator removes what one that was killed could not.
    with Orchestrator() as skyway:
        assert list(Path(os.environ["TMPDIR"]).iterdir()) == [skyway.run_directory]


def test_closed_orchestrator_launches_nothing(jdk: Jdk) -> None:
    skyway = Orchestrator()
    skyway.close()
    skyway.close()
    with pytest.raises(InvalidRequest, match="is closed"):
        skyway.launch("left", jdk=jdk)
