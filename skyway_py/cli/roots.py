"""`skyway roots`."""

from __future__ import annotations

from skyway_py import _daemon as daemon
from skyway_py.cli._command import command
from skyway_py.cli._options import format_option, jvm_argument
from skyway_py.cli._output import note, print_json, print_table


@command(
    "List the graphs that JVMs offer.",
    "skyway roots",
    "skyway roots left --format json",
)
@jvm_argument("name", required=False)
@format_option
def roots(name: str | None, form: str) -> None:
    """List the graphs that the JVM NAME offers, or those of all JVMs: published ones and received ones."""
    found = daemon.require().roots(name)
    if form == "json":
        print_json([root.to_dict() for root in found])
        return
    if not found:
        note("no graphs: an application publishes them, or name a static field path in `skyway transfer`")
        return
    print_table(
        ("ROOT", "CLASS", "ORIGIN", "SINCE"),
        [
            (
                f"{root.jvm}:{root.name}",
                root.class_name,
                root.origin,
                f"{root.since.astimezone():%Y-%m-%d %H:%M:%S}",
            )
            for root in found
        ],
    )
