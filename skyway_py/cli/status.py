"""`skyway status`."""

from __future__ import annotations

import click

from skyway_py import _daemon as daemon
from skyway_py.cli._command import command
from skyway_py.cli._options import format_option
from skyway_py.cli._output import note, print_facts, print_json


@command(
    "Show the orchestrator, its JVMs and links.",
    "skyway status",
    "skyway status --format json",
)
@format_option
@click.pass_context
def status(context: click.Context, form: str) -> None:
    """Show the orchestrator that runs in the background, its JVMs and links. Exits with 1 when none runs."""
    remote = daemon.connect()
    if remote is None:
        if form == "json":
            print_json({"running": False})
        note("no orchestrator is running: start one with `skyway up`, or a JVM with `skyway launch NAME`")
        context.exit(1)
    now = remote.status()
    if form == "json":
        print_json(now.to_dict())
        return
    links = [f"{sender} → {receiver} ({transport})" for sender, receiver, transport in now.links]
    print_facts(
        {
            "orchestrator": f"running since {now.started.astimezone():%Y-%m-%d %H:%M:%S}, pid {now.pid}",
            "version": now.version,
            "JVMs": ", ".join(f"{jvm.name} ({jvm.state})" for jvm in now.jvms) or "none",
            "links": ", ".join(links) or "none",
            "encryption": f"mutual TLS, certificates in {now.tls}" if now.tls else "none",
            "classes known": str(now.types_known),
            "logs": now.run_directory,
        }
    )
