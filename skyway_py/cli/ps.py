"""`skyway ps`."""

from __future__ import annotations

from skyway_py import _daemon as daemon
from skyway_py import _units as units
from skyway_py.cli._command import command
from skyway_py.cli._options import format_option
from skyway_py.cli._output import note, print_json, print_table


@command(
    "List the JVMs.",
    "skyway ps",
    "skyway ps --format json",
)
@format_option
def ps(form: str) -> None:
    """List the JVMs under the orchestrator, also those that have ended by themselves."""
    jvms = daemon.require().status().jvms
    if form == "json":
        print_json([jvm.to_dict() for jvm in jvms])
        return
    if not jvms:
        note("no JVMs yet: `skyway launch NAME` starts one")
        return
    print_table(
        ("NAME", "PID", "KIND", "STATE", "JAVA", "COLLECTOR", "HEAP", "MAIN CLASS", "ENGINE"),
        [
            (
                jvm.name,
                str(jvm.pid),
                jvm.kind,
                jvm.state,
                jvm.java_version,
                jvm.collector,
                units.heap_text(jvm.max_heap_bytes),
                jvm.main_class,
                jvm.engine,
            )
            for jvm in jvms
        ],
        right=("PID", "HEAP"),
    )
