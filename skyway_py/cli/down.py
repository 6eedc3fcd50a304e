"""`skyway down`."""

from __future__ import annotations

from skyway_py import _daemon as daemon
from skyway_py.cli._command import command
from skyway_py.cli._output import note


@command(
    "End all launched JVMs and the orchestrator.",
    "skyway down",
)
def down() -> None:
    """End all launched JVMs and then the orchestrator. Attached JVMs run on."""
    remote = daemon.connect()
    if remote is None:
        note("no orchestrator is running")
        return
    remote.down()
    note("the orchestrator and the JVMs that it launched have ended")
