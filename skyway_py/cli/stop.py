"""`skyway stop`."""

from __future__ import annotations

from skyway_py import _daemon as daemon
from skyway_py.cli._command import command
from skyway_py.cli._options import jvm_argument
from skyway_py.cli._output import note


@command(
    "End launched JVMs, detach from others.",
    "skyway stop left right",
)
@jvm_argument("names", nargs=-1, required=True, metavar="NAME...")
def stop(names: tuple[str, ...]) -> None:
    """End the launched JVMs of these names; detach from an attached one, which runs on."""
    remote = daemon.require()
    for name in names:
        remote.stop(name)
        note(f"'{name}' is stopped")
