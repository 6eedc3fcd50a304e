"""Pairs of JVMs under load: transfers in both directions at once, between applications that disturb them.

What they do is in tests.jvm.load. Each pair runs with heap verification before and after each collection, for a minute
and a half at most; then comes the next JDK, collector, layout and size of heap. The seed decides every choice of what
is sent where; how threads take turns it cannot decide. Exit status 1 when anything went wrong.

With --sizes: one graph of each kind that is as large as this machine holds, and many small ones; JVMs need up to 13 GB.

With --fidelity: random graphs, each of which the receiver builds too and compares. The first seed is printed; an error
has the seed of the graph, and `--fidelity 1 --seed N` begins with it.
"""

from __future__ import annotations

import itertools
import json
import random
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

import click

from skyway_py import JdkNotFound, Orchestrator, SkywayError, find_jdk
from skyway_py._paths import agent_jar
from tests.graphs import BATCH, compile_apps, launch, run
from tests.jvm import faults, load
from tests.jvm.jvms import APPS, VERIFY, Compiled, javac
from tests.stress import sizes

#: Longest life of a pair.
PAIR_SECONDS = 90.0


def _found(feature: int) -> bool:
    try:
        find_jdk(feature)
    except JdkNotFound:
        print(f"no JDK {feature} was found: left out", file=sys.stderr)
        return False
    return True


def _load(matrix: list[tuple[int, str, list[str]]], seconds: float, seed: int, totals: load.Totals) -> None:
    """Pairs of all kinds, again and again until the time is over or something went wrong."""
    rng = random.Random(seed)
    until = time.monotonic() + seconds
    each = min(seconds / max(1, len(matrix)), PAIR_SECONDS)
    with tempfile.TemporaryDirectory() as directory:
        compiled = load.compile_app(Path(directory))
        for feature, collector, flags in itertools.cycle(matrix):
            # The last one is cut short, unless nothing of its kind has run yet.
            left = until - time.monotonic()
            if not totals.good or (left < each / 2 and totals.pairs >= len(matrix)):
                return
            print(f"JDK {feature} {collector} {' '.join(flags)}: pair {totals.pairs + 1}", file=sys.stderr)
            own = random.Random(rng.randrange(1 << 32))
            try:
                load.run(compiled, feature, collector, flags, each, own, totals)
            except SkywayError as error:
                totals.errors.append(f"JDK {feature} {collector} {' '.join(flags)}: {error}")


