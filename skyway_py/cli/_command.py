"""Commands whose help ends with examples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click


class WithExamples(click.Command):
    """Prints its examples as they are: nobody can copy a command line that was wrapped."""

    def __init__(self, *args: Any, examples: tuple[str, ...] = (), **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.examples = examples

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Called by click at the end of the help."""
        with formatter.section("Examples"):
            for example in self.examples:
                formatter.write(f"{'':{formatter.current_indent}}{example}\n")


def command(short_help: str, *examples: str) -> Callable[[Callable[..., Any]], click.Command]:
    """Makes a function a command."""
    return click.command(cls=WithExamples, short_help=short_help, examples=examples)
