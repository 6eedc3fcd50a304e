"""The group of all commands, and how errors reach the user."""

from __future__ import annotations

from typing import IO, Any

import click

from skyway_py._errors import GraphRefused, InvalidRequest, SkywayError
from skyway_py._version import __version__
from skyway_py.cli._command import WithExamples
from skyway_py.cli.attach import attach
from skyway_py.cli.compare import compare
from skyway_py.cli.completion import completion
from skyway_py.cli.demo import demo
from skyway_py.cli.doctor import doctor
from skyway_py.cli.down import down
from skyway_py.cli.launch import launch
from skyway_py.cli.ps import ps
from skyway_py.cli.roots import roots
from skyway_py.cli.status import status
from skyway_py.cli.stop import stop
from skyway_py.cli.transfer import transfer
from skyway_py.cli.up import up

_REFUSALS_SHOWN = 10


class _Failure(click.ClickException):
    """One of our exceptions, as click shows it."""

    def __init__(self, error: SkywayError) -> None:
        lines = [error.message]
        if isinstance(error, GraphRefused):
            lines += [f"    {refusal}" for refusal in error.refusals[:_REFUSALS_SHOWN]]
            if len(error.refusals) > _REFUSALS_SHOWN:
                lines.append(f"    and {len(error.refusals) - _REFUSALS_SHOWN} more")
        super().__init__("\n".join(lines))

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(f"skyway: {self.message}", file=file, err=file is None)


class _WrongUse(_Failure):
    exit_code = 2


class _Group(WithExamples, click.Group):
    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except SkywayError as error:
            raise (_WrongUse if isinstance(error, InvalidRequest) else _Failure)(error) from error

    def list_commands(self, ctx: click.Context) -> list[str]:
        # In the order in which they are used, not by the alphabet.
        return list(self.commands)


@click.group(
    cls=_Group,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    examples=(
        "skyway launch left --workload catalog",
        "skyway launch right",
        "skyway transfer left:catalog right --verify",
        "skyway down",
    ),
)
@click.version_option(__version__, prog_name="skyway")
def main() -> None:
    """Move live object graphs between the heaps of Java processes.

    Every option that a command shows with [env var: SKYWAY_...] can be set in the environment. Results go to stdout,
    everything else to stderr. Exit codes: 0 done, 1 failed, 2 called wrongly.
    """


for _command in (
    doctor,
    up,
    status,
    launch,
    attach,
    ps,
    roots,
    transfer,
    compare,
    stop,
    down,
    demo,
    completion,
):
    main.add_command(_command)
