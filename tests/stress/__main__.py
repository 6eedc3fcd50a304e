"""Pairs of JVMs under load: random transfers in both directions, at once, while applications allocate.

Each pair runs with heap verification before and after each collection. The seed decides every choice of what is sent
where; how the threads interleave it cannot decide. Exit status 1 when anything went wrong.

With --sizes: one graph of each kind that is as large as this machine holds, and many small ones; JVMs need up to 13 GB.

With --fidelity: random graphs, each of which the receiver builds too and compares. The first seed is printed; an error
has the seed of the graph, and `--fidelity 1 --seed N` begins with it.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path

import click

from skyway_py import HeapFull, JdkNotFound, Jvm, Orchestrator, SkywayError, find_jdk
from skyway_py._paths import agent_jar, bench_jar
from tests.graphs import BATCH, compile_apps, launch, run
from tests.jvm import faults
from tests.jvm.jvms import APPS, Compiled, javac
from tests.stress import sizes

VERIFY = ["-XX:+UnlockDiagnosticVMOptions", "-XX:+VerifyBeforeGC", "-XX:+VerifyAfterGC"]
#: Layouts to run with, beside each release's default.
VARIANTS = {17: [[], ["-XX:-UseCompressedOops"]], 25: [[], ["-XX:+UseCompactObjectHeaders"]]}
#: Workloads with sizes that fit a heap of 256 MB several times.
SIZES = {"media": 8_000, "graph": 30_000, "boxes": 60_000, "map": 30_000, "bytes": 4}


@dataclass
class Totals:
    seed: int
    seconds: float = 0.0
    transfers: int = 0
    graphs: int = 0
    segments: int = 0
    collections: int = 0
    crashes: int = 0
    verifier_failures: int = 0
    differences: int = 0
    app_oom: int = 0
    retries: int = 0
    restarts: int = 0
    heap_full: int = 0
    errors: list[str] = field(default_factory=list)

    @property
    def good(self) -> bool:
        return not (self.crashes or self.verifier_failures or self.differences or self.app_oom or self.errors)


def _found(feature: int) -> bool:
    try:
        find_jdk(feature)
    except JdkNotFound:
        print(f"no JDK {feature} was found: left out", file=sys.stderr)
        return False
    return True


def _launch(skyway: Orchestrator, name: str, feature: int, collector: str, flags: list[str]) -> Jvm:
    app = ["-cp", str(bench_jar()), "io.skyway.bench.Main", "--churn", "30"]
    return skyway.launch(
        name, jdk=feature, collector=collector, heap="256m", java_args=[*VERIFY, *flags], app=app, timeout=120.0
    )


def _one(skyway: Orchestrator, source: str, target: str, totals: Totals) -> None:
    try:
        result = skyway.transfer(source, target, verify=True, timeout=120.0)
    except HeapFull:
        totals.heap_full += 1
        return
    totals.transfers += 1
    totals.segments += result.segments
    totals.restarts += result.restarts
    totals.collections += result.sender_gc.collections + result.receiver_gc.collections
    if not result.verified:
        totals.differences += 1


def _pair(feature: int, collector: str, flags: list[str], seconds: float, rng: random.Random, totals: Totals) -> None:
    until = time.monotonic() + seconds
    with Orchestrator() as skyway, ThreadPoolExecutor(8) as pool:
        jvms = [_launch(skyway, name, feature, collector, flags) for name in ("left", "right")]
        for jvm in jvms:
            for workload, size in SIZES.items():
                jvm.build_workload(workload, size=rng.randrange(1, size), root=workload, seed=rng.randrange(1 << 30))
        while time.monotonic() < until and not totals.errors:
            jobs = []
            # Both directions at once; received graphs replace older ones.
            for lane in range(rng.randrange(1, 9)):
                a, b = rng.choice([("left", "right"), ("right", "left")])
                jobs.append((f"{a}:{rng.choice(list(SIZES))}", f"{b}:lane {lane}"))
            done = [pool.submit(_one, skyway, source, target, totals) for source, target in jobs]
            for job in done:
                try:
                    job.result(timeout=300.0)
                except SkywayError as error:
                    totals.errors.append(f"JDK {feature} {collector} {' '.join(flags)}: {error}")
        for jvm in jvms:
            _autopsy(jvm, totals)


def _graphs(feature: int, collector: str, flags: list[str], count: int, first: int, totals: Totals) -> None:
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
            _autopsy(jvm, totals)


def _autopsy(jvm: Jvm, totals: Totals) -> None:
    log = jvm.log.read_text(errors="replace") if jvm.log is not None else ""
    totals.app_oom += log.count("OutOfMemoryError")
    if not jvm.alive:
        failed = "Verification" in log or "verification" in log
        totals.verifier_failures += failed
        totals.crashes += not failed
        totals.errors.append("\n".join(log.splitlines()[-40:]))
    else:
        totals.retries += jvm.statistics().chunks_retried


def _faults(count: int, features: list[int], seed: int) -> bool:
    """So many faults at random moments, each kind as often as the others, on each JDK in turn."""
    failures = 0
    with tempfile.TemporaryDirectory() as directory, ExitStack() as stack:
        classes = Path(directory) / "classes"
        javac(find_jdk(), classes, sorted((APPS / "fixture").glob("*.java")), str(agent_jar()))
        worlds = []
        for feature in features:
            own = Path(directory) / str(feature)
            own.mkdir()
            worlds.append(stack.enter_context(faults.world(Compiled(classes).app, feature, own)))
        names = list(faults.FAULTS)
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
                failures += 1
                print(f"JDK {world.jdk}: FAILED: {name}, seed {seed + number}: {error}", file=sys.stderr)
                for jvm in world.skyway.jvms.values():
                    world.skyway.stop(jvm)
            done[name] += 1
        for world in worlds:
            world.check_threads_end()
    for name, times in done.items():
        print(f"{name:20} {times:4}, {in_time[name]} of them ended the transfer")
    print(f"{'failures':20} {failures:4}")
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
@click.option("--only", default="", help="With --sizes: those whose name has this text.")
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
        sys.exit(
            0
            if _faults(fault_count, [feature for feature in map(int, jdk.split(",")) if _found(feature)], chosen)
            else 1
        )
    rng = random.Random(chosen)
    totals = Totals(chosen)
    matrix = []
    for feature in map(int, jdk.split(",")):
        if not _found(feature):
            continue
        matrix += [(feature, gc, flags) for gc in collectors.split(",") for flags in VARIANTS.get(feature, [[]])]
    started = time.monotonic()
    for feature, collector, flags in matrix:
        print(f"JDK {feature} {collector} {' '.join(flags)}", file=sys.stderr)
        try:
            if fidelity is not None:
                _graphs(feature, collector, flags, fidelity, chosen, totals)
            else:
                _pair(feature, collector, flags, seconds / len(matrix), random.Random(rng.randrange(1 << 32)), totals)
        except SkywayError as error:
            totals.errors.append(f"JDK {feature} {collector} {' '.join(flags)}: {error}")
    totals.seconds = round(time.monotonic() - started, 1)
    if output == "json":
        print(json.dumps(asdict(totals)))
    else:
        for name, value in asdict(totals).items():
            print(f"{name:18} {value}")
    sys.exit(0 if totals.good and totals.transfers else 1)


if __name__ == "__main__":
    main()
