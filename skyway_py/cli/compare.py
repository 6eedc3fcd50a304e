"""`skyway compare`."""

from __future__ import annotations

import click

from skyway_py import _daemon as daemon
from skyway_py._comparison import Comparison
from skyway_py._daemon import RemoteOrchestrator
from skyway_py._errors import InvalidRequest
from skyway_py._orchestrator import Orchestrator
from skyway_py.cli import _options as options
from skyway_py.cli._command import command
from skyway_py.cli._output import ProgressLine, print_json, print_table, step
from skyway_py.cli._pair import launched_pair


@command(
    "Send a graph through several serializers.",
    "skyway compare left:catalog right --with java,kryo --runs 10",
    "skyway compare --workload media --size 100000 --jdk 25 --format json",
)
@options.source_argument("source", required=False)
@options.jvm_argument("receiver", required=False)
@click.option(
    "--with",
    "serializers",
    default="java,kryo",
    metavar="NAMES",
    envvar="SKYWAY_WITH",
    show_envvar=True,
    show_default=True,
    help="Serializers, with commas between. kryo means both kryo (references on) and kryo-tree (off).",
)
@options.runs_options(runs=10, warmup=3)
@options.transport_option
@options.timeout_option(120.0, "How long a single transfer may take.")
@options.max_pause_option
@click.option(
    "--workload",
    type=click.Choice(options.WORKLOADS),
    help="Launch two JVMs for this comparison, with this workload, instead of naming a graph.",
)
@click.option("--size", type=click.IntRange(min=0), default=0, help="Size of the workload.  [default: the workload's]")
@options.jdk_option
@options.collector_option
@options.heap_option("4g")
@options.format_option
def compare(
    source: str | None,
    receiver: str | None,
    serializers: str,
    runs: int,
    warmup: int,
    transport: str,
    timeout: float,
    max_pause: float,
    workload: str | None,
    size: int,
    jdk: str | None,
    collector: str | None,
    heap: str,
    form: str,
) -> None:
    """Send the graph SOURCE (JVM:ROOT) to the JVM RECEIVER through the engine and through each serializer: over the
    same link, interleaved. Prints medians and spread of the total time, medians of its parts, bytes, and the ratio of
    the median totals: how many times longer than Skyway. What a serializer cannot move is shown with its error.

    With --workload it launches two JVMs of its own, and --jdk, --collector and --heap say which; it then needs
    neither SOURCE and RECEIVER nor an orchestrator.
    """
    names = [name.strip() for name in serializers.split(",")]

    def run(by: Orchestrator | RemoteOrchestrator, source: str, receiver: str) -> Comparison:
        with ProgressLine() as line:
            return by.compare(
                source,
                receiver,
                with_=names,
                runs=runs,
                warmup=warmup,
                transport=transport,
                timeout=timeout,
                max_pause_micros=round(max_pause * 1e3),
                on_step=line.comparison(source),
            )

    if workload:
        if source or receiver:
            raise InvalidRequest("--workload launches its own JVMs: leave out SOURCE and RECEIVER, or --workload")
        with Orchestrator() as orchestrator:
            step(f"launching two JVMs, building '{workload}' ...")
            launched_pair(orchestrator, jdk=jdk, collector=collector, heap=heap)
            orchestrator.jvm("left").build_workload(workload, size=size)
            comparison = run(orchestrator, f"left:{workload}", "right")
    else:
        if not source or not receiver:
            raise InvalidRequest("name a graph and a receiver (JVM:ROOT JVM), or give --workload: see `compare --help`")
        comparison = run(daemon.require(), source, receiver)
    if form == "json":
        print_json(comparison.to_dict())
    else:
        print_comparison(comparison)


def print_comparison(comparison: Comparison) -> None:
    """The table of a comparison."""
    print_table(comparison.HEADER, comparison.rows(), right=comparison.HEADER[1:])
