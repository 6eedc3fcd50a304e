"""Results on stdout, everything else on stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

from skyway_py import _units as units
from skyway_py._transfer_result import Progress


def print_json(document: Any) -> None:
    """One JSON document on stdout."""
    click.echo(json.dumps(document, indent=2, ensure_ascii=False))


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[str] = ()) -> None:
    """A table on stdout; the columns named by `right` are aligned to the right. A row that is shorter than the header
    has a text in its last cell that may run on.
    """
    full = [row for row in rows if len(row) == len(header)]
    widths = [max(len(cell) for cell in column) for column in zip(header, *full, strict=True)]
    for row in (header, *rows):
        cells = []
        for number, cell in enumerate(row):
            if len(row) < len(header) and number == len(row) - 1:
                cells.append(cell)
            elif header[number] in right:
                cells.append(cell.rjust(widths[number]))
            else:
                cells.append(cell.ljust(widths[number]))
        click.echo("  ".join(cells).rstrip())


def print_facts(entries: Mapping[str, str]) -> None:
    """Names and values on stdout, a line each."""
    width = max(len(name) for name in entries)
    for name, value in entries.items():
        click.echo(f"{name.ljust(width)}  {value}")


def note(message: str) -> None:
    """A line for people on stderr."""
    click.echo(f"skyway: {message}", err=True)


def step(message: str) -> None:
    """A line that only someone who waits at a terminal wants to see."""
    if sys.stderr.isatty():
        note(message)


class ProgressLine:
    """One line on stderr that is written over and over; nothing when stderr is no terminal. A context manager."""

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty()
        self._length = 0

    def transfer(self, progress: Progress) -> None:
        """Progress of a transfer. Nobody knows the size of a graph before its end, so there is no percentage."""
        self.show(
            f"{units.count_text(progress.objects)} objects, {units.bytes_text(progress.bytes)}, "
            f"{progress.segments_landed:,} of {progress.segments_sent:,} segments landed"
        )

    def comparison(self, label: str) -> Callable[[int, int, str], None]:
        """A hook for the steps of a comparison."""

        def hook(done: int, total: int, serializer: str) -> None:
            filled = 24 * done // total
            bar = "#" * filled + "-" * (24 - filled)
            self.show(f"{label} [{bar}] {done}/{total} {serializer}")

        return hook

    def show(self, text: str) -> None:
        """Replaces the line."""
        if self._shown:
            sys.stderr.write("\r" + text.ljust(self._length))
            sys.stderr.flush()
            self._length = len(text)

    def __enter__(self) -> ProgressLine:
        return self

    def __exit__(self, *_: object) -> None:
        if self._length:
            sys.stderr.write("\r" + " " * self._length + "\r")
            sys.stderr.flush()
