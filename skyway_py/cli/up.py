"""`skyway up`."""

from __future__ import annotations

from skyway_py import _daemon as daemon
from skyway_py.cli._command import command
from skyway_py.cli._output import note


@command(
    "Start the orchestrator in the background.",
    "skyway up && skyway status",
)
def up() -> None:
    """Start the orchestrator in the background, for all other commands of this user.

    Does nothing when one is running. What one that crashed has left behind is cleaned up. `skyway down` ends it, and
    every JVM that it launched.
    """
    remote, started = daemon.start()
    what = "started" if started else "is running already"
    note(f"the orchestrator {what} (pid {remote.pid})")
