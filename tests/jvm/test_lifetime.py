"""However the orchestrator ends, no JVM that it launched is left; and none that it only attached is harmed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from skyway_py import JvmLost, Orchestrator, SkywayError
from tests.jvm.jvms import FEATURES, Compiled, jdk_of, wait_for_text, wait_until_gone

HOLDS = """
import signal, sys, time
# A shell that runs the tests in the background has it ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
from skyway_py import Orchestrator
with Orchestrator() as skyway:
    print(skyway.launch("a", heap="64m").pid, skyway.launch("b", heap="64m").pid, flush=True)
    {then}
"""


@contextmanager
def _script(then: str) -> Iterator[tuple[subprocess.Popen[str], list[int]]]:
    command = [sys.executable, "-c", HOLDS.format(then=then)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            yield process, [int(pid) for pid in process.stdout.readline().split()]
        finally:
            process.kill()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_no_jvm_outlives_a_signalled_orchestrator(number: signal.Signals) -> None:
    with _script("time.sleep(120)") as (process, pids):
        assert len(pids) == 2
        process.send_signal(number)
        process.wait(120)
        for pid in pids:
            wait_until_gone(pid)


def test_no_jvm_outlives_an_exception() -> None:
    with _script("raise RuntimeError('on purpose')") as (process, pids):
        assert len(pids) == 2
        _, err = process.communicate(timeout=120)
        assert process.returncode == 1
        assert "on purpose" in err
        for pid in pids:
            wait_until_gone(pid)


def test_a_jvm_that_was_killed_is_an_error_and_the_others_go_on(skyway: Orchestrator, compiled: Compiled) -> None:
    jvms = {name: skyway.launch(name, heap="128m", app=compiled.app()) for name in ("a", "b", "c")}
    assert skyway.transfer("a:fixture.Data#INSTANCE", "b:x", timeout=240.0).objects > 0
    os.kill(jvms["b"].pid, signal.SIGKILL)
    wait_until_gone(jvms["b"].pid)
    with pytest.raises(SkywayError, match="'b'"):
        skyway.transfer("a:fixture.Data#INSTANCE", "b:x", timeout=240.0)
    with pytest.raises(JvmLost, match="SIGKILL"):
        skyway.roots("b")
    assert skyway.transfer("a:fixture.Data#INSTANCE", "c:x", verify=True, timeout=240.0).verified
    skyway.stop("b")
    skyway.launch("b", heap="128m", app=compiled.app())
    assert skyway.transfer("a:fixture.Data#INSTANCE", "b:x", verify=True, timeout=240.0).verified


@pytest.fixture(params=FEATURES)
def running(
    request: pytest.FixtureRequest, compiled: Compiled, tmp_path: Path
) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """A JVM that somebody else started, without the agent, and its feature release."""
    jdk = jdk_of(request.param)
    flags = ["-XX:+EnableDynamicAgentLoading"] if jdk.feature >= 21 else []
    with (tmp_path / "log").open("wb") as log:
        command: list[str | Path] = [jdk.java, "-Xmx128m", *flags, "-cp", compiled.directory, "fixture.Plain"]
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        wait_for_text(tmp_path / "log", "up")
        yield process, jdk.feature
    finally:
        process.kill()
        process.wait()


def test_attached_jvm_sends_receives_and_outlives(
    running: tuple[subprocess.Popen[bytes], int], compiled: Compiled, tmp_path: Path
) -> None:
    process, feature = running
    for attempt in range(2):
        with Orchestrator() as skyway:
            app = skyway.attach(process.pid, "app")
            assert (app.pid, app.info.kind) == (process.pid, "attached")
            skyway.launch("right", jdk=feature, heap="128m", app=compiled.app())
            assert skyway.transfer("app:fixture.Data#INSTANCE", "right:x", verify=True, timeout=240.0).verified
            assert skyway.transfer("right:x", "app:fixture.Data#anything", verify=True, timeout=240.0).verified
            with pytest.raises(SkywayError, match="already"):
                skyway.attach(process.pid)
            if attempt:
                skyway.stop("app")
                assert "app" not in skyway.jvms
        assert process.poll() is None
    assert (tmp_path / "log").read_text() == "up\n"
