"""`skyway up`."""

from __future__ import annotations

from pathlib import Path

import click

from skyway_py import _daemon as daemon
from skyway_py._errors import InvalidRequest
from skyway_py._paths import state_directory
from skyway_py._tls import Tls, checked_link_host
from skyway_py.cli._command import command
from skyway_py.cli._output import note, step


@command(
    "Start the orchestrator in the background.",
    "skyway up && skyway status",
    "skyway up --tls",
    "skyway up --tls-dir certificates --link-host 10.0.0.5",
)
@click.option(
    "--tls",
    is_flag=True,
    help="Encrypt all links with mutual TLS; makes the certificates when they are missing.",
)
@click.option(
    "--tls-dir",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="As --tls, with your own ca.pem, identity.p12 and password.",
)
@click.option(
    "--link-host",
    metavar="ADDRESS",
    help="Where JVMs listen for links; another address than a loopback one needs TLS.  [default: 127.0.0.1]",
)
def up(tls: bool, tls_dir: Path | None, link_host: str | None) -> None:
    """Start the orchestrator in the background, for all other commands of this user.

    Does nothing when one is running. What one that crashed has left behind is cleaned up. `skyway down` ends it, and
    every JVM that it launched. Control connections never leave the loopback address.
    """
    if tls and tls_dir:
        raise InvalidRequest("give --tls or --tls-dir, not both: --tls makes certificates of its own")
    own = Tls.load(tls_dir) if tls_dir else None
    encrypted = tls or own is not None

    def certificates() -> Tls | None:
        if not tls:
            return own
        directory = state_directory() / "tls"
        if not directory.exists():
            step("making certificates ...")
        return Tls.generate(directory, [host] if host else [])

    # Before anything is made.
    host = None if link_host is None else checked_link_host(link_host, encrypted)
    remote, started = daemon.start(certificates, host)
    if not started and ((encrypted and not remote.tls) or (own and Path(remote.tls) != own.directory)):
        raise InvalidRequest("the orchestrator that runs does not have this TLS: end it with `skyway down` first")
    if not started and host is not None and remote.link_host != host:
        raise InvalidRequest(
            f"the orchestrator that runs has links at {remote.link_host}: end it with `skyway down` first"
        )
    what = "started" if started else "is running already"
    how = f"; links are encrypted, with the certificates in {remote.tls}" if remote.tls else ""
    note(f"the orchestrator {what} (pid {remote.pid}){how}")
