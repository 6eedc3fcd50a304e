"""What the background orchestrator serves to the command line."""

from __future__ import annotations

import functools
import os
import queue
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import grpc

from skyway_py import _rpc as rpc
from skyway_py._daemon import _messages as messages
from skyway_py._errors import InternalError, SkywayError, TransferCancelled
from skyway_py._orchestrator import Orchestrator
from skyway_py._proto import orchestrator_pb2 as pb
from skyway_py._proto import orchestrator_pb2_grpc as pb_grpc
from skyway_py._server import serve_loopback
from skyway_py._transfer_result import transport_name
from skyway_py._version import __version__

Answer = TypeVar("Answer")


def _unary(method: Callable[[Any, Any], Answer]) -> Callable[[Any, Any, grpc.ServicerContext], Answer]:
    """Turns our exceptions into failed calls."""

    @functools.wraps(method)
    def served(self: Any, request: Any, context: grpc.ServicerContext) -> Answer:
        try:
            return method(self, request)
        except SkywayError as error:
            rpc.abort(context, error)

    return served


class _Orchestration(pb_grpc.OrchestrationServicer):
    def __init__(self, orchestrator: Orchestrator, ended: threading.Event) -> None:
        self._orchestrator = orchestrator
        self._ended = ended
        self._started_unix_millis = round(time.time() * 1e3)

    @_unary
    def Status(self, request: pb.StatusRequest) -> pb.StatusResponse:
        own = self._orchestrator
        return pb.StatusResponse(
            version=__version__,
            pid=os.getpid(),
            started_unix_millis=self._started_unix_millis,
            run_directory=str(own.run_directory),
            types_known=own.types_known,
            jvms=[messages.jvm_status(jvm) for jvm in own.jvms.values()],
            links=[messages.link_status(link) for link in own.links],
        )

    @_unary
    def Launch(self, request: pb.LaunchRequest) -> pb.JvmStatus:
        return messages.jvm_status(self._orchestrator.launch(request.name, **messages.launch_arguments(request)))

    @_unary
    def Attach(self, request: pb.AttachRequest) -> pb.JvmStatus:
        jvm = self._orchestrator.attach(request.pid, request.name or None, timeout=request.timeout_millis / 1e3)
        return messages.jvm_status(jvm)

    @_unary
    def ListJvmRoots(self, request: pb.ListJvmRootsRequest) -> pb.ListJvmRootsResponse:
        own = self._orchestrator
        chosen = [own.jvm(request.jvm)] if request.jvm else [jvm for jvm in own.jvms.values() if jvm.alive]
        return pb.ListJvmRootsResponse(jvms=[messages.jvm_roots(jvm) for jvm in chosen])

    @_unary
    def Stop(self, request: pb.StopRequest) -> pb.StopResponse:
        self._orchestrator.stop(request.name)
        return pb.StopResponse()

    @_unary
    def Down(self, request: pb.DownRequest) -> pb.DownResponse:
        self._orchestrator.close()
        self._ended.set()
        return pb.DownResponse()

    def RunTransfer(
        self, request: pb.RunTransferRequest, context: grpc.ServicerContext
    ) -> Iterator[pb.RunTransferEvent]:
        try:
            running = self._orchestrator.start_transfer(
                request.source,
                request.target,
                verify=request.verify,
                serializer=request.serializer,
                transport=transport_name(request.transport),
                timeout=request.timeout_millis / 1e3 or None,
                max_pause_micros=request.max_pause_micros,
                consistent=request.consistent,
                cuts=request.cuts,
            )
            # Called when the call is over, however it is; a transfer that is done is not disturbed.
            done = threading.Event()
            context.add_callback(lambda: None if done.is_set() else running.cancel())
            for progress in running:
                yield pb.RunTransferEvent(progress=messages.progress(progress))
            result = running.result()
            done.set()
            yield pb.RunTransferEvent(outcome=messages.outcome(result))
        except SkywayError as error:
            rpc.abort(context, error)

    def RunComparison(
        self, request: pb.RunComparisonRequest, context: grpc.ServicerContext
    ) -> Iterator[pb.RunComparisonEvent]:
        events: queue.SimpleQueue[pb.RunComparisonEvent | SkywayError] = queue.SimpleQueue()

        def on_step(done: int, total: int, serializer: str) -> None:
            if not context.is_active():
                raise TransferCancelled("the comparison was cancelled")
            events.put(pb.RunComparisonEvent(step=pb.ComparisonStep(done=done, total=total, serializer=serializer)))

        def run() -> None:
            try:
                comparison = self._orchestrator.compare(
                    request.source,
                    request.receiver,
                    with_=request.serializers,
                    runs=request.runs,
                    warmup=request.warmup,
                    transport=transport_name(request.transport),
                    timeout=request.timeout_millis / 1e3 or None,
                    max_pause_micros=request.max_pause_micros,
                    on_step=on_step,
                )
                events.put(pb.RunComparisonEvent(outcome=messages.comparison_outcome(comparison)))
            except SkywayError as error:
                events.put(error)
            except Exception as error:
                events.put(InternalError(f"the comparison failed: {error!r}"))

        threading.Thread(target=run, name="skyway-comparison", daemon=True).start()
        while True:
            event = events.get()
            if isinstance(event, SkywayError):
                rpc.abort(context, event)
            yield event
            if event.HasField("outcome"):
                return


class OrchestrationServer:
    """The server for the command line, with a token of its own: no JVM knows it. A context manager."""

    def __init__(self, orchestrator: Orchestrator, ended: threading.Event) -> None:
        self.token = secrets.token_hex(32)
        self._server = grpc.server(
            ThreadPoolExecutor(max_workers=32, thread_name_prefix="skyway-cli"),
            interceptors=[rpc.TokenInterceptor(self.token)],
            options=rpc.SERVER_OPTIONS,
        )
        pb_grpc.add_OrchestrationServicer_to_server(_Orchestration(orchestrator, ended), self._server)
        self.port = serve_loopback(self._server, [f"{pb.DESCRIPTOR.package}.Orchestration"])

    def __enter__(self) -> OrchestrationServer:
        return self

    def __exit__(self, *_: object) -> None:
        # Lets the answer to Down reach its caller.
        self._server.stop(grace=1.0).wait(5)
