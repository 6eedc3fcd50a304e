"""`skyway attach`."""

from __future__ import annotations

import click

from skyway_py import _daemon as daemon
from skyway_py.cli import _options as options
from skyway_py.cli._command import command
from skyway_py.cli._output import note
from skyway_py.cli.launch import show_joined


@command(
    "Load the agent into a running JVM.",
    "skyway attach 12345 --name shop",
    "skyway roots shop",
    "skyway transfer 'shop:com.acme.Catalog#INSTANCE.byName' right",
)
@click.argument("pid", type=click.IntRange(min=1))
@click.option("--name", metavar="NAME", help="How the JVM is called from now on.  [default: jvm-PID]")
@options.timeout_option(60.0, "How long the agent's start may take.")
@options.format_option
def attach(pid: int, name: str | None, timeout: float, form: str) -> None:
    """Load the agent into a JVM that already runs, by its process id. The JVM runs on when the orchestrator ends."""
    remote, started = daemon.start()
    if started:
        note(f"no orchestrator was running, so one was started (pid {remote.pid}); `skyway down` ends it")
    show_joined(remote.attach(pid, name, timeout=timeout), form)
