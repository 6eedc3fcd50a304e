"""One transfer, from its request to its result."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import grpc

from skyway_py._errors import (
    InternalError,
    JvmLost,
    LinkClosed,
    LinkError,
    PeerFailed,
    SkywayError,
    TransferCancelled,
    TransferTimeout,
    VerificationFailed,
)
from skyway_py._jvm import Digest, Jvm
from skyway_py._proto import agent_pb2 as pb
from skyway_py._rpc import AnswerStream
from skyway_py._transfer_result import Progress, ProgressHook, TransferResult

# The agents watch the time themselves and say what was slow; the call's own deadline only covers an agent that hangs.
_GRACE_SECONDS = 15.0


class RunningTransfer:
    """A transfer that has begun. Iterate it for its progress, then ask for result(); or call finish().

    Iterating and result() belong to one thread; cancel() may be called from any.
    """

    def __init__(
        self,
        sender: Jvm,
        receiver: Jvm,
        request: pb.TransferRequest,
        *,
        verify: bool,
        on_broken: Callable[[], str],
        again: Callable[[], str] | None = None,
    ) -> None:
        receiver.check_alive("receiving a graph")
        self._sender = sender
        self._receiver = receiver
        self._request = request
        self._verify = verify
        self._on_broken = on_broken
        self._again = again
        self._doing = f"sending '{request.root}' to JVM '{receiver.name}'"
        self._cancelled = threading.Event()
        self._report: pb.TransferReport | None = None
        self._digest: Digest | None = None
        self._call = self._start()

    def _start(self) -> AnswerStream[pb.TransferEvent]:
        limit = self._request.timeout_millis
        timeout = limit / 1e3 + _GRACE_SECONDS if limit else None
        return self._sender.stream(self._sender.stub.Transfer, self._request, self._doing, timeout)

    def __iter__(self) -> Iterator[Progress]:
        """Progress, as the sender tells it.

        :raises TransferError: the graph did not arrive.
        """
        while True:
            try:
                for event in self._call:
                    if event.HasField("report"):
                        self._report = event.report
                    else:
                        yield Progress.from_proto(event.progress)
                return
            except grpc.RpcError as error:
                failure = self._failure(error)
                if not isinstance(failure, LinkClosed) or self._again is None:
                    raise failure from error
            except BaseException:
                # Ctrl-C, or the consumer gave up: nobody waits for the graph any more.
                self.cancel()
                raise
            # Nothing was sent: the link had ended by itself, or with another transfer. Once is enough: one that does
            # not last is worth an error.
            self._request.link_id, self._again = self._again(), None
            self._call = self._start()
            if self._cancelled.is_set():
                self._call.cancel()

    def result(self) -> TransferResult:
        """The report; waits for it when the progress was not read to its end. Verifies when that was asked for.

        :raises TransferError: the graph did not arrive.
        :raises VerificationFailed: it did, but differs from the one that was sent.
        """
        for _ in self if self._report is None else ():
            pass
        if self._report is None:
            raise InternalError(f"the agent of JVM '{self._sender.name}' ended the transfer without a report")
        if self._verify and self._digest is None:
            self._digest = self._compare_digests()
        return self.unverified_result()

    def unverified_result(self) -> TransferResult:
        """The report of a transfer whose verification failed.

        :raises InternalError: there is no report, because the graph did not arrive.
        """
        if self._report is None:
            raise InternalError(f"there is no report: {self._doing} has not ended well")
        return TransferResult.from_report(
            self._report,
            sender=self._sender.name,
            receiver=self._receiver.name,
            root=self._request.root,
            destination=self._request.destination,
            digest=self._digest.hex if self._digest else None,
        )

    def finish(self, on_progress: ProgressHook | None = None) -> TransferResult:
        """Waits for the result and tells the progress. An exception of the hook cancels the transfer."""
        for progress in self:
            if on_progress is not None:
                try:
                    on_progress(progress)
                except BaseException:
                    self.cancel()
                    raise
        return self.result()

    def cancel(self) -> None:
        """Ends the transfer on both sides; the receiver drops what it has. Thread-safe."""
        if self._cancelled.is_set():
            return
        self._cancelled.set()
        for jvm in (self._sender, self._receiver):
            try:
                request = pb.CancelRequest(transfer_id=self._request.transfer_id)
                jvm.call(jvm.stub.Cancel, request, "cancelling a transfer", timeout=3.0)
            except SkywayError:
                # It may be gone, or done; the end of the call below is what counts.
                pass
        self._call.cancel()

    def _failure(self, error: grpc.RpcError) -> SkywayError:
        if self._cancelled.is_set():
            return TransferCancelled(f"cancelled while {self._doing}")
        failure = self._sender.error(error, self._doing)
        if isinstance(failure, TransferTimeout) and not failure.side and self._request.timeout_millis:
            return TransferTimeout(
                f"{self._doing} took longer than {self._request.timeout_millis / 1e3:g} s: {failure}: allow more time"
            )
        if isinstance(failure, (JvmLost, LinkError, PeerFailed)):
            reason = self._on_broken()
            if isinstance(failure, JvmLost):
                failure.side = "sender"
            elif self._receiver.identity.stopped():
                text = f"{failure.message} (JVM '{self._receiver.name}', pid {self._receiver.pid}, is stopped)"
                return PeerFailed(text + self._receiver.quote_log(), side="receiver", stack_trace=failure.stack_trace)
            if self._sender.runs_on() and not self._receiver.runs_on():
                return PeerFailed(self._receiver.epitaph(self._doing), side="receiver", stack_trace=failure.stack_trace)
            if reason and isinstance(failure, (LinkClosed, PeerFailed)):
                text = f"{failure.message}; JVM '{self._receiver.name}' says: {reason}"
                return type(failure)(text, side=failure.side, stack_trace=failure.stack_trace)
        return failure

    def _compare_digests(self) -> Digest:
        with ThreadPoolExecutor(2, thread_name_prefix="skyway-digest") as pool:
            sent_later = pool.submit(self._sender.digest, self._request.root)
            arrived_later = pool.submit(self._receiver.digest, self._request.destination)
            try:
                sent, arrived = sent_later.result(), arrived_later.result()
            except SkywayError as error:
                raise VerificationFailed(f"the graph arrived, but could not be verified: {error}") from error
        if sent != arrived:
            raise VerificationFailed(
                f"'{self._request.destination}' in '{self._receiver.name}' differs from '{self._request.root}' in "
                f"'{self._sender.name}': sent {sent}, arrived {arrived}: if no thread changes either graph, "
                "this is a defect in Skyway"
            )
        return sent
