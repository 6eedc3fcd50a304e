"""One JVM under an orchestrator: what it is, and the calls to its agent."""

from __future__ import annotations

import signal
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import grpc

from skyway_py import _rpc as rpc
from skyway_py import _units as units
from skyway_py._errors import JvmLost, SkywayError, TransferTimeout
from skyway_py._html import facts
from skyway_py._jvm_info import JvmInfo, JvmKind
from skyway_py._paths import last_lines
from skyway_py._process import ProcessIdentity
from skyway_py._proto import agent_pb2 as pb
from skyway_py._proto.agent_pb2_grpc import AgentControlStub

if TYPE_CHECKING:
    from skyway_py._launch import LaunchedProcess

Request = TypeVar("Request")
Response = TypeVar("Response")

#: Seconds that an ordinary call to an agent may take.
CALL_TIMEOUT: Final = 30.0
#: Seconds that a walk of a whole graph (a digest, a workload) may take.
WALK_TIMEOUT: Final = 600.0


@dataclass(frozen=True)
class Root:
    """A graph that a JVM offers by name."""

    jvm: str
    name: str
    class_name: str
    origin: str
    since: datetime

    @classmethod
    def from_proto(cls, jvm: str, root: pb.Root) -> Root:
        since = datetime.fromtimestamp(root.since_unix_millis / 1e3, UTC)
        return cls(jvm, root.name, root.class_name, root.origin, since)

    def to_dict(self) -> dict[str, Any]:
        return {
            "jvm": self.jvm,
            "name": self.name,
            "class": self.class_name,
            "origin": self.origin,
            "since": self.since.isoformat(),
        }


@dataclass(frozen=True)
class JvmStatistics:
    """Counters of one JVM since its agent started; times in nanoseconds unless a name says otherwise.

    `native_bytes` is what the engine holds outside of the heap now, without the blocks of links; `native_peak_bytes` is
    the most that it ever was.
    """

    heap_used_bytes: int
    heap_max_bytes: int
    gc_collections: int
    gc_millis: int
    transfers_sent: int
    transfers_received: int
    transfers_failed: int
    bytes_sent: int
    bytes_received: int
    native_bytes: int
    native_peak_bytes: int
    windows: int
    window_nanos: int
    longest_window_nanos: int
    chunks_retried: int
    classes_known: int
    uptime_millis: int

    @classmethod
    def from_proto(cls, message: pb.StatisticsResponse) -> JvmStatistics:
        return cls(**{field.name: getattr(message, field.name) for field in fields(cls)})


@dataclass(frozen=True)
class Digest:
    """A graph's digest by plain Java: two graphs with the same one are isomorphic."""

    hex: str
    objects: int
    references: int
    primitive_bytes: int

    @classmethod
    def from_proto(cls, message: pb.DigestResponse) -> Digest:
        return cls(message.digest, message.objects, message.references, message.primitive_bytes)


