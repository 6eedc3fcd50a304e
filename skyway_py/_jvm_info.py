"""What is known of a JVM, as plain data."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from skyway_py._proto import agent_pb2 as pb
from skyway_py._proto import orchestrator_pb2 as orchestration

JvmKind = Literal["launched", "attached", "embedded"]


@dataclass(frozen=True)
class JvmInfo:
    """One JVM at one moment.

    `exit_code` is how a launched one ended (negative: by that signal). `raw_engine` False means that it cannot take
    part in transfers, and `engine_refusal` says why. `startup_ms` is what the agent's start took, by named phase.
    """

    name: str
    kind: str
    pid: int
    running: bool
    exit_code: int | None
    java_version: str
    java_feature: int
    vm_name: str
    java_home: str
    collector: str
    max_heap_bytes: int
    main_class: str
    raw_engine: bool
    engine_refusal: str
    layout: dict[str, str]
    agent_version: str
    startup_ms: dict[str, float]
    log: str | None

    @classmethod
    def from_description(
        cls,
        jvm: pb.JvmDescription,
        *,
        name: str,
        kind: str,
        running: bool,
        exit_code: int | None,
        log: str | None,
    ) -> JvmInfo:
        return cls(
            name=name,
            kind=kind,
            pid=jvm.pid,
            running=running,
            exit_code=exit_code,
            java_version=jvm.java_version,
            java_feature=jvm.java_feature,
            vm_name=jvm.vm_name,
            java_home=jvm.java_home,
            collector=jvm.collector,
            max_heap_bytes=jvm.max_heap_bytes,
            main_class=jvm.main_class,
            raw_engine=jvm.raw_engine,
            engine_refusal=jvm.engine_refusal,
            layout={entry.name: entry.value for entry in jvm.layout.entries},
            agent_version=jvm.agent_version,
            startup_ms={phase.name: phase.nanos / 1e6 for phase in jvm.startup},
            log=log,
        )

    @classmethod
    def from_status(cls, status: orchestration.JvmStatus) -> JvmInfo:
        return cls.from_description(
            status.jvm,
            name=status.name,
            kind=status.kind,
            running=status.running,
            exit_code=status.exit_code if status.HasField("exit_code") else None,
            log=status.log or None,
        )

    @property
    def state(self) -> str:
        """Either "running", or how it ended."""
        if self.running:
            return "running"
        if self.exit_code is None:
            return "ended"
        return f"ended by signal {-self.exit_code}" if self.exit_code < 0 else f"ended with {self.exit_code}"

    @property
    def engine(self) -> str:
        """Either "raw", or "refused: " and the reason."""
        return "raw" if self.raw_engine else f"refused: {self.engine_refusal}"

    def to_dict(self) -> dict[str, Any]:
        """All fields, ready for JSON."""
        return asdict(self)
