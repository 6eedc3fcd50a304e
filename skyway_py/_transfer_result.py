"""What a transfer reports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Final

from skyway_py import _units as units
from skyway_py._errors import InvalidRequest
from skyway_py._html import facts
from skyway_py._proto import agent_pb2 as pb

#: Name of the engine among the serializers.
SKYWAY: Final = "skyway"

_TRANSPORTS: Final = {"auto": pb.TRANSPORT_UNSPECIFIED, "shm": pb.TRANSPORT_SHARED_MEMORY, "tcp": pb.TRANSPORT_TCP}
#: Names of the transports: "auto" is shared memory on one host and else TCP.
TRANSPORTS: Final = tuple(_TRANSPORTS)


def transport_number(name: str | None) -> pb.Transport.ValueType:
    """The protocol's number of a transport's name; None is "auto".

    :raises InvalidRequest: no transport has this name.
    """
    number = _TRANSPORTS.get(name or "auto")
    if number is None:
        raise InvalidRequest(f"'{name}' is not a transport: use one of {', '.join(TRANSPORTS)}")
    return number


def transport_name(number: int) -> str:
    """The name of a transport of the protocol."""
    return next((name for name, value in _TRANSPORTS.items() if value == number), "auto")


@dataclass(frozen=True)
class Progress:
    """How far a transfer is."""

    objects: int
    bytes: int
    segments_sent: int
    segments_landed: int

    @classmethod
    def from_proto(cls, event: pb.TransferProgress) -> Progress:
        return cls(event.objects, event.bytes, event.segments_sent, event.segments_landed)


ProgressHook = Callable[[Progress], None]


@dataclass(frozen=True)
class GcActivity:
    """Collections of one JVM during a transfer, and the time they took."""

    collections: int
    millis: int

    def __str__(self) -> str:
        return "none" if not self.collections else f"{self.collections} in {self.millis} ms"


@dataclass(frozen=True)
class TransferResult:
    """One finished transfer. Times are milliseconds; send, transport and land overlap, so total is less than their sum.

    `send_ms`, `transport_ms` and `land_ms` are the busy times of the three stages; `total_ms` runs from the request
    until the graph was visible in the receiver. `verified` is None when nobody asked, else True.
    """

    sender: str
    receiver: str
    root: str
    destination: str
    serializer: str
    transport: str
    root_class: str
    objects: int
    classes: int
    image_bytes: int
    segments: int
    send_ms: float
    transport_ms: float
    land_ms: float
    total_ms: float
    longest_window_ms: float
    send_window_ms: float
    land_window_ms: float
    restarts: int
    chunks_retried: int
    late_references: int
    sender_gc: GcActivity
    receiver_gc: GcActivity
    verified: bool | None = None
    digest: str | None = None

    @property
    def throughput(self) -> float:
        """Image bytes per second of total time."""
        return self.image_bytes / self.total_ms * 1e3 if self.total_ms else 0.0

    @property
    def send_window_share(self) -> float:
        """Part of the total time in which the sender's windows held up its safepoints, and with them collections."""
        return self.send_window_ms / self.total_ms if self.total_ms else 0.0

    @property
    def land_window_share(self) -> float:
        """Likewise in the receiver."""
        return self.land_window_ms / self.total_ms if self.total_ms else 0.0

    @classmethod
    def from_report(
        cls,
        report: pb.TransferReport,
        *,
        sender: str,
        receiver: str,
        root: str,
        destination: str,
        digest: str | None = None,
    ) -> TransferResult:
        return cls(
            sender=sender,
            receiver=receiver,
            root=root,
            destination=destination,
            serializer=report.serializer or SKYWAY,
            transport=transport_name(report.transport),
            root_class=report.root_class,
            objects=report.objects,
            classes=report.classes,
            image_bytes=report.image_bytes,
            segments=report.segments,
            send_ms=report.send_nanos / 1e6,
            transport_ms=report.transport_nanos / 1e6,
            land_ms=report.land_nanos / 1e6,
            total_ms=report.total_nanos / 1e6,
            longest_window_ms=report.longest_window_nanos / 1e6,
            send_window_ms=report.send_window_nanos / 1e6,
            land_window_ms=report.land_window_nanos / 1e6,
            restarts=report.restarts,
            chunks_retried=report.chunks_retried,
            late_references=report.late_references,
            sender_gc=GcActivity(report.sender_gc.collections, report.sender_gc.millis),
            receiver_gc=GcActivity(report.receiver_gc.collections, report.receiver_gc.millis),
            verified=None if digest is None else True,
            digest=digest,
        )

    def to_report(self) -> pb.TransferReport:
        """The inverse of from_report(), to be sent on."""
        return pb.TransferReport(
            serializer=self.serializer,
            objects=self.objects,
            classes=self.classes,
            image_bytes=self.image_bytes,
            send_nanos=round(self.send_ms * 1e6),
            transport_nanos=round(self.transport_ms * 1e6),
            land_nanos=round(self.land_ms * 1e6),
            total_nanos=round(self.total_ms * 1e6),
            segments=self.segments,
            restarts=self.restarts,
            longest_window_nanos=round(self.longest_window_ms * 1e6),
            send_window_nanos=round(self.send_window_ms * 1e6),
            land_window_nanos=round(self.land_window_ms * 1e6),
            chunks_retried=self.chunks_retried,
            sender_gc=pb.GcActivity(collections=self.sender_gc.collections, millis=self.sender_gc.millis),
            receiver_gc=pb.GcActivity(collections=self.receiver_gc.collections, millis=self.receiver_gc.millis),
            transport=transport_number(self.transport),
            root_class=self.root_class,
            late_references=self.late_references,
        )

    def to_dict(self) -> dict[str, Any]:
        """All fields, the throughput and the windows' shares, ready for JSON."""
        return {
            **asdict(self),
            "throughput": self.throughput,
            "send_window_share": self.send_window_share,
            "land_window_share": self.land_window_share,
        }

    def summary(self) -> dict[str, str]:
        """The report as people read it."""
        lines = {
            "graph": f"{self.sender}:{self.root} → {self.receiver}:{self.destination}",
            "root class": self.root_class,
            "serializer": self.serializer,
            "objects": f"{units.count_text(self.objects)} of {units.count_text(self.classes)} classes",
            "image": f"{units.bytes_text(self.image_bytes)} in {units.count_text(self.segments)} segments",
            "send": units.millis_text(self.send_ms),
            "transport": f"{units.millis_text(self.transport_ms)} ({self.transport})",
            "land": units.millis_text(self.land_ms),
            "total": units.millis_text(self.total_ms),
            "throughput": units.rate_text(self.throughput),
            "windows": f"sender {units.millis_text(self.send_window_ms)} ({self.send_window_share:.0%}), "
            f"receiver {units.millis_text(self.land_window_ms)} ({self.land_window_share:.0%})",
            "longest window": units.millis_text(self.longest_window_ms),
            "restarted walks": units.count_text(self.restarts),
            "collections": f"sender {self.sender_gc}, receiver {self.receiver_gc}",
        }
        if self.serializer != SKYWAY:
            for name in ("objects", "windows", "longest window", "restarted walks"):
                del lines[name]
            lines["image"] = units.bytes_text(self.image_bytes)
        if self.verified is not None:
            lines["verified"] = f"yes, both graphs have the digest {(self.digest or '')[:16]}…"
        return lines

    def _repr_html_(self) -> str:
        return facts("Transfer", self.summary())