def _graphs(feature: int, collector: str, flags: list[str], count: int, first: int, totals: load.Totals) -> None:
    """Random graphs of the seeds from `first`, in whole batches."""
    with tempfile.TemporaryDirectory() as directory, Orchestrator() as skyway:
        jdk = find_jdk(feature)
        compile_apps(jdk, Path(directory))
        jvms = launch(skyway, Path(directory), jdk, collector, [*VERIFY, *flags], first)
        for _ in range(-(-count // BATCH)):
            try:
                totals.graphs += run(skyway, 1)
                totals.transfers += 2
            except SkywayError as error:
                totals.differences += 1
                totals.errors.append(f"JDK {feature} {collector} {' '.join(flags)}: {error}")
                break
        for jvm in jvms:
            if not jvm.alive:
                totals.crashes += 1
                totals.errors.append(jvm.quote_log())


def _faults(count: int, features: list[int], only: str, seed: int, output: str) -> bool:
    """So many faults at random moments, each kind as often as the others, on each JDK in turn."""
    failures: list[str] = []
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as directory, ExitStack() as stack:
        classes = Path(directory) / "classes"
        javac(find_jdk(), classes, sorted((APPS / "fixture").glob("*.java")), str(agent_jar()))
        worlds = []
        for feature in features:
            own = Path(directory) / str(feature)
            own.mkdir()
            worlds.append(stack.enter_context(faults.world(Compiled(classes).app, feature, own)))
        names = [name for name in faults.FAULTS if only in name]
        done: Counter[str] = Counter()
        in_time: Counter[str] = Counter()
        for number in range(count):
            world = worlds[number % len(worlds)]
            name = names[number // len(worlds) % len(names)]
            try:
                said, failed = faults.strike(world, name, seed + number)
                print(f"JDK {world.jdk}: {said}", file=sys.stderr)
                in_time[name] += failed
            except (AssertionError, SkywayError) as error:
                failures.append(f"JDK {world.jdk}: {name}, seed {seed + number}: {error}")
                print(f"FAILED: {failures[-1]}", file=sys.stderr)
                for jvm in world.skyway.jvms.values():
                    world.skyway.stop(jvm)
            done[name] += 1
        for world in worlds:
            world.check_threads_end()
    if output == "json":
        kinds = {name: {"times": times, "ended_the_transfer": in_time[name]} for name, times in done.items()}
        took = round(time.monotonic() - started, 1)
        print(json.dumps({"seed": seed, "seconds": took, "faults": kinds, "failures": failures}))
    else:
        for name, times in done.items():
            print(f"{name:20} {times:4}, {in_time[name]} of them ended the transfer")
        print(f"{'failures':20} {len(failures):4}")
    return not failures


@click.command()
@click.option(
    "--seconds",
    default=120.0,
    show_default=True,
    help="In all; with --sizes: most for many small ones.",
)
@click.option("--jdk", default="17,25", show_default=True, help="Feature releases, with commas between.")
@click.option(
    "--gc",
    "collectors",
    default="serial,parallel,g1",
    show_default=True,
    help="Collectors.",
)
@click.option("--seed", type=int, default=None, help="Replays the choices of an earlier run.")
@click.option("--faults", "fault_count", type=click.IntRange(min=1), help="So many faults, instead of load.")
@click.option("--fidelity", type=click.IntRange(min=1), help="So many random graphs each, instead of load.")
@click.option("--sizes", "large", is_flag=True, help="Large graphs, and many small ones, instead of load.")
@click.option("--only", default="", help="With --sizes or --faults: those whose name has this text.")
@click.option("--format", "output", type=click.Choice(["text", "json"]), default="text", show_default=True)
def main(
    seconds: float,
    jdk: str,
    collectors: str,
    seed: int | None,
    fault_count: int | None,
    fidelity: int | None,
    large: bool,
    only: str,
    output: str,
) -> None:
    """Stress over the whole matrix."""
    if large:
        found = [feature for feature in jdk.split(",") if _found(int(feature))]
        collector = collectors if "," not in collectors else "g1"
        sys.exit(0 if sizes.measure(found, collector, only, seconds, output) else 1)
    chosen = random.SystemRandom().randrange(1 << 32) if seed is None else seed
    print(f"seed {chosen}", file=sys.stderr)
    if fault_count:
        if not any(only in name for name in faults.FAULTS):
            raise click.BadParameter(f"no fault has '{only}' in its name: there are {', '.join(faults.FAULTS)}")
        features = [feature for feature in map(int, jdk.split(",")) if _found(feature)]
        sys.exit(0 if _faults(fault_count, features, only, chosen, output) else 1)
    totals = load.Totals(chosen)
    matrix = []
    for feature in map(int, jdk.split(",")):
        if not _found(feature):
            continue
        matrix += [(feature, gc, flags) for gc in collectors.split(",") for flags in load.VARIANTS.get(feature, [[]])]
    started = time.monotonic()
    if fidelity is not None:
        for feature, collector, flags in matrix:
            print(f"JDK {feature} {collector} {' '.join(flags)}", file=sys.stderr)
            _graphs(feature, collector, flags, fidelity, chosen, totals)
    else:
        try:
            _load(matrix, seconds, chosen, totals)
        except KeyboardInterrupt:
            totals.errors.append("interrupted: the pair that ran is not counted as a whole")
    totals.seconds = round(time.monotonic() - started, 1)
    if output == "json":
        print(json.dumps(asdict(totals)))
    else:
        for name, value in asdict(totals).items():
            print(f"{name:18} {value}")
    sys.exit(0 if totals.good and totals.transfers else 1)


if __name__ == "__main__":
    main()
