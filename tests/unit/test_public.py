"""The public names, so that none comes or goes unnoticed."""

from __future__ import annotations

import inspect

import skyway_py
from skyway_py import _errors as errors


def test_public_names() -> None:
    assert set(skyway_py.__all__) == {
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
    }
    assert all(hasattr(skyway_py, name) for name in skyway_py.__all__)


def test_every_exception_is_public_and_in_the_drawing() -> None:
    classes = [cls for _, cls in inspect.getmembers(errors, inspect.isclass) if issubclass(cls, errors.SkywayError)]
    assert len(classes) > 20
    for cls in classes:
        assert cls.__name__ in skyway_py.__all__
        assert cls.__name__ in (errors.__doc__ or "")
