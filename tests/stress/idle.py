"""What the agent costs an application that transfers nothing: its start, and its work.

The same application, in turn: by itself, and launched by an orchestrator with the agent in it.
"""

from __future__ import annotations

import statistics
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import click

from skyway_py import Jdk, Orchestrator, find_jdk
from skyway_py.cli._output import note, print_json, print_table
from tests.jvm.jvms import APPS, javac

#: The first rounds of an application's work, which its compilers still change.
WARMUP: Final = 10
TIMEOUT: Final = 120.0


@dataclass
class Cost:
    """Of all runs of one kind. Milliseconds."""

    jdk: str
    agent: bool
    #: From the process's start to the first statement of `main`.
    main_ms: list[float] = field(default_factory=list)
    #: From the process's start until the agent takes calls.
    ready_ms: list[float] = field(default_factory=list)
    #: A round of work, each run's median.
    round_ms: list[float] = field(default_factory=list)
    #: From the process's start to its end.
    total_ms: list[float] = field(default_factory=list)

    def median(self, name: str) -> float | None:
        """Of one of the figures; None when there is none."""
        values: list[float] = getattr(self, name)
        return statistics.median(values) if values else None

    def to_dict(self) -> dict[str, object]:
        """Ready for JSON: medians, with the least and the most."""
        found: dict[str, object] = {"jdk": self.jdk, "agent": self.agent, "runs": len(self.main_ms)}
        for name in FIGURES:
            values: list[float] = getattr(self, name)
            found[name] = {"median": self.median(name), "min": min(values), "max": max(values)} if values else None
        return found


FIGURES: Final = ("main_ms", "ready_ms", "round_ms", "total_ms")


def _add(cost: Cost, began: float, output: str) -> None:
    lines = [line.split() for line in output.splitlines()]
    spent = [int(words[1]) / 1e6 for words in lines if words[:1] == ["round"]]
    [at] = [int(words[1]) for words in lines if words[:1] == ["main"]]
    cost.main_ms.append(at - began * 1e3)
    cost.round_ms.append(statistics.median(spent[WARMUP:]))


def _alone(cost: Cost, jdk: Jdk, arguments: Sequence[str]) -> None:
    began = time.time()
    run = subprocess.run(
        [jdk.home / "bin" / "java", *arguments],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=TIMEOUT,
        start_new_session=True,
    )
    cost.total_ms.append((time.time() - began) * 1e3)
    _add(cost, began, run.stdout)


def _with_agent(cost: Cost, jdk: Jdk, options: Sequence[str], application: Sequence[str]) -> None:
    with Orchestrator() as skyway:
        began = time.time()
        jvm = skyway.launch("app", jdk=jdk, java_args=list(options), app=list(application))
        cost.ready_ms.append((time.time() - began) * 1e3)
        assert jvm.log
        until = time.monotonic() + TIMEOUT
        while jvm.alive:
            if time.monotonic() > until:
                raise click.ClickException(f"the application did not end within {TIMEOUT:g} s")
            time.sleep(0.005)
        cost.total_ms.append((time.time() - began) * 1e3)
        _add(cost, began, jvm.log.read_text())


def measure(jdk: str, rounds: int, work: int) -> list[Cost]:
    """All runs with one JDK: first by itself, then with the agent."""
    found = find_jdk(jdk)
    alone, with_agent = Cost(jdk, agent=False), Cost(jdk, agent=True)
    with tempfile.TemporaryDirectory() as classes:
        javac(found, Path(classes), sorted((APPS / "idle").glob("*.java")), "")
        application = ["-cp", classes, "idle.Work", str(WARMUP + work)]
        options = ["-Xms512m", "-Xmx512m", "-XX:+UseG1GC"]
        for number in range(rounds):
            note(f"JDK {jdk}, round {number + 1} of {rounds}")
            _alone(alone, found, [*options, *application])
            _with_agent(with_agent, found, options, application)
    return [alone, with_agent]


HEADER: Final = ("JDK", "agent", "runs", "to main", "agent ready", "a round of work", "whole run")


def rows(costs: Sequence[Cost]) -> list[tuple[str, ...]]:
    """The table as people read it; medians."""
    return [
        (
            cost.jdk,
            "yes" if cost.agent else "no",
            str(len(cost.main_ms)),
            *("" if (value := cost.median(name)) is None else f"{value:.1f} ms" for name in FIGURES),
        )
        for cost in costs
    ]


@click.command()
@click.option("--jdk", "jdks", default="17,25", show_default=True, help="Feature releases, with commas between.")
@click.option("--rounds", type=click.IntRange(min=1), default=15, show_default=True, help="Runs of each kind.")
@click.option("--work", type=click.IntRange(min=1), default=60, show_default=True, help="Measured rounds of each run.")
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
def main(jdks: str, rounds: int, work: int, form: str) -> None:
    """What the agent costs an application that transfers nothing: start and work, with and without it, in turn."""
    costs = [cost for jdk in jdks.split(",") for cost in measure(jdk, rounds, work)]
    if form == "json":
        print_json([cost.to_dict() for cost in costs])
    else:
        print_table(HEADER, rows(costs), right=HEADER[2:])


if __name__ == "__main__":
    main()