class Jvm:
    """A JVM that an orchestrator launched, attached or embedded. Made by `Orchestrator`, not by hand."""

    def __init__(
        self,
        name: str,
        kind: JvmKind,
        hello: pb.HelloRequest,
        token: str,
        process: LaunchedProcess | None = None,
        silence: float = rpc.SILENCE,
    ) -> None:
        self.name = name
        self.kind = kind
        self.identity = ProcessIdentity(hello.pid, hello.start_time_ticks)
        self.description = hello.jvm
        self.process = process
        #: Where its agent listens on the loopback address.
        self.control_port = hello.control_port
        self._channel = rpc.loopback_channel(self.control_port, silence)
        self._metadata = rpc.token_metadata(token)
        self.stub = AgentControlStub(self._channel)

    @property
    def pid(self) -> int:
        return self.identity.pid

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self.process.poll() is None if self.process else self.identity.alive()

    @property
    def exit_code(self) -> int | None:
        """How a launched JVM ended; negative: by that signal. None while it runs, or when it was not launched."""
        return self.process.poll() if self.process else None

    @property
    def log(self) -> Path | None:
        """The file with a launched JVM's stdout and stderr."""
        return self.process.log if self.process else None

    @property
    def info(self) -> JvmInfo:
        """What is known of it now."""
        return JvmInfo.from_description(
            self.description,
            name=self.name,
            kind=self.kind,
            running=self.alive,
            exit_code=self.exit_code,
            log=str(self.log) if self.log else None,
        )

    def roots(self) -> list[Root]:
        """The graphs that it offers by name, published and received ones.

        :raises JvmLost: it has ended or does not answer.
        """
        answer = self.call(self.stub.ListRoots, pb.ListRootsRequest(), "listing the roots")
        return [Root.from_proto(self.name, root) for root in answer.roots]

    def statistics(self) -> JvmStatistics:
        """Its counters.

        :raises JvmLost: it has ended or does not answer.
        """
        return JvmStatistics.from_proto(self.call(self.stub.Statistics, pb.StatisticsRequest(), "reading statistics"))

    def digest(self, root: str) -> Digest:
        """The digest of a graph, computed by plain Java.

        :raises RootMissing: it has no such graph.
        :raises JvmLost: it has ended or does not answer.
        """
        request = pb.DigestRequest(root=root)
        return Digest.from_proto(self.call(self.stub.Digest, request, f"digesting '{root}'", timeout=WALK_TIMEOUT))

    def build_workload(self, workload: str, *, size: int = 0, root: str = "", seed: int = 0) -> str:
        """Builds a workload of the bench module and publishes it; gives the root's name.

        :param size: in the workload's own unit, 0 for its default.
        :raises InvalidRequest: no such workload, or the bench jar is not on the JVM's class path.
        """
        request = pb.BuildWorkloadRequest(workload=workload, size=size, root=root, seed=seed)
        doing = f"building the workload '{workload}'"
        return self.call(self.stub.BuildWorkload, request, doing, timeout=WALK_TIMEOUT).root

    def drop_root(self, name: str) -> bool:
        """Forgets a published or received graph; whether there was one."""
        return self.call(self.stub.DropRoot, pb.DropRootRequest(name=name), f"dropping '{name}'").existed

    def call(
        self,
        method: grpc.UnaryUnaryMultiCallable[Request, Response],
        request: Request,
        doing: str,
        timeout: float = CALL_TIMEOUT,
    ) -> Response:
        """One call to the agent.

        :raises SkywayError: whatever the failure stands for.
        """
        self.check_alive(doing)
        try:
            return method(request, metadata=self._metadata, timeout=timeout)
        except grpc.RpcError as error:
            raise self.error(error, doing) from error

    def stream(
        self,
        method: grpc.UnaryStreamMultiCallable[Request, Response],
        request: Request,
        doing: str,
        timeout: float | None,
    ) -> rpc.AnswerStream[Response]:
        """A call with a stream of answers; its failures must go through error()."""
        self.check_alive(doing)
        return method(request, metadata=self._metadata, timeout=timeout)

    def check_alive(self, doing: str) -> None:
        """:raises JvmLost: the process has ended: its port may already belong to another one."""
        if not self.alive:
            raise JvmLost(f"{self._ended()}, before {doing}{self.quote_log()}")

    def error(self, error: grpc.RpcError, doing: str) -> SkywayError:
        """What a failed call to this JVM stands for."""
        translated = rpc.error_from_call(error, f"{doing} in JVM '{self.name}'")
        if isinstance(translated, (JvmLost, TransferTimeout)) and not translated.side:
            # The call itself failed, not what it was for.
            if self.identity.stopped():
                return JvmLost(
                    f"JVM '{self.name}' (pid {self.pid}) does not answer while {doing}: the process is stopped, by a "
                    f"signal or a debugger: continue it with `kill -CONT {self.pid}`{self.quote_log()}"
                )
            if isinstance(translated, JvmLost) and not self.runs_on():
                return JvmLost(self.epitaph(doing))
        return translated

    def runs_on(self) -> bool:
        """Whether the process runs, asked after a connection broke: which happens a moment before its end is seen."""
        return self.process.wait(1.0) is None if self.process else self.identity.alive()

    def epitaph(self, doing: str) -> str:
        """How it ended, what it was doing, and its last output."""
        return f"{self._ended()} while {doing}{self.quote_log()}"

    def _ended(self) -> str:
        code = self.exit_code
        if code is None:
            return f"JVM '{self.name}' (pid {self.pid}) has ended"
        how = f"by {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
        return f"JVM '{self.name}' (pid {self.pid}) has ended {how}"

    def quote_log(self) -> str:
        """Its last output, to be put behind an error; empty when there is none."""
        return quoted(last_lines(self.log)) if self.log else ""

    def shut_down(self, exit_jvm: bool, timeout: float) -> None:
        """Asks the agent to end the JVM, or only its own services. Failures are of no interest to the caller."""
        try:
            request = pb.ShutdownRequest(exit_jvm=exit_jvm)
            self.call(self.stub.Shutdown, request, "shutting down", timeout=timeout)
        except SkywayError:
            pass

    def disconnect(self) -> None:
        """Closes the connection to the agent."""
        self._channel.close()

    def __repr__(self) -> str:
        return f"<Jvm {self.name} pid={self.pid} {self.kind} {'running' if self.alive else 'ended'}>"

    def _repr_html_(self) -> str:
        info = self.info
        entries = {
            "state": info.state,
            "pid": self.pid,
            "Java": f"{info.java_version}, {info.collector}",
            "heap": units.heap_text(info.max_heap_bytes),
            "engine": info.engine,
        }
        return facts(f"JVM {self.name}", entries)


def quoted(lines: list[str]) -> str:
    """Lines of a JVM's output, to be put behind an error."""
    return "; its last output:\n" + "\n".join(f"    {line}" for line in lines) if lines else ""
