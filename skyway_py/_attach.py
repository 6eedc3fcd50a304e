"""Attaching the agent to a JVM that already runs, through the JDK's own attach API."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Final

from skyway_py import _paths as paths
from skyway_py._errors import AttachError
from skyway_py._jdk import Jdk, discover_jdks
from skyway_py._process import ProcessIdentity

_ATTACH_MAIN: Final = "io.skyway.agent.boot.Attach"
_SIGQUIT_BIT: Final = 1 << 2


def check_target(pid: int) -> ProcessIdentity:
    """The process to attach to, looked at before anything is done to it.

    The attach API wakes a JVM by SIGQUIT, which would end a process of another kind.

    :raises AttachError: there is none, it is another user's, or it is no JVM that can be attached.
    """
    identity = ProcessIdentity.of(pid)
    if identity is None:
        raise AttachError(f"no process has pid {pid}: `jps` or `ps` lists those that run")
    try:
        owner = Path(f"/proc/{pid}").stat().st_uid
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace")
        maps = Path(f"/proc/{pid}/maps").read_text(encoding="utf-8", errors="replace")
    except PermissionError as error:
        raise AttachError(f"process {pid} belongs to another user: run skyway as that user") from error
    except OSError as error:
        raise AttachError(f"process {pid} has just ended") from error
    if owner != os.geteuid():
        raise AttachError(f"process {pid} belongs to the user with id {owner}: run skyway as that user")
    if not re.search(r"/libjvm\.so(?: \(deleted\))?$", maps, flags=re.MULTILINE):
        raise AttachError(f"process {pid} is not a JVM (it has no libjvm.so): give the pid of a Java process")
    caught = re.search(r"^SigCgt:\s*([0-9a-f]+)", status, flags=re.MULTILINE)
    if caught and not int(caught[1], 16) & _SIGQUIT_BIT:
        raise AttachError(
            f"JVM {pid} takes no attach requests: it is still starting (try again), or it runs with -Xrs or "
            "-XX:+ReduceSignalUsage (start it without)"
        )
    return identity


def attaching_jdk() -> Jdk:
    """A JDK with the attach API, the newest one.

    :raises AttachError: there is none.
    """
    usable = [jdk for jdk in discover_jdks() if jdk.supported and jdk.can_attach]
    if not usable:
        raise AttachError("no JDK with the module jdk.attach was found: install a full JDK, or set JAVA_HOME to one")
    return max(usable, key=lambda jdk: jdk.feature)


def load_agent(pid: int, properties: Path, timeout: float) -> None:
    """Makes the JVM load the agent.

    :param timeout: in seconds.
    :raises AttachError: it did not.
    """
    command = [
        str(attaching_jdk().java),
        "-Xshare:auto",
        "-XX:TieredStopAtLevel=1",
        "-XX:+UseSerialGC",
        "--add-modules",
        "jdk.attach",
        "-cp",
        str(paths.agent_jar()),
        _ATTACH_MAIN,
        str(pid),
        str(properties),
    ]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=timeout, stdin=subprocess.DEVNULL
        )
    except subprocess.TimeoutExpired as error:
        raise AttachError(
            f"JVM {pid} did not load the agent within {timeout:g} s: is it stopped or very busy?"
        ) from error
    except OSError as error:
        raise AttachError(f"{command[0]} does not run: {error.strerror}") from error
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        ours = [line.removeprefix("skyway: ") for line in lines if line.startswith("skyway: ")]
        raise AttachError(
            ours[-1] if ours else f"attaching to JVM {pid} failed: {' '.join(lines[-3:]) or 'no reason given'}"
        )
