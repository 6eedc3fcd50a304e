"""Options and completions that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

import click
from click.shell_completion import CompletionItem

from skyway_py import _daemon as daemon
from skyway_py._errors import SkywayError
from skyway_py._jdk import discover_jdks, find_jdk
from skyway_py._launch import COLLECTORS
from skyway_py._transfer_result import TRANSPORTS

Function = TypeVar("Function", bound=Callable[..., Any])

#: The workloads of the bench module.
WORKLOADS: Final = ("catalog", "media", "graph", "boxes", "map", "bytes")
#: Serializers that a graph can be sent with; others are what the JVMs' class paths offer.
SERIALIZERS: Final = ("skyway", "java", "kryo", "kryo-tree", "fory", "fory-tree")


def _complete_jvms(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(name) for name in _jvm_names() if name.startswith(incomplete)]


def _complete_sources(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    jvm, colon, _rest = incomplete.partition(":")
    if not colon:
        return [CompletionItem(f"{name}:") for name in _jvm_names() if name.startswith(incomplete)]
    try:
        remote = daemon.connect()
        roots = remote.roots(jvm) if remote else []
    except SkywayError:
        return []
    names = [f"{jvm}:{root.name}" for root in roots]
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def _complete_jdks(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    found = {str(jdk.feature): str(jdk) for jdk in discover_jdks() if jdk.supported}
    return [CompletionItem(name, help=text) for name, text in found.items() if name.startswith(incomplete)]


def _jvm_names() -> list[str]:
    try:
        remote = daemon.connect()
        return [jvm.name for jvm in remote.status().jvms] if remote else []
    except SkywayError:
        return []


def jvm_argument(name: str, **settings: Any) -> Callable[[Function], Function]:
    """A JVM's name."""
    return click.argument(name, shell_complete=_complete_jvms, **settings)


def source_argument(name: str, **settings: Any) -> Callable[[Function], Function]:
    """JVM:ROOT."""
    return click.argument(name, shell_complete=_complete_sources, **settings)


def format_option(function: Function) -> Function:
    """Adds --format."""
    return click.option(
        "--format",
        "form",
        type=click.Choice(["table", "json"]),
        default="table",
        envvar="SKYWAY_FORMAT",
        show_envvar=True,
        show_default=True,
        help="How the result is printed.",
    )(function)


def jdk_option(function: Function) -> Function:
    """Adds --jdk."""
    return click.option(
        "--jdk",
        metavar="VERSION|HOME",
        envvar="SKYWAY_JDK",
        show_envvar=True,
        shell_complete=_complete_jdks,
        help="JDK to run, as 17 or as its home directory.  [default: JAVA_HOME, then java on PATH, then the newest]",
    )(function)


def collector_option(function: Function) -> Function:
    """Adds --collector."""
    return click.option(
        "--collector",
        type=click.Choice(COLLECTORS, case_sensitive=False),
        envvar="SKYWAY_COLLECTOR",
        show_envvar=True,
        help="Garbage collector.  [default: Java's choice]",
    )(function)


def heap_option(default: str | None) -> Callable[[Function], Function]:
    """Adds --heap."""
    return click.option(
        "--heap",
        metavar="SIZE",
        default=default,
        envvar="SKYWAY_HEAP",
        show_envvar=True,
        show_default=default is not None,
        help="Largest heap of each JVM, such as 512m or 4g." + ("" if default else "  [default: Java's choice]"),
    )


def transport_option(function: Function) -> Function:
    """Adds --transport."""
    return click.option(
        "--transport",
        type=click.Choice(TRANSPORTS),
        default="auto",
        envvar="SKYWAY_TRANSPORT",
        show_envvar=True,
        show_default=True,
        help="auto: shared memory on one host, else TCP.",
    )(function)


def timeout_option(default: float, help_text: str) -> Callable[[Function], Function]:
    """Adds --timeout in seconds."""
    return click.option(
        "--timeout",
        type=click.FloatRange(min=0, min_open=True),
        metavar="SECONDS",
        default=default,
        envvar="SKYWAY_TIMEOUT",
        show_envvar=True,
        show_default=True,
        help=help_text,
    )


def max_pause_option(function: Function) -> Function:
    """Adds --max-pause in milliseconds."""
    return click.option(
        "--max-pause",
        type=click.FloatRange(min=0.001),
        metavar="MILLISECONDS",
        default=5.0,
        envvar="SKYWAY_MAX_PAUSE",
        show_envvar=True,
        show_default=True,
        help="Longest time without a safepoint in the sender; a shorter one costs more restarts.",
    )(function)


def runs_options(runs: int, warmup: int) -> Callable[[Function], Function]:
    """Adds --runs and --warmup."""

    def add(function: Function) -> Function:
        function = click.option(
            "--warmup",
            type=click.IntRange(min=0),
            default=warmup,
            envvar="SKYWAY_WARMUP",
            show_envvar=True,
            show_default=True,
            help="Transfers with each serializer before the measured ones.",
        )(function)
        return click.option(
            "--runs",
            type=click.IntRange(min=1),
            default=runs,
            envvar="SKYWAY_RUNS",
            show_envvar=True,
            show_default=True,
            help="Measured transfers with each serializer.",
        )(function)

    return add


def resolved_jdk(jdk: str | None) -> str:
    """The home of the JDK that a --jdk option means in the caller's environment, not in the daemon's.

    :raises JdkNotFound: none fits.
    """
    return str(find_jdk(jdk).home)
