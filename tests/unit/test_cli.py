"""The command line, with an orchestrator in the background and stand-ins for JVMs."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from skyway_py import DaemonError, Jdk, cli
from skyway_py import _daemon as daemon
from skyway_py._daemon import _start
from skyway_py._daemon._state import read_state, state_file
from skyway_py._process import ProcessIdentity
from tests.unit.test_orchestrator import gone

Run = Callable[..., Result]

# The orchestrator in the background must find the same stand-ins as we.
DAEMON = """
import sys
from pathlib import Path
from skyway_py import _paths
from skyway_py._daemon.__main__ import main
_paths._LIB = Path({lib!r})
main(int(sys.argv[1]), *sys.argv[2:])
"""


@pytest.fixture
def run(built_files: Path, jdk: Jdk, monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    monkeypatch.setattr(_start, "_COMMAND", (sys.executable, "-c", DAEMON.format(lib=str(built_files))))
    monkeypatch.setenv("SKYWAY_JDK", str(jdk.home))

    def invoke(*arguments: str, code: int = 0, env: dict[str, str] | None = None) -> Result:
        result = CliRunner().invoke(cli.main, arguments, env=env, prog_name="skyway")
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == code, result.output
        return result

    yield invoke
    remote = daemon.connect()
    if remote:
        remote.down()


def test_a_whole_session(run: Run) -> None:
    launched = run("launch", "left", "--workload", "catalog")
    assert "no orchestrator was running, so one was started" in launched.stderr
    assert "17.0.99" in launched.stdout
    assert "no orchestrator" not in run("launch", "right").stderr
    assert "left" in run("ps").stdout
    assert [jvm["name"] for jvm in json.loads(run("ps", "--format", "json").stdout)] == ["left", "right"]
    roots = json.loads(run("roots", "left", "--format", "json").stdout)
    assert {"catalog", "bound"} <= {root["name"] for root in roots}
    assert "left:catalog" in run("roots").stdout
    report = run("transfer", "left:catalog", "right", "--verify")
    assert report.stderr == ""
    for word in ("objects", "image", "send", "transport", "land", "total", "throughput", "collections", "verified"):
        assert word in report.stdout
    document = json.loads(run("transfer", "left:catalog", "right", "--format", "json", "--serializer", "java").stdout)
    assert (document["serializer"], document["total_ms"], document["verified"]) == ("java", 40.0, None)
    table = run("compare", "left:catalog", "right", "--runs", "2", "--warmup", "0").stdout
    assert "10.00x" in table
    assert "kryo-tree   error: kryo-tree: StackOverflowError" in table
    document = json.loads(run("compare", "left:catalog", "right", "--runs", "2", "--format", "json").stdout)
    assert [len(entry["runs"]) for entry in document["results"]] == [2, 2, 2, 0]
    status = json.loads(run("status", "--format", "json").stdout)
    assert status["running"]
    assert status["links"] == [{"sender": "left", "receiver": "right", "transport": "shm"}]
    assert "left → right (shm)" in run("status").stdout
    run("stop", "left")
    assert [jvm["name"] for jvm in json.loads(run("ps", "--format", "json").stdout)] == ["right"]
    identity = ProcessIdentity.of(json.loads(run("ps", "--format", "json").stdout)[0]["pid"])
    assert identity
    run("down")
    assert gone(identity, 0.1)
    assert not state_file().exists()
    assert "no orchestrator is running" in run("down").stderr


def test_up_twice_and_status(run: Run) -> None:
    assert "no orchestrator is running" in run("status", code=1).stderr
    assert json.loads(run("status", "--format", "json", code=1).stdout) == {"running": False}
    assert "started" in run("up").stderr
    assert "is running already" in run("up").stderr
    assert state_file().stat().st_mode & 0o777 == 0o600
    assert "JVMs           none" in run("status").stdout
    assert "no JVMs yet" in run("ps").stderr


def test_up_after_a_crash(run: Run) -> None:
    run("launch", "left")
    jvm = ProcessIdentity.of(json.loads(run("ps", "--format", "json").stdout)[0]["pid"])
    state = read_state()
    assert state
    assert jvm
    state.process.signal(signal.SIGKILL)
    assert gone(state.process)
    assert gone(jvm)
    assert state_file().exists()
    assert "no orchestrator is running" in run("ps", code=1).stderr
    assert Path(state.run_directory).exists()
    assert "started" in run("up").stderr
    assert not Path(state.run_directory).exists()
    assert json.loads(run("ps", "--format", "json").stdout) == []


def test_a_stopped_orchestrator_is_named(run: Run) -> None:
    run("up")
    state = read_state()
    assert state
    impatient = daemon.RemoteOrchestrator(state, silence=1.0)
    assert impatient.status().pid == state.pid
    assert state.process.signal(signal.SIGSTOP)
    try:
        with pytest.raises(DaemonError, match="the process is stopped: continue it with `kill -CONT"):
            impatient.status()
    finally:
        state.process.signal(signal.SIGCONT)
    run("ps")


def test_a_foreign_process_with_the_same_pid_is_left_alone(run: Run) -> None:
    run("up")
    state = read_state()
    assert state
    run("down")
    # As if the pid had gone to another process, here this one.
    document = {**vars(state), "pid": os.getpid()}
    state_file().write_text(json.dumps(document))
    state_file().chmod(0o600)
    assert "no orchestrator is running" in run("down").stderr
    assert "started" in run("up").stderr


def test_application_after_the_dashes(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    info = json.loads(
        run("launch", "app", "--format", "json", "--", "-cp", "app.jar", "com.acme.Main", "--format", "x").stdout
    )
    output = Path(info["log"]).read_text().splitlines()
    arguments = json.loads(output[0].removeprefix("arguments: "))
    assert arguments[-5:] == ["-cp", "app.jar", "com.acme.Main", "--format", "x"]
    # The command's directory and environment, not the orchestrator's.
    assert output[1] == f"directory: {tmp_path}"
    refused = run("launch", "other", "--format", "json", env={"FAKE_JAVA": "refused"})
    assert "the engine does not run in 'other': ZGC is not supported" in refused.stderr


ERRORS: list[tuple[list[str], int, str]] = [
    (["transfer", "left", "right"], 2, "does not name a graph: write JVM:ROOT"),
    (["transfer", "left:catalog", "middle"], 2, "no JVM is called 'middle'"),
    (["transfer", "left:nothing", "right"], 1, "no graph is called 'nothing'"),
    (["transfer", "left:bound", "right"], 1, "root.t[2] → java.lang.Thread: bound"),
    (["transfer", "left:endless", "right", "--timeout", "0.2"], 1, "not done in 200 ms"),
    (["transfer", "left:catalog", "right", "--transport", "pigeon"], 2, "Invalid value for '--transport'"),
    (["launch", "left"], 2, "already called 'left'"),
    (["launch", "a:b"], 2, "is not a JVM's name"),
    (["launch", "new", "--heap", "much"], 2, "is not a heap size"),
    (["launch", "new", "--jdk", "99"], 1, "no JDK 99 was found"),
    (["launch", "new", "--workload", "catalog", "--", "Main"], 2, "needs the idle application"),
    (["attach", "999999999"], 1, "no process has pid 999999999"),
    (["attach", "x"], 2, "Invalid value for 'PID'"),
    (["compare"], 2, "name a graph and a receiver"),
    (["compare", "left:catalog", "right", "--workload", "media"], 2, "launches its own JVMs"),
    (["stop", "middle"], 2, "no JVM is called 'middle'"),
    (["nonsense"], 2, "No such command 'nonsense'"),
]


def test_errors(shared_session: Run) -> None:
    for arguments, code, message in ERRORS:
        result = shared_session(*arguments, code=code)
        assert message in result.stderr
        assert result.stdout == ""
        assert "Traceback" not in result.output


@pytest.fixture
def shared_session(run: Run) -> Run:
    run("launch", "left", "--workload", "catalog")
    run("launch", "right")
    return run


def test_failed_launch_shows_the_last_output(run: Run) -> None:
    result = run("launch", "left", code=1, env={"FAKE_JAVA": "exit"})
    assert "ended with exit code 7" in result.stderr
    assert "Could not find or load main class" in result.stderr


@pytest.mark.parametrize("command", list(cli.main.commands))
def test_help_has_examples(run: Run, command: str) -> None:
    text = run(command, "--help").stdout
    assert "\nExamples:\n  " in text
    assert "skyway" in text.split("Examples:")[1]


def test_commands_of_the_issue() -> None:
    wanted = "doctor up status launch attach ps roots transfer compare stop down demo completion"
    assert list(cli.main.commands) == wanted.split()


def test_options_from_the_environment(run: Run) -> None:
    run("launch", "left", "--workload", "catalog")
    run("launch", "right")
    result = run("transfer", "left:catalog", "right", env={"SKYWAY_FORMAT": "json", "SKYWAY_VERIFY": "1"})
    assert json.loads(result.stdout)["verified"] is True


def test_longest_pause(run: Run) -> None:
    run("launch", "left", "--workload", "catalog")
    run("launch", "right")

    def asked(*arguments: str, env: dict[str, str] | None = None) -> float:
        document = json.loads(run(*arguments, "--format", "json", env=env).stdout)
        report = document["results"][0]["runs"][0] if "results" in document else document
        return float(report["longest_window_ms"])

    for command in (["transfer", "left:catalog", "right"], ["compare", "left:catalog", "right", "--runs", "1"]):
        assert asked(*command) == 5.0
        assert asked(*command, "--max-pause", "0.25") == 0.25
        assert asked(*command, env={"SKYWAY_MAX_PAUSE": "2"}) == 2.0
        assert "Invalid value for '--max-pause'" in run(*command, "--max-pause", "0", code=2).stderr
        text = " ".join(run(command[0], "--help").stdout.split())
        assert "env var: SKYWAY_MAX_PAUSE; default: 5.0" in text


def test_windows_are_reported(run: Run) -> None:
    run("launch", "left", "--workload", "catalog")
    run("launch", "right")
    document = json.loads(run("transfer", "left:catalog", "right", "--format", "json").stdout)
    assert (document["send_window_share"], document["land_window_share"]) == (0.25, 0.1)
    text = run("transfer", "left:catalog", "right").stdout
    assert "sender 1.00 ms (25%), receiver 0.40 ms (10%)" in text
    assert "restarted walks" in text
    assert "windows" not in run("transfer", "left:catalog", "right", "--serializer", "java").stdout


def test_demo_prints_exactly_the_document(run: Run) -> None:
    result = run("demo", "--format", "json", "--runs", "2", "--warmup", "0")
    document = json.loads(result.stdout)
    assert document == {
        "transfers": [
            {
                "workload": workload,
                "jdk": "17.0.99+1",
                "collector": "G1",
                "objects": 10,
                "image_bytes": 240,
                "send_ms": 2.0,
                "transport_ms": 0.5,
                "land_ms": 3.0,
                "total_ms": 4.0,
                "verified": True,
            }
            for workload in ("catalog", "media")
        ],
        "comparison": [
            {
                "workload": workload,
                "serializer": serializer,
                "total_ms": total,
                "bytes": size,
                "ratio": ratio,
                "error": error,
            }
            for workload in ("catalog", "media")
            for serializer, total, size, ratio, error in (
                ("skyway", 4.0, 240, 1.0, None),
                ("java", 40.0, 2400, 10.0, None),
                ("kryo", 20.0, 1200, 5.0, None),
                ("kryo-tree", None, None, None, "kryo-tree: StackOverflowError: cycles need references"),
            )
        ],
    }
    assert daemon.connect() is None


def test_demo_table_and_failure(run: Run) -> None:
    table = run("demo", "--runs", "1", "--warmup", "0").stdout
    assert "Transfers between two JVMs (Java 17.0.99+1, G1, shm)" in table
    assert "catalog: the same graph through each serializer" in table
    failed = run("demo", "--runs", "1", "--format", "json", code=1, env={"FAKE_JAVA": "corrupt"})
    assert [entry["verified"] for entry in json.loads(failed.stdout)["transfers"]] == [False, False]
    assert "differs from" in failed.stderr


def test_compare_with_its_own_jvms(run: Run) -> None:
    document = json.loads(run("compare", "--workload", "media", "--runs", "1", "--format", "json").stdout)
    assert document["root"] == "media"
    assert daemon.connect() is None


def test_doctor(run: Run, built_files: Path) -> None:
    checks = json.loads(run("doctor", "--quick", "--format", "json").stdout)
    assert {"agent", "bench", "native engine", "orchestrator"} <= {check["name"] for check in checks}
    (built_files / "libskyway.so").unlink()
    assert "libskyway.so is not in" in run("doctor", "--quick", code=1).stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_script(run: Run, shell: str) -> None:
    assert "_SKYWAY_COMPLETE" in run("completion", shell).stdout


def test_completion_of_jvms_and_roots(shared_session: Run) -> None:
    def complete(*words: str) -> str:
        env = {
            "_SKYWAY_COMPLETE": "bash_complete",
            "COMP_WORDS": " ".join(("skyway", *words)),
            "COMP_CWORD": str(len(words)),
        }
        return shared_session(env=env).stdout

    assert complete("stop", "l") == "plain,left\n"
    assert complete("transfer", "l") == "plain,left:\n"
    assert complete("transfer", "left:c") == "plain,left:catalog\n"
    assert complete("transfer", "left:catalog", "r") == "plain,right\n"
