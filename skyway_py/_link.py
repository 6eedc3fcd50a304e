"""A link: from one JVM to another, for any number of transfers."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from types import TracebackType

from skyway_py._errors import EngineRefused, InvalidRequest, SkywayError
from skyway_py._html import facts
from skyway_py._jvm import Jvm
from skyway_py._names import default_destination
from skyway_py._proto import agent_pb2 as pb
from skyway_py._transfer import RunningTransfer
from skyway_py._transfer_result import SKYWAY, ProgressHook, TransferResult, transport_name, transport_number


class Link:
    """From `sender` to `receiver`; `transport` is the one in use, "shm" or "tcp". A context manager."""

    def __init__(self, sender: Jvm, receiver: Jvm, transport: str | None = None) -> None:
        """:raises LayoutMismatch: objects lie differently in the two JVMs.
        :raises LinkError: they cannot reach each other.
        :raises EngineRefused: the engine does not run in one of them.
        """
        if sender is receiver:
            raise InvalidRequest(f"JVM '{sender.name}' cannot be linked to itself: name two JVMs")
        for jvm in (sender, receiver):
            if not jvm.description.raw_engine:
                raise EngineRefused(f"the engine does not run in JVM '{jvm.name}': {jvm.description.engine_refusal}")
        self.sender = sender
        self.receiver = receiver
        self.id = secrets.token_hex(8)
        wanted = transport_number(transport)
        self.transport = transport_name(self._open(wanted))
        self.is_open = True

    def _prepare(self) -> pb.PrepareLinkResponse:
        return self.receiver.call(
            self.receiver.stub.PrepareLink,
            pb.PrepareLinkRequest(link_id=self.id, peer_name=self.sender.name),
            f"preparing a link from '{self.sender.name}'",
        )

    def _open(self, transport: pb.Transport.ValueType) -> int:
        prepared = self._prepare()
        request = pb.OpenLinkRequest(
            link_id=self.id,
            peer_name=self.receiver.name,
            host=prepared.host,
            port=prepared.port,
            token=prepared.token,
            peer_layout=prepared.layout,
            peer_pid=prepared.pid,
            transport=transport,
        )
        try:
            opened = self.sender.call(self.sender.stub.OpenLink, request, f"opening a link to '{self.receiver.name}'")
        except BaseException:
            self._close_at(self.receiver)
            raise
        return opened.transport

    def transfer(
        self,
        root: str,
        destination: str | None = None,
        *,
        verify: bool = False,
        serializer: str = SKYWAY,
        timeout: float | None = 600.0,
        max_pause_micros: int = 0,
        consistent: bool = False,
        cuts: Sequence[str] = (),
        on_progress: ProgressHook | None = None,
    ) -> TransferResult:
        """Moves one graph; as `Orchestrator.transfer`."""
        running = self.start_transfer(
            root,
            destination,
            verify=verify,
            serializer=serializer,
            timeout=timeout,
            max_pause_micros=max_pause_micros,
            consistent=consistent,
            cuts=cuts,
        )
        return running.finish(on_progress)

    def start_transfer(
        self,
        root: str,
        destination: str | None = None,
        *,
        verify: bool = False,
        serializer: str = SKYWAY,
        timeout: float | None = 600.0,
        discard: bool = False,
        max_pause_micros: int = 0,
        consistent: bool = False,
        cuts: Sequence[str] = (),
        again: Callable[[], Link] | None = None,
    ) -> RunningTransfer:
        """Begins to move one graph, and leaves the waiting to the caller; as `Orchestrator.start_transfer`.

        :param discard: the receiver drops the graph as soon as it is complete.
        :param again: gives the link to take when this one turns out to be closed before anything was sent.
        """
        if not self.is_open:
            raise InvalidRequest(f"the link {self} is closed: connect again")
        if max_pause_micros < 0:
            raise InvalidRequest(f"{max_pause_micros} µs is no longest pause: give a positive number, or 0")
        return RunningTransfer(
            self.sender,
            self.receiver,
            pb.TransferRequest(
                link_id=self.id,
                transfer_id=secrets.token_hex(8),
                root=root,
                destination=destination or default_destination(root),
                serializer=serializer,
                timeout_millis=0 if timeout is None else max(1, round(timeout * 1e3)),
                discard=discard,
                max_pause_micros=max_pause_micros,
                consistent=consistent,
                cuts=cuts,
            ),
            verify=verify,
            on_broken=self._abandon,
            again=None if again is None else lambda: again().id,
        )

    def close(self) -> None:
        """Closes it on both sides; later calls do nothing."""
        self._end(self.sender, self.receiver)

    def _abandon(self) -> str:
        """Closes what is broken; gives the receiver's reason, of which the sender only sees a closed connection."""
        return self._end(self.receiver, self.sender)

    def _end(self, first: Jvm, then: Jvm) -> str:
        if not self.is_open:
            return ""
        self.is_open = False
        reason = self._close_at(first)
        self._close_at(then)
        return reason

    def _close_at(self, jvm: Jvm) -> str:
        # When it fails the JVM is gone, or will notice the other side's end.
        if jvm.identity.stopped():
            # Would only be waited for; it sees the closed connection when it goes on.
            return ""
        request = pb.CloseLinkRequest(link_id=self.id)
        try:
            return jvm.call(jvm.stub.CloseLink, request, "closing a link", timeout=5.0).closed_because
        except SkywayError:
            return ""

    def __enter__(self) -> Link:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __str__(self) -> str:
        return f"{self.sender.name} → {self.receiver.name}"

    def __repr__(self) -> str:
        return f"<Link {self} {self.transport}{'' if self.is_open else ' closed'}>"

    def _repr_html_(self) -> str:
        return facts("Link", {"from": self.sender.name, "to": self.receiver.name, "transport": self.transport})
