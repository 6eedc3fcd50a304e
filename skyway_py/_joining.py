"""How a JVM comes under an orchestrator: launched, attached or embedded."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path

from skyway_py import _attach as attaching
from skyway_py import _embed as embedding
from skyway_py import _rpc as rpc
from skyway_py import _units as units
from skyway_py._errors import AttachError, EmbedError, InvalidRequest, LaunchError
from skyway_py._handshake import Handshake
from skyway_py._jdk import Jdk, feature_of_java, find_jdk
from skyway_py._jvm import Jvm, quoted
from skyway_py._launch import AGENT_FAILED, LaunchedProcess, LaunchPlan, Lifeline
from skyway_py._paths import last_lines
from skyway_py._process import ProcessIdentity
from skyway_py._proto import agent_pb2 as pb
from skyway_py._server import ControlServer


class Joining:
    """Does the handshake with each new agent, and checks that it is in the process that was meant."""

    def __init__(
        self,
        server: ControlServer,
        token: str,
        run_directory: Path,
        links: Mapping[str, str],
        silence: float = rpc.SILENCE,
    ) -> None:
        """:param links: entries of the agents' options that say where links listen, and with which certificates.
        :param silence: seconds without a sign of life after which a process counts as stopped.
        """
        self._server = server
        self._token = token
        self._run_directory = run_directory
        self._links = {**links, "link.silence.millis": str(round(silence * 1e3))}
        self._silence = silence

    def plan(
        self,
        *,
        java: str | Path | None = None,
        jdk: int | str | Path | Jdk | None = None,
        collector: str | None = None,
        heap: str | None = None,
        java_args: Sequence[str] = (),
        app: Sequence[str] = (),
        directory: str | Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> LaunchPlan:
        """Checks the arguments of a launch.

        :raises InvalidRequest: one of them makes no sense.
        :raises JdkNotFound: no JDK fits.
        """
        if java is not None and jdk is not None:
            raise InvalidRequest("give a Java executable or a JDK, not both")
        if isinstance(java_args, str) or isinstance(app, str):
            raise InvalidRequest("java_args and app are lists of arguments, not one string")
        if java is not None:
            executable = Path(java)
            feature = feature_of_java(executable)
        else:
            chosen = find_jdk(jdk)
            executable, feature = chosen.java, chosen.feature
        return LaunchPlan(
            java=executable,
            feature=feature,
            collector=collector,
            heap=None if heap is None else units.checked_heap(heap),
            java_args=tuple(java_args),
            app=tuple(app),
            directory=None if directory is None else Path(directory),
            environment=environment,
        )

    def launch(self, name: str, plan: LaunchPlan, timeout: float) -> Jvm:
        """:raises LaunchError: the JVM or its agent did not start."""
        lifeline = Lifeline()
        try:
            with self._handshake(name, "launch", lifeline.read_fd) as handshake:
                command = plan.command(handshake.agent_option())
                log = self._run_directory / f"{name}.{handshake.file.stem[-6:]}.log"
                process = LaunchedProcess(command, plan, log, lifeline)
                try:
                    hello = handshake.wait(timeout, lambda: process.poll() is not None or process.agent_failed())
                    return self._launched(name, process, hello, timeout)
                except BaseException:
                    process.kill()
                    raise
        finally:
            lifeline.close_read_end()

    def _launched(self, name: str, process: LaunchedProcess, hello: pb.HelloRequest | None, timeout: float) -> Jvm:
        output = quoted(last_lines(process.log))
        if hello is None:
            code = process.poll()
            if code is None:
                what = "did not start" if AGENT_FAILED in output else f"was not ready within {timeout:g} s"
                raise LaunchError(f"the agent of JVM '{name}' {what}{output}")
            how = f"by {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
            raise LaunchError(f"JVM '{name}' ended {how} before its agent was ready{output}")
        if hello.failure:
            raise LaunchError(f"the agent of JVM '{name}' failed: {hello.failure}{output}")
        said = ProcessIdentity(hello.pid, hello.start_time_ticks)
        if said != process.identity:
            raise LaunchError(
                f"the agent of JVM '{name}' runs in process {hello.pid}, but process {process.identity.pid} was "
                "started: the Java executable must become the JVM itself (a wrapper script must use exec)"
            )
        return Jvm(name, "launched", hello, self._token, process, self._silence)

    def attach(self, name: str, pid: int, timeout: float) -> Jvm:
        """:raises AttachError: the JVM did not load the agent, or it did not start."""
        hello = self._load_into(name, pid, "attach", timeout)
        return Jvm(name, "attached", hello, self._token, silence=self._silence)

    def embed(
        self,
        name: str,
        jdk: int | str | Path | Jdk | None,
        plan: LaunchPlan,
        class_path: Sequence[str | Path],
        timeout: float,
    ) -> embedding.EmbeddedJvm:
        """:raises EmbedError: the JVM or its agent did not start."""
        if embedding.is_running():
            hello = self._load_into(name, os.getpid(), "embed", timeout)
            return embedding.EmbeddedJvm(name, "embedded", hello, self._token, silence=self._silence)
        with self._handshake(name, "embed") as handshake:
            embedding.start_embedded(find_jdk(jdk), plan, handshake.agent_option(), class_path)
            arrived = handshake.wait(timeout, lambda: False)
        if arrived is None:
            raise EmbedError(f"the agent of the JVM in this process was not ready within {timeout:g} s")
        if arrived.failure or arrived.pid != os.getpid():
            raise EmbedError(f"the agent of the JVM in this process failed: {arrived.failure or 'it runs elsewhere'}")
        return embedding.EmbeddedJvm(name, "embedded", arrived, self._token, silence=self._silence)

    def _load_into(self, name: str, pid: int, mode: str, timeout: float) -> pb.HelloRequest:
        target = attaching.check_target(pid)
        with self._handshake(name, mode) as handshake:
            attaching.load_agent(pid, handshake.file, timeout)
            hello = handshake.wait(timeout, lambda: not target.alive())
        if hello is None:
            state = "did not say hello in time" if target.alive() else "has ended"
            raise AttachError(f"the agent in JVM {pid} {state}: the JVM's own stderr may say why")
        if hello.failure:
            raise AttachError(f"the agent in JVM {pid} failed: {hello.failure}")
        if ProcessIdentity(hello.pid, hello.start_time_ticks) != target:
            raise AttachError(f"the agent answers from process {hello.pid}, not from {pid}: are both in one container?")
        return hello

    def _handshake(self, name: str, mode: str, lifeline_fd: int | None = None) -> Handshake:
        return Handshake(
            self._server,
            self._token,
            self._run_directory,
            name=name,
            mode=mode,
            lifeline_fd=lifeline_fd,
            more=self._links,
        )
