"""Between the protocol's messages and the package's own classes."""

from __future__ import annotations

from typing import Any

from skyway_py._comparison import Comparison, SerializerResult
from skyway_py._jvm import Jvm
from skyway_py._link import Link
from skyway_py._proto import agent_pb2 as agent
from skyway_py._proto import orchestrator_pb2 as pb
from skyway_py._transfer_result import Progress, TransferResult, transport_number


def jvm_status(jvm: Jvm) -> pb.JvmStatus:
    """A JVM at this moment."""
    return pb.JvmStatus(
        name=jvm.name,
        kind=jvm.kind,
        running=jvm.alive,
        exit_code=jvm.exit_code,
        log=str(jvm.log or ""),
        jvm=jvm.description,
    )


def link_status(link: Link) -> pb.LinkStatus:
    """An open link."""
    return pb.LinkStatus(
        sender=link.sender.name, receiver=link.receiver.name, transport=transport_number(link.transport)
    )


def jvm_roots(jvm: Jvm) -> pb.JvmRoots:
    """A JVM's roots; asks it."""
    roots = [
        agent.Root(
            name=root.name,
            class_name=root.class_name,
            origin=root.origin,
            since_unix_millis=round(root.since.timestamp() * 1e3),
        )
        for root in jvm.roots()
    ]
    return pb.JvmRoots(jvm=jvm.name, roots=roots)


def launch_arguments(request: pb.LaunchRequest) -> dict[str, Any]:
    """The arguments of Orchestrator.launch(), less the name."""
    return {
        "java": request.java or None,
        "jdk": request.jdk or None,
        "collector": request.collector or None,
        "heap": request.heap or None,
        "workload": request.workload or None,
        "size": request.size,
        "seed": request.seed,
        "root": request.root,
        "java_args": list(request.java_args),
        "app": list(request.app),
        "directory": request.directory or None,
        "environment": dict(request.environment) if request.has_environment else None,
        "timeout": request.timeout_millis / 1e3,
    }


def progress(event: Progress) -> agent.TransferProgress:
    """Progress of a transfer."""
    return agent.TransferProgress(
        objects=event.objects,
        bytes=event.bytes,
        segments_sent=event.segments_sent,
        segments_landed=event.segments_landed,
    )


def outcome(result: TransferResult) -> pb.TransferOutcome:
    """A finished transfer."""
    return pb.TransferOutcome(
        sender=result.sender,
        receiver=result.receiver,
        root=result.root,
        destination=result.destination,
        report=result.to_report(),
        digest=agent.DigestResponse(digest=result.digest) if result.digest else None,
    )


def result_of(message: pb.TransferOutcome) -> TransferResult:
    """The inverse of outcome()."""
    return TransferResult.from_report(
        message.report,
        sender=message.sender,
        receiver=message.receiver,
        root=message.root,
        destination=message.destination,
        digest=message.digest.digest if message.HasField("digest") else None,
    )


def comparison_outcome(comparison: Comparison) -> pb.ComparisonOutcome:
    """A finished comparison."""
    return pb.ComparisonOutcome(
        sender=comparison.sender,
        receiver=comparison.receiver,
        root=comparison.root,
        warmup=comparison.warmup,
        entries=[
            pb.ComparisonEntry(
                serializer=result.serializer,
                reports=[run.to_report() for run in result.runs],
                error=result.error or "",
            )
            for result in comparison.results
        ],
    )


def comparison_of(message: pb.ComparisonOutcome) -> Comparison:
    """The inverse of comparison_outcome()."""

    def run(report: agent.TransferReport) -> TransferResult:
        return TransferResult.from_report(
            report, sender=message.sender, receiver=message.receiver, root=message.root, destination=""
        )

    return Comparison(
        message.sender,
        message.receiver,
        message.root,
        message.warmup,
        tuple(
            SerializerResult(entry.serializer, tuple(run(report) for report in entry.reports), entry.error or None)
            for entry in message.entries
        ),
    )
