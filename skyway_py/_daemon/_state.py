"""The state file: where the background orchestrator is, and the token for it."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import stat
from dataclasses import asdict, dataclass, field
from pathlib import Path

from skyway_py import _paths as paths
from skyway_py._process import ProcessIdentity
from skyway_py._tls import LOOPBACK


@dataclass(frozen=True)
class DaemonState:
    """Contents of the state file."""

    pid: int
    start_time_ticks: int
    port: int
    token: str = field(repr=False)
    run_directory: str
    version: str
    #: Directory with the links' certificates; empty: links are not encrypted.
    tls: str = ""
    link_host: str = LOOPBACK

    @property
    def process(self) -> ProcessIdentity:
        """The process that wrote it."""
        return ProcessIdentity(self.pid, self.start_time_ticks)


def state_file() -> Path:
    """Its path."""
    return paths.state_directory() / "state.json"


def write_state(state: DaemonState) -> None:
    """Writes it as a whole or not at all, for this user only (mode 0600)."""
    path = state_file()
    fresh = path.with_name(f"state.{secrets.token_hex(4)}.tmp")
    paths.write_private(fresh, json.dumps(asdict(state)))
    fresh.replace(path)


def read_state() -> DaemonState | None:
    """What it says; None when there is none, or when it is not one that this user wrote."""
    try:
        fd = os.open(state_file(), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        with os.fdopen(fd, encoding="utf-8") as file:
            info = os.fstat(file.fileno())
            if info.st_uid != os.getuid() or stat.S_IMODE(info.st_mode) & 0o077:
                return None
            return DaemonState(**json.load(file))
    except (OSError, ValueError, TypeError):
        return None


def running_state() -> DaemonState | None:
    """What it says when the process that wrote it still runs."""
    state = read_state()
    return state if state and state.process.alive() else None


def remove_state(state: DaemonState) -> None:
    """Removes the file if it still is this one, and the process's run directory."""
    if read_state() == state:
        state_file().unlink(missing_ok=True)
    directory = Path(state.run_directory)
    if directory.name.startswith("skyway-run-") and directory.is_dir() and not directory.is_symlink():
        shutil.rmtree(directory, ignore_errors=True)
