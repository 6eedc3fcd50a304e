"""The background orchestrator, seen from the command line."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, TypeVar

import grpc

from skyway_py import _rpc as rpc
from skyway_py._comparison import Comparison, ComparisonHook
from skyway_py._daemon import _messages as messages
from skyway_py._daemon._state import DaemonState
from skyway_py._errors import DaemonError, InternalError, JvmLost, SkywayError, TransferTimeout
from skyway_py._jvm import Root
from skyway_py._jvm_info import JvmInfo
from skyway_py._proto import orchestrator_pb2 as pb
from skyway_py._proto.orchestrator_pb2_grpc import OrchestrationStub
from skyway_py._transfer_result import Progress, ProgressHook, TransferResult, transport_name, transport_number

Request = TypeVar("Request")
Response = TypeVar("Response")

_CALL_SECONDS: Final = 60.0


@dataclass(frozen=True)
class Status:
    """The background orchestrator at one moment; `links` are (sender, receiver, transport)."""

    version: str
    pid: int
    started: datetime
    run_directory: str
    tls: str
    link_host: str
    types_known: int
    jvms: tuple[JvmInfo, ...]
    links: tuple[tuple[str, str, str], ...]

    def to_dict(self) -> dict[str, Any]:
        """All of it, ready for JSON."""
        return {
            "running": True,
            "version": self.version,
            "pid": self.pid,
            "started": self.started.isoformat(),
            "run_directory": self.run_directory,
            "tls": self.tls or None,
            "link_host": self.link_host,
            "types_known": self.types_known,
            "jvms": [jvm.to_dict() for jvm in self.jvms],
            "links": [dict(zip(("sender", "receiver", "transport"), link, strict=True)) for link in self.links],
        }


class RemoteOrchestrator:
    """Calls the one that runs. Methods raise what the same ones of Orchestrator raise, and DaemonError."""

    def __init__(self, state: DaemonState, silence: float = rpc.SILENCE) -> None:
        """:param silence: seconds without a sign of life after which it counts as stopped."""
        self._state = state
        self._channel = rpc.loopback_channel(state.port, silence)
        self._metadata = rpc.token_metadata(state.token)
        self._stub = OrchestrationStub(self._channel)

    @property
    def pid(self) -> int:
        """Its process."""
        return self._state.pid

    @property
    def tls(self) -> str:
        """The directory with its links' certificates; empty: they are not encrypted."""
        return self._state.tls

    @property
    def link_host(self) -> str:
        """The address at which its links listen."""
        return self._state.link_host

    def status(self) -> Status:
        """What runs."""
        answer = self._call(self._stub.Status, pb.StatusRequest(), "asking for the status")
        return Status(
            version=answer.version,
            pid=answer.pid,
            started=datetime.fromtimestamp(answer.started_unix_millis / 1e3, UTC),
            run_directory=answer.run_directory,
            tls=self.tls,
            link_host=self.link_host,
            types_known=answer.types_known,
            jvms=tuple(JvmInfo.from_status(jvm) for jvm in answer.jvms),
            links=tuple((link.sender, link.receiver, transport_name(link.transport)) for link in answer.links),
        )

    def launch(
        self,
        name: str,
        *,
        java: str | None = None,
        jdk: str | None = None,
        collector: str | None = None,
        heap: str | None = None,
        workload: str | None = None,
        size: int = 0,
        seed: int = 0,
        root: str = "",
        java_args: Sequence[str] = (),
        app: Sequence[str] = (),
        directory: str | None = None,
        environment: Mapping[str, str] | None = None,
        timeout: float = 60.0,
    ) -> JvmInfo:
        """Starts a JVM; parameters as in Orchestrator.launch()."""
        request = pb.LaunchRequest(
            name=name,
            java=java or "",
            jdk=jdk or "",
            collector=collector or "",
            heap=heap or "",
            workload=workload or "",
            size=size,
            seed=seed,
            root=root,
            java_args=java_args,
            app=app,
            directory=directory or "",
            environment=environment,
            has_environment=environment is not None,
            timeout_millis=round(timeout * 1e3),
        )
        # Building a workload comes on top of the start.
        answer = self._call(self._stub.Launch, request, f"launching '{name}'", timeout + 700.0)
        return JvmInfo.from_status(answer)

    def attach(self, pid: int, name: str | None = None, *, timeout: float = 60.0) -> JvmInfo:
        """Attaches a JVM; parameters as in Orchestrator.attach()."""
        request = pb.AttachRequest(pid=pid, name=name or "", timeout_millis=round(timeout * 1e3))
        return JvmInfo.from_status(self._call(self._stub.Attach, request, f"attaching {pid}", timeout * 2 + 10.0))

    def roots(self, name: str | None = None) -> list[Root]:
        """The roots of one JVM, or of all."""
        answer = self._call(self._stub.ListJvmRoots, pb.ListJvmRootsRequest(jvm=name or ""), "listing roots")
        return [Root.from_proto(entry.jvm, root) for entry in answer.jvms for root in entry.roots]

    def transfer(
        self,
        source: str,
        target: str,
        *,
        verify: bool = False,
        serializer: str = "",
        transport: str | None = None,
        timeout: float | None = None,
        max_pause_micros: int = 0,
        consistent: bool = False,
        cuts: Sequence[str] = (),
        on_progress: ProgressHook | None = None,
    ) -> TransferResult:
        """Moves a graph; parameters as in Orchestrator.transfer()."""
        request = pb.RunTransferRequest(
            source=source,
            target=target,
            serializer=serializer,
            verify=verify,
            transport=transport_number(transport),
            timeout_millis=round((timeout or 0) * 1e3),
            max_pause_micros=max_pause_micros,
            consistent=consistent,
            cuts=cuts,
        )
        call = self._stub.RunTransfer(request, metadata=self._metadata)
        try:
            for event in call:
                if event.HasField("outcome"):
                    return messages.result_of(event.outcome)
                if on_progress is not None:
                    on_progress(Progress.from_proto(event.progress))
        except grpc.RpcError as error:
            raise self._error(error, f"sending {source} to {target}") from error
        finally:
            # Ctrl-C here must end the transfer there; a call that is done does not mind.
            call.cancel()
        raise InternalError("the orchestrator ended the transfer without a report")

    def compare(
        self,
        source: str,
        receiver: str,
        *,
        with_: Iterable[str],
        runs: int,
        warmup: int,
        transport: str | None = None,
        timeout: float | None = None,
        max_pause_micros: int = 0,
        on_step: ComparisonHook | None = None,
    ) -> Comparison:
        """Compares; parameters as in Orchestrator.compare()."""
        request = pb.RunComparisonRequest(
            source=source,
            receiver=receiver,
            serializers=list(with_),
            runs=runs,
            warmup=warmup,
            transport=transport_number(transport),
            timeout_millis=round((timeout or 0) * 1e3),
            max_pause_micros=max_pause_micros,
        )
        call = self._stub.RunComparison(request, metadata=self._metadata)
        try:
            for event in call:
                if event.HasField("outcome"):
                    return messages.comparison_of(event.outcome)
                if on_step is not None:
                    on_step(event.step.done, event.step.total, event.step.serializer)
        except grpc.RpcError as error:
            raise self._error(error, f"comparing {source}") from error
        finally:
            call.cancel()
        raise InternalError("the orchestrator ended the comparison without a result")

    def stop(self, name: str) -> None:
        """Ends a launched JVM; detaches from another one."""
        self._call(self._stub.Stop, pb.StopRequest(name=name), f"stopping '{name}'")

    def down(self) -> None:
        """Ends all launched JVMs and the orchestrator; returns when it is gone.

        :raises DaemonError: it does not end.
        """
        self._call(self._stub.Down, pb.DownRequest(), "shutting down")
        deadline = time.monotonic() + 15.0
        while self._state.process.alive():
            if time.monotonic() > deadline:
                raise DaemonError(f"the orchestrator (pid {self._state.pid}) does not end: end it with `kill`")
            time.sleep(0.02)

    def _call(
        self,
        method: grpc.UnaryUnaryMultiCallable[Request, Response],
        request: Request,
        doing: str,
        timeout: float = _CALL_SECONDS,
    ) -> Response:
        try:
            return method(request, metadata=self._metadata, timeout=timeout)
        except grpc.RpcError as error:
            raise self._error(error, doing) from error

    def _error(self, error: grpc.RpcError, doing: str) -> SkywayError:
        translated = rpc.error_from_call(error, doing)
        process = self._state.process
        if isinstance(translated, JvmLost) and not process.alive():
            return DaemonError(f"the orchestrator (pid {process.pid}) has ended while {doing}: see `skyway status`")
        if isinstance(translated, (JvmLost, TransferTimeout)) and process.stopped():
            return DaemonError(
                f"the orchestrator (pid {process.pid}) does not answer while {doing}: the process is stopped: "
                f"continue it with `kill -CONT {process.pid}`"
            )
        return translated
