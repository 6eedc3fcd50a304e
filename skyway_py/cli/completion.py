"""`skyway completion`."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from skyway_py.cli._command import command


@command(
    "Print the shell completion script.",
    'eval "$(skyway completion bash)"                                          # in ~/.bashrc',
    'eval "$(skyway completion zsh)"                                           # in ~/.zshrc',
    "skyway completion fish > ~/.config/fish/completions/skyway.fish",
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print what makes SHELL complete commands, options, JVMs and roots."""
    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(context.find_root().command, {}, "skyway", "_SKYWAY_COMPLETE").source())
