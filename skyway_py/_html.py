"""Small tables for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape


def facts(title: str, entries: Mapping[str, object]) -> str:
    """A table of two columns under a title."""
    rows = "".join(
        f"<tr><th style='text-align:left'>{_cell(k)}</th><td>{_cell(v)}</td></tr>" for k, v in entries.items()
    )
    return f"<table><caption>{_cell(title)}</caption>{rows}</table>"


def table(title: str, header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table with a header row under a title."""
    head = "".join(f"<th>{_cell(name)}</th>" for name in header)
    body = "".join("<tr>" + "".join(f"<td>{_cell(value)}</td>" for value in row) + "</tr>" for row in rows)
    return f"<table><caption>{_cell(title)}</caption><tr>{head}</tr>{body}</table>"


def _cell(value: object) -> str:
    return "" if value is None else escape(str(value))
