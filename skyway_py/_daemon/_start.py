"""Finding the background orchestrator, or starting it."""

from __future__ import annotations

import fcntl
import os
import select
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from skyway_py import _paths as paths
from skyway_py._daemon._remote import RemoteOrchestrator
from skyway_py._daemon._state import read_state, remove_state, running_state, state_file
from skyway_py._errors import DaemonError
from skyway_py._jvm import quoted
from skyway_py._tls import LOOPBACK, Tls, checked_link_host

_START_SECONDS: Final = 30.0
_COMMAND: Final = (sys.executable, "-m", "skyway_py._daemon")


def connect() -> RemoteOrchestrator | None:
    """The one that runs; None when none does."""
    state = running_state()
    return RemoteOrchestrator(state) if state else None


def require() -> RemoteOrchestrator:
    """The one that runs.

    :raises DaemonError: none does.
    """
    remote = connect()
    if remote is None:
        raise DaemonError("no orchestrator is running: start one with `skyway up`, or a JVM with `skyway launch NAME`")
    return remote


def start(
    certificates: Callable[[], Tls | None] = lambda: None, link_host: str | None = None
) -> tuple[RemoteOrchestrator, bool]:
    """The one that runs, started if need be; and whether it was. Cleans up after one that crashed.

    :param certificates: what links are encrypted with when it is started, or None.
    :param link_host: where links listen when it is started; None: at the loopback address.
    :raises DaemonError: it does not start.
    :raises InvalidRequest: links cannot listen there.
    """
    with _start_lock():
        remote = connect()
        if remote is not None:
            return remote, False
        tls = certificates()
        host = checked_link_host(link_host or LOOPBACK, tls is not None)
        left_over = read_state()
        if left_over is not None:
            remove_state(left_over)
        state_file().unlink(missing_ok=True)
        _spawn(host, tls)
        return require(), True


def _spawn(link_host: str, tls: Tls | None) -> None:
    log = paths.state_directory() / "orchestrator.log"
    log.unlink(missing_ok=True)
    paths.write_private(log, "")
    ready_read, ready_write = os.pipe()
    try:
        with log.open("ab") as out:
            subprocess.run(
                [*_COMMAND, str(ready_write), link_host, *([str(tls.directory)] if tls else [])],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                cwd="/",
                env=_environment(),
                pass_fds=(ready_write,),
                start_new_session=True,
                timeout=_START_SECONDS,
                check=False,
            )
        os.close(ready_write)
        ready_write = -1
        answered, _, _ = select.select([ready_read], [], [], _START_SECONDS)
        said = os.read(ready_read, 4096) if answered else b""
    finally:
        os.close(ready_read)
        if ready_write >= 0:
            os.close(ready_write)
    if said != b"ready":
        why = f": {said.decode(errors='replace')}" if said else ""
        raise DaemonError(f"the orchestrator did not start{why}; see {log}{quoted(paths.last_lines(log))}")


def _environment() -> dict[str, str]:
    # The child must find this very package, also when it is not installed, and keep its state where we look for it.
    package_parent = str(Path(__file__).resolve().parents[2])
    known = os.environ.get("PYTHONPATH")
    return {
        **os.environ,
        "PYTHONPATH": f"{package_parent}{os.pathsep}{known}" if known else package_parent,
        "SKYWAY_STATE_DIR": str(paths.state_directory().resolve()),
    }


@contextmanager
def _start_lock() -> Iterator[None]:
    fd = os.open(paths.state_directory() / "start.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)
