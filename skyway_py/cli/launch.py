"""`skyway launch`."""

from __future__ import annotations

import os
from pathlib import Path

import click

from skyway_py import _daemon as daemon
from skyway_py._jvm_info import JvmInfo
from skyway_py.cli import _options as options
from skyway_py.cli._command import command
from skyway_py.cli._output import note, print_facts, print_json, step


@command(
    "Start a JVM with the agent.",
    "skyway launch left --workload catalog",
    "skyway launch records --workload media --size 100000 --jdk 17 --collector parallel --heap 2g",
    "skyway launch app -- -cp app.jar com.acme.Main arguments",
)
@click.argument("name")
@click.argument("app", nargs=-1, type=click.UNPROCESSED, metavar="[-- JAVA_ARGUMENTS...]")
@click.option(
    "--workload",
    type=click.Choice(options.WORKLOADS),
    help="Build this graph and publish it; only without an application.",
)
@click.option(
    "--size",
    type=click.IntRange(min=0),
    default=0,
    envvar="SKYWAY_SIZE",
    show_envvar=True,
    help="Size of the workload, such as its number of records.  [default: the workload's]",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of a random workload.")
@click.option("--root", default="", metavar="ROOT", help="Name of the workload's graph.  [default: the workload's]")
@options.jdk_option
@click.option(
    "--java",
    type=click.Path(exists=True, dir_okay=False),
    envvar="SKYWAY_JAVA",
    show_envvar=True,
    help="Run this executable instead of a JDK's launcher.",
)
@options.collector_option
@options.heap_option(None)
@options.timeout_option(60.0, "How long the agent's start may take.")
@options.format_option
def launch(
    name: str,
    app: tuple[str, ...],
    workload: str | None,
    size: int,
    seed: int,
    root: str,
    jdk: str | None,
    java: str | None,
    collector: str | None,
    heap: str | None,
    timeout: float,
    form: str,
) -> None:
    """Start a JVM called NAME with the agent, under the orchestrator, which is started too when none runs.

    Everything after -- goes to Java as it is: flags, class path, main class and arguments. Without it an idle
    application runs, which waits until `skyway stop`. The JVM has this command's environment and working directory.
    """
    home = None if java else options.resolved_jdk(jdk)
    remote, started = daemon.start()
    if started:
        note(f"no orchestrator was running, so one was started (pid {remote.pid}); `skyway down` ends it")
    if workload:
        step(f"launching, then building the workload '{workload}' ...")
    info = remote.launch(
        name,
        java=str(Path(java).absolute()) if java else None,
        jdk=home,
        collector=collector,
        heap=heap,
        workload=workload,
        size=size,
        seed=seed,
        root=root,
        app=app,
        directory=str(Path.cwd()),
        environment=dict(os.environ),
        timeout=timeout,
    )
    show_joined(info, form)


def show_joined(info: JvmInfo, form: str) -> None:
    """Prints a JVM that has just come under the orchestrator."""
    if not info.raw_engine:
        note(f"the engine does not run in '{info.name}': {info.engine_refusal}")
    if form == "json":
        print_json(info.to_dict())
        return
    facts = {
        "name": info.name,
        "pid": str(info.pid),
        "Java": f"{info.java_version}, {info.collector}",
        "engine": info.engine,
        "agent start": f"{sum(info.startup_ms.values()):.0f} ms",
    }
    if info.log:
        facts["log"] = info.log
    print_facts(facts)
