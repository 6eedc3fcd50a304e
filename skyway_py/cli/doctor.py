"""`skyway doctor`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass

import click

from skyway_py import _daemon as daemon
from skyway_py import _paths as paths
from skyway_py._errors import SkywayError
from skyway_py._jdk import OLDEST_FEATURE, Jdk, discover_jdks
from skyway_py._orchestrator import Orchestrator
from skyway_py.cli._command import command
from skyway_py.cli._options import format_option
from skyway_py.cli._output import print_json, print_table, step


@dataclass(frozen=True)
class Check:
    """One finding: `state` is "ok", "warning" or "failed"."""

    name: str
    state: str
    detail: str


@command(
    "Check this machine and installation.",
    "skyway doctor",
    "skyway doctor --quick --format json",
)
@click.option("--quick", is_flag=True, help="Launch no JVMs.")
@format_option
@click.pass_context
def doctor(context: click.Context, quick: bool, form: str) -> None:
    """Check this installation, and find out which JDKs of this machine the engine runs on, by launching each of them
    once. Exits with 1 when a check failed.
    """
    checks = [*_installation(), _state(), *_jdks(quick)]
    if form == "json":
        print_json([asdict(check) for check in checks])
    else:
        print_table(("CHECK", "STATE", "DETAIL"), [(check.name, check.state, check.detail) for check in checks])
    if any(check.state == "failed" for check in checks):
        context.exit(1)


def _installation() -> Iterator[Check]:
    parts = {"agent": paths.agent_jar, "bench": paths.bench_jar, "native engine": paths.native_library}
    for name, path in parts.items():
        try:
            yield Check(name, "ok", str(path()))
        except SkywayError as error:
            yield Check(name, "failed", error.message)


def _state() -> Check:
    try:
        directory = paths.state_directory()
        remote = daemon.connect()
        running = f"running, pid {remote.pid}" if remote else "not running"
        return Check("orchestrator", "ok", f"{running}; state in {directory}")
    except SkywayError as error:
        return Check("orchestrator", "failed", error.message)


def _jdks(quick: bool) -> Iterator[Check]:
    jdks = discover_jdks()
    if not any(jdk.supported for jdk in jdks):
        yield Check("JDK", "failed", f"no JDK {OLDEST_FEATURE} or newer was found: install one, or set JAVA_HOME")
    for jdk in jdks:
        name = f"JDK {jdk.version}"
        if not jdk.supported:
            yield Check(name, "warning", f"{jdk.home}: older than {OLDEST_FEATURE}, or for another processor")
        elif quick:
            yield Check(name, "ok", str(jdk.home))
        else:
            yield _engine(name, jdk)


def _engine(name: str, jdk: Jdk) -> Check:
    step(f"launching {jdk} ...")
    try:
        with Orchestrator() as orchestrator:
            info = orchestrator.launch("doctor", jdk=jdk, heap="256m").info
    except SkywayError as error:
        return Check(name, "failed", f"{jdk.home}: {error.message}")
    if not info.raw_engine:
        return Check(
            name, "failed", f"{jdk.home}: the engine does not run with {info.collector}: {info.engine_refusal}"
        )
    start = sum(info.startup_ms.values())
    return Check(name, "ok", f"{jdk.home}: the engine runs with {info.collector}; the agent started in {start:.0f} ms")
