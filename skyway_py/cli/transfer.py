"""`skyway transfer`."""

from __future__ import annotations

import click

from skyway_py import _daemon as daemon
from skyway_py.cli import _options as options
from skyway_py.cli._command import command
from skyway_py.cli._output import ProgressLine, print_facts, print_json


@command(
    "Move a graph from one JVM into another.",
    "skyway transfer left:catalog right --verify",
    "skyway transfer left:catalog right:copy --transport tcp --format json",
    "skyway transfer left:orders right --cut com.acme.Order.session --consistent",
    "skyway transfer 'shop:com.acme.Catalog#INSTANCE.byName' 'right:com.acme.Cache#map'",
)
@options.source_argument("source")
@options.jvm_argument("target")
@click.option(
    "--verify",
    is_flag=True,
    envvar="SKYWAY_VERIFY",
    show_envvar=True,
    help="Compare digests that plain Java computes on both sides.",
)
@click.option(
    "--serializer",
    default="skyway",
    metavar="NAME",
    show_default=True,
    help=f"What to send it with: {', '.join(options.SERIALIZERS)}.",
)
@options.transport_option
@options.timeout_option(600.0, "How long the transfer may take.")
@options.max_pause_option
@click.option(
    "--consistent",
    is_flag=True,
    envvar="SKYWAY_CONSISTENT",
    show_envvar=True,
    help="Copy the whole graph at one safepoint, as it is at one moment.",
)
@click.option(
    "--cut",
    "cuts",
    multiple=True,
    metavar="CLASS[.FIELD]",
    help="Leave a field or a class behind: it arrives as null, now and in later transfers of this sender. Repeatable.",
)
@options.format_option
def transfer(
    source: str,
    target: str,
    verify: bool,
    serializer: str,
    transport: str,
    timeout: float,
    max_pause: float,
    consistent: bool,
    cuts: tuple[str, ...],
    form: str,
) -> None:
    """Move the graph SOURCE (JVM:ROOT) into the JVM TARGET, and print a report.

    ROOT is a published or received name, or a static field path. TARGET may be JVM:DESTINATION, where the destination
    is a name for Skyway.take and Skyway.onReceive, or a static field path; else the graph keeps its name.
    """
    with ProgressLine() as line:
        result = daemon.require().transfer(
            source,
            target,
            verify=verify,
            serializer=serializer,
            transport=transport,
            timeout=timeout,
            max_pause_micros=round(max_pause * 1e3),
            consistent=consistent,
            cuts=cuts,
            on_progress=line.transfer,
        )
    if form == "json":
        print_json(result.to_dict())
    else:
        print_facts(result.summary())
