"""`skyway demo`."""

from __future__ import annotations

from typing import Any

import click

from skyway_py import _units as units
from skyway_py._comparison import Comparison
from skyway_py._errors import VerificationFailed
from skyway_py._jvm import Jvm
from skyway_py._orchestrator import Orchestrator
from skyway_py._transfer_result import TransferResult
from skyway_py.cli import _options as options
from skyway_py.cli._command import command
from skyway_py.cli._output import ProgressLine, note, print_json, print_table, step
from skyway_py.cli._pair import launched_pair
from skyway_py.cli.compare import print_comparison

_SERIALIZERS = ("java", "kryo")
# Seconds for a comparison, so that slow machines are done in two minutes too, with fewer runs.
_BUDGET = {"catalog": 40.0, "media": 20.0}


@command(
    "Show it all on this machine, in two minutes.",
    "skyway demo",
    "skyway demo --jdk 17 --collector parallel --format json",
)
@click.option(
    "--size",
    type=click.IntRange(min=1),
    default=100_000,
    envvar="SKYWAY_SIZE",
    show_envvar=True,
    show_default=True,
    help="Number of media records.",
)
@options.runs_options(runs=5, warmup=3)
@options.jdk_option
@options.collector_option
@options.heap_option("4g")
@options.transport_option
@options.format_option
@click.pass_context
def demo(
    context: click.Context,
    size: int,
    runs: int,
    warmup: int,
    jdk: str | None,
    collector: str | None,
    heap: str,
    transport: str,
    form: str,
) -> None:
    """Launch two JVMs, move two graphs between them and verify them, and compare with Java serialization and Kryo.

    The graphs: `catalog`, every class, method, field and constant of the running JDK, and `media`, records of the
    Java serializer benchmark. Needs no orchestrator. The transfers shown are those of warm JVMs: the comparison
    goes before. Exits with 1 when a graph did not arrive as it was sent.
    """
    shown: list[tuple[str, TransferResult, bool]] = []
    comparisons: list[tuple[str, Comparison]] = []
    with Orchestrator() as orchestrator:
        step("launching two JVMs ...")
        left, right = launched_pair(orchestrator, jdk=jdk, collector=collector, heap=heap)
        for workload, records in (("catalog", 0), ("media", size)):
            step(f"building '{workload}' ...")
            left.build_workload(workload, size=records)
            with ProgressLine() as line:
                comparison = orchestrator.compare(
                    f"left:{workload}",
                    "right",
                    with_=_SERIALIZERS,
                    runs=runs,
                    warmup=warmup,
                    transport=transport,
                    max_seconds=_BUDGET[workload],
                    on_step=line.comparison(workload),
                )
            comparisons.append((workload, comparison))
            shown.append((workload, *_verified_transfer(orchestrator, workload, transport)))
            if workload == "catalog":
                # Its heap is for the next one.
                for jvm in (left, right):
                    jvm.drop_root(workload)
    if form == "json":
        print_json(_document(shown, comparisons, left))
    else:
        _print_tables(shown, comparisons, left)
    if not all(verified for _, _, verified in shown):
        context.exit(1)


def _verified_transfer(orchestrator: Orchestrator, workload: str, transport: str) -> tuple[TransferResult, bool]:
    running = orchestrator.start_transfer(f"left:{workload}", "right", verify=True, transport=transport)
    try:
        return running.result(), True
    except VerificationFailed as error:
        note(error.message)
        return running.unverified_result(), False


def _document(
    shown: list[tuple[str, TransferResult, bool]], comparisons: list[tuple[str, Comparison]], jvm: Jvm
) -> dict[str, Any]:
    info = jvm.info
    return {
        "transfers": [
            {
                "workload": workload,
                "jdk": info.java_version,
                "collector": info.collector,
                "objects": result.objects,
                "image_bytes": result.image_bytes,
                "send_ms": round(result.send_ms, 3),
                "transport_ms": round(result.transport_ms, 3),
                "land_ms": round(result.land_ms, 3),
                "total_ms": round(result.total_ms, 3),
                "verified": verified,
            }
            for workload, result, verified in shown
        ],
        "comparison": [
            _comparison_entry(workload, comparison, entry.serializer)
            for workload, comparison in comparisons
            for entry in comparison.results
        ],
    }


def _comparison_entry(workload: str, comparison: Comparison, serializer: str) -> dict[str, Any]:
    entry = comparison[serializer]
    total, ratio = entry.total_ms, comparison.ratio(serializer)
    return {
        "workload": workload,
        "serializer": serializer,
        "total_ms": round(total.median, 3) if total else None,
        "bytes": entry.bytes,
        "ratio": round(ratio, 3) if ratio is not None else None,
        "error": entry.error,
    }


def _print_tables(
    shown: list[tuple[str, TransferResult, bool]], comparisons: list[tuple[str, Comparison]], jvm: Jvm
) -> None:
    info = jvm.info
    click.echo(f"Transfers between two JVMs (Java {info.java_version}, {info.collector}, {shown[0][1].transport})\n")
    header = ("workload", "objects", "image", "send", "transport", "land", "total", "throughput", "verified")
    rows = [
        (
            workload,
            units.count_text(result.objects),
            units.bytes_text(result.image_bytes),
            units.millis_text(result.send_ms),
            units.millis_text(result.transport_ms),
            units.millis_text(result.land_ms),
            units.millis_text(result.total_ms),
            units.rate_text(result.throughput),
            "yes" if verified else "NO",
        )
        for workload, result, verified in shown
    ]
    print_table(header, rows, right=header[1:])
    for workload, comparison in comparisons:
        click.echo(f"\n{workload}: the same graph through each serializer, over the same link\n")
        print_comparison(comparison)
