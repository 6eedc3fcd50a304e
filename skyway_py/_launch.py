"""Starting JVMs, and ending them without fail."""

from __future__ import annotations

import os
import signal
import subprocess
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final

from skyway_py import _paths as paths
from skyway_py._errors import InvalidRequest, LaunchError
from skyway_py._process import ProcessIdentity

_COLLECTORS: Final = {
    "serial": ("-XX:+UseSerialGC",),
    "parallel": ("-XX:+UseParallelGC",),
    "g1": ("-XX:+UseG1GC",),
    "zgc": ("-XX:+UseZGC",),
    "shenandoah": ("-XX:+UseShenandoahGC",),
    "epsilon": ("-XX:+UnlockExperimentalVMOptions", "-XX:+UseEpsilonGC"),
}
#: Names of the collectors that a JVM can be launched with; the raw engine runs with the first three.
COLLECTORS: Final = tuple(_COLLECTORS)
#: How the line begins that an agent prints when it can tell nobody else.
AGENT_FAILED: Final = "skyway: the agent did not start"
#: Main class of a JVM that is launched without an application.
IDLE_MAIN: Final = "io.skyway.bench.Main"


@dataclass(frozen=True)
class LaunchPlan:
    """What is to be started. `app` is what Java gets after all flags; empty: the idle application."""

    java: Path
    feature: int
    collector: str | None = None
    heap: str | None = None
    java_args: Sequence[str] = ()
    app: Sequence[str] = ()
    directory: Path | None = None
    environment: Mapping[str, str] | None = None

    def command(self, agent_option: str) -> list[str]:
        """The command line.

        :raises InvalidRequest: no such collector.
        """
        app = list(self.app) or ["-cp", str(paths.bench_jar()), IDLE_MAIN]
        return [str(self.java), *self.options(agent_option), *app]

    def options(self, agent_option: str) -> list[str]:
        """What stands between the launcher and the application.

        :raises InvalidRequest: no such collector.
        """
        flags = vm_flags(self.feature)
        if self.collector:
            chosen = _COLLECTORS.get(self.collector.lower())
            if chosen is None:
                raise InvalidRequest(f"'{self.collector}' is not a collector: use one of {', '.join(COLLECTORS)}")
            flags += chosen
        if self.heap:
            flags.append(f"-Xmx{self.heap}")
        return [*flags, agent_option, *self.java_args]


def vm_flags(feature: int) -> list[str]:
    """What a JVM of this feature release needs for the agent."""
    if feature <= 21:
        # Windows hold collections up there; allocating threads must wait for them longer before they give up.
        return ["-XX:+UnlockDiagnosticVMOptions", "-XX:GCLockerRetryAllocationCount=100"]
    return ["--enable-native-access=ALL-UNNAMED"]


class Lifeline:
    """A pipe whose read end a launched JVM inherits. When this process ends, however it ends, the write end is
    closed, and the agent sees it and ends the JVM.
    """

    _open: ClassVar[weakref.WeakSet[Lifeline]] = weakref.WeakSet()

    def __init__(self) -> None:
        self.read_fd, self._write_fd = os.pipe()
        Lifeline._open.add(self)

    def close_read_end(self) -> None:
        """To be called once the JVM has inherited it."""
        if self.read_fd >= 0:
            os.close(self.read_fd)
            self.read_fd = -1

    def close(self) -> None:
        self.close_read_end()
        if self._write_fd >= 0:
            os.close(self._write_fd)
            self._write_fd = -1

    @staticmethod
    def close_in_child() -> None:
        # A forked Python would otherwise keep the JVMs alive after its parent's death.
        for lifeline in list(Lifeline._open):
            lifeline.close()


os.register_at_fork(after_in_child=Lifeline.close_in_child)


class LaunchedProcess:
    """A JVM that this process started."""

    def __init__(self, command: Sequence[str], plan: LaunchPlan, log: Path, lifeline: Lifeline) -> None:
        """:raises LaunchError: the command does not run."""
        self.log = log
        self._log_size = 0
        self._lifeline = lifeline
        try:
            out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except OSError as error:
            lifeline.close()
            raise LaunchError(f"the JVM's log {log} cannot be written: {error.strerror}") from error
        try:
            self._popen = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                cwd=plan.directory,
                env=None if plan.environment is None else dict(plan.environment),
                pass_fds=(lifeline.read_fd,),
                # Ctrl-C in the terminal is for the orchestrator, which then ends its JVMs in order.
                start_new_session=True,
            )
        except OSError as error:
            lifeline.close()
            raise LaunchError(f"{command[0]} does not run: {error.strerror}: {error.filename}") from error
        finally:
            os.close(out)
        lifeline.close_read_end()
        self.identity = ProcessIdentity.of(self._popen.pid) or ProcessIdentity(self._popen.pid, -1)

    def poll(self) -> int | None:
        """The exit code (negative: the signal), None while it runs."""
        return self._popen.poll()

    def agent_failed(self) -> bool:
        """Whether the output says that the agent could not even reach its orchestrator; the application may run on."""
        size = self.log.stat().st_size
        if size == self._log_size:
            return False
        self._log_size = size
        return any(line.startswith(AGENT_FAILED) for line in paths.last_lines(self.log))

    def wait(self, timeout: float) -> int | None:
        """The exit code; None when it still runs after this time (seconds)."""
        try:
            return self._popen.wait(timeout)
        except subprocess.TimeoutExpired:
            return None

    def end(self, grace: float) -> None:
        """Ends it: waits `grace` seconds for it to end by itself, then SIGTERM, then SIGKILL."""
        try:
            if self.wait(grace) is None:
                self._signal(signal.SIGTERM)
                if self.wait(2.0) is None:
                    self.kill()
        except BaseException:
            self.kill()
            raise
        finally:
            self._lifeline.close()

    def kill(self) -> None:
        """Ends it at once and waits for that."""
        self._signal(signal.SIGKILL)
        self._popen.wait()
        self._lifeline.close()

    def _signal(self, number: signal.Signals) -> None:
        # Not yet waited for, so the pid is still this process's own; the start time says so once more.
        if self._popen.poll() is None:
            self.identity.signal(number)
