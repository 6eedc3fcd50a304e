"""What can go wrong, as exceptions.

    SkywayError
    ├── InvalidRequest              the call itself makes no sense (also a ValueError)
    │   └── UnknownJvm              no JVM of that name
    ├── InstallationError           a built file of the package is missing
    ├── JdkNotFound                 no JDK fits the request
    ├── LaunchError                 a JVM did not start, or its agent did not
    ├── AttachError                 a running JVM could not be attached
    ├── EmbedError                  no JVM could be started inside this process
    ├── JvmLost                     a JVM ended, or no longer answers
    ├── EngineRefused               the raw engine does not run in a JVM, with the reason
    ├── LinkError                   two JVMs could not be linked, or their link broke
    │   ├── LinkClosed              it was closed before the transfer began
    │   └── LayoutMismatch          objects lie differently in the two JVMs
    ├── TransferError               a graph did not arrive; the receiver shows no part of it
    │   ├── GraphRefused            objects that cannot be moved: `refusals`
    │   ├── RootMissing             no graph under that name
    │   ├── ClassMissing            the receiver lacks a class
    │   ├── HeapFull                the receiver's heap cannot hold the graph
    │   ├── BadImage                the bytes that arrived are not a sound heap image
    │   ├── PeerFailed              the JVM at the other end failed
    │   ├── SerializerFailed        a baseline serializer cannot move this graph
    │   ├── VerificationFailed      the graph that arrived differs from the one that was sent
    │   ├── TransferTimeout         it took longer than allowed (also a TimeoutError)
    │   └── TransferCancelled       it was ended on purpose
    ├── DaemonError                 the background orchestrator of `skyway up` cannot be used
    └── InternalError               a defect in Skyway

Every message says what happened, where, and what to do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Refusal:
    """One object that cannot be moved: where it hangs, what it is, and why."""

    path: str
    class_name: str
    reason: str

    def __str__(self) -> str:
        return f"{self.path} → {self.class_name}: {self.reason}"


class SkywayError(Exception):
    """Base of all errors raised by this package."""

    def __init__(self, message: str, *, side: str = "", stack_trace: str = "") -> None:
        super().__init__(message)
        self.message = message
        #: "sender" or "receiver" when the error belongs to one end of a link, else empty.
        self.side = side
        #: Java's stack trace when there is one.
        self.stack_trace = stack_trace


class InvalidRequest(SkywayError, ValueError):
    """The call itself makes no sense: an unknown option value, a bad name."""


class UnknownJvm(InvalidRequest):
    """No JVM of that name."""


class InstallationError(SkywayError):
    """A built file of the package (an agent jar, the native library) is missing."""


class JdkNotFound(SkywayError):
    """No JDK fits the request; the message lists those that were found."""


class LaunchError(SkywayError):
    """A JVM did not start, or its agent did not; the message quotes the JVM's last output."""


class AttachError(SkywayError):
    """A running JVM could not be attached."""


class EmbedError(SkywayError):
    """No JVM could be started inside this process."""


class JvmLost(SkywayError):
    """A JVM ended, or no longer answers."""


class EngineRefused(SkywayError):
    """The raw engine does not run in a JVM; the message has the reason."""


class LinkError(SkywayError):
    """Two JVMs could not be linked, or their link broke."""


class LinkClosed(LinkError):
    """The link was closed before the transfer began; another one to the same JVM may do."""


class LayoutMismatch(LinkError):
    """Objects lie differently in the two JVMs; the message names what differs."""


class TransferError(SkywayError):
    """A graph did not arrive. The receiver shows no part of it."""


class GraphRefused(TransferError):
    """The graph holds objects that cannot be moved."""

    def __init__(
        self, message: str, refusals: Sequence[Refusal] = (), *, side: str = "", stack_trace: str = ""
    ) -> None:
        super().__init__(message, side=side, stack_trace=stack_trace)
        self.refusals = tuple(refusals)


class RootMissing(TransferError):
    """No graph under that name."""


class ClassMissing(TransferError):
    """The receiver cannot load a class of the graph."""


class HeapFull(TransferError):
    """The receiver's heap cannot hold the graph; the message has both sizes."""


class BadImage(TransferError):
    """The bytes that arrived are not a sound heap image."""


class PeerFailed(TransferError):
    """The JVM at the other end failed."""


class SerializerFailed(TransferError):
    """A baseline serializer cannot move this graph."""


class VerificationFailed(TransferError):
    """The graph that arrived differs from the one that was sent."""


class TransferTimeout(TransferError, TimeoutError):
    """The transfer took longer than allowed."""


class TransferCancelled(TransferError):
    """The transfer was ended on purpose."""


class DaemonError(SkywayError):
    """The background orchestrator of ``skyway up`` cannot be reached, started or stopped."""


class InternalError(SkywayError):
    """A defect in Skyway; please report it with the stack trace."""
