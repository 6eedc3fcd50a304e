"""Skyway connects the heaps of separate Java processes: an object graph of one JVM becomes live objects of another."""

from skyway_py._comparison import Comparison, SerializerResult, Spread
from skyway_py._embed import EmbeddedJvm
from skyway_py._errors import (
    AttachError,
    BadImage,
    ClassMissing,
    DaemonError,
    EmbedError,
    EngineRefused,
    GraphRefused,
    HeapFull,
    InstallationError,
    InternalError,
    InvalidRequest,
    JdkNotFound,
    JvmLost,
    LaunchError,
    LayoutMismatch,
    LinkClosed,
    LinkError,
    PeerFailed,
    Refusal,
    RootMissing,
    SerializerFailed,
    SkywayError,
    TransferCancelled,
    TransferError,
    TransferTimeout,
    UnknownJvm,
    VerificationFailed,
)
from skyway_py._jdk import Jdk, discover_jdks, find_jdk
from skyway_py._jvm import Digest, Jvm, JvmStatistics, Root
from skyway_py._jvm_info import JvmInfo
from skyway_py._link import Link
from skyway_py._orchestrator import Orchestrator
from skyway_py._tls import Tls
from skyway_py._transfer import RunningTransfer
from skyway_py._transfer_result import GcActivity, Progress, TransferResult
from skyway_py._version import __version__

__all__ = [
    "AttachError",
    "BadImage",
    "ClassMissing",
    "Comparison",
    "DaemonError",
    "Digest",
    "EmbedError",
    "EmbeddedJvm",
    "EngineRefused",
    "GcActivity",
    "GraphRefused",
    "HeapFull",
    "InstallationError",
    "InternalError",
    "InvalidRequest",
    "Jdk",
    "JdkNotFound",
    "Jvm",
    "JvmInfo",
    "JvmLost",
    "JvmStatistics",
    "LaunchError",
    "LayoutMismatch",
    "Link",
    "LinkClosed",
    "LinkError",
    "Orchestrator",
    "PeerFailed",
    "Progress",
    "Refusal",
    "Root",
    "RootMissing",
    "RunningTransfer",
    "SerializerFailed",
    "SerializerResult",
    "SkywayError",
    "Spread",
    "Tls",
    "TransferCancelled",
    "TransferError",
    "TransferResult",
    "TransferTimeout",
    "UnknownJvm",
    "VerificationFailed",
    "__version__",
    "discover_jdks",
    "find_jdk",
]
