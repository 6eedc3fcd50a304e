"""The command line: `skyway COMMAND`."""

from skyway_py.cli._group import main

__all__ = ["main"]
