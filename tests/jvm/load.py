"""Transfers in both directions at once between two applications that do all that may disturb them: `apps/load`.

The same function serves the tests, for seconds, and `scripts/stress`, for hours.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

from skyway_py import HeapFull, Jvm, Orchestrator, SkywayError, TransferCancelled, TransferTimeout, find_jdk
from skyway_py._paths import agent_jar, bench_jar
from tests.jvm.jvms import APPS, VERIFY, Compiled, javac, together, wait_for_line

#: Layouts to run with, beside each release's default.
VARIANTS: Final[dict[int, list[list[str]]]] = {
    17: [[], ["-XX:-UseCompressedOops"]],
    25: [[], ["-XX:+UseCompactObjectHeaders"]],
}
#: Heap in MiB; items of a parcel, and items that the application keeps of what arrives, at most.
HEAPS: Final = ((96, 2_000, 20_000), (256, 4_000, 40_000), (1_024, 20_000, 150_000))
#: Workloads of the bench module, and their sizes in a heap of 256 MiB; their digests are compared.
WORKLOADS: Final = {"media": 4_000, "graph": 15_000, "boxes": 30_000, "map": 15_000, "bytes": 2}
#: What the application publishes; it checks what it gets itself.
ROOTS: Final = ("parcel 0", "parcel 1", "parcel 2", "parcel 3", "returned", "shifting", "unloadable")
LANES: Final = 8


@dataclass
class Totals:
    """What happened, in all pairs."""

    seed: int
    seconds: float = 0.0
    pairs: int = 0
    transfers: int = 0
    #: Random graphs that the receiver built too, and compared.
    graphs: int = 0
    objects: int = 0
    segments: int = 0
    collections: int = 0
    crashes: int = 0
    verifier_failures: int = 0
    differences: int = 0
    app_oom: int = 0
    #: Chunks of segments that a collection made the receiver land again.
    retries: int = 0
    #: Walks that began again.
    restarts: int = 0
    #: Refused, as the receiver's heap had no room.
    heap_full: int = 0
    #: Given up on purpose.
    cancelled: int = 0
    #: What the applications count.
    application: dict[str, int] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)

    @property
    def good(self) -> bool:
        return not (self.crashes or self.verifier_failures or self.differences or self.app_oom or self.errors)


def compile_app(target: Path) -> Compiled:
    """The application's classes, in that directory."""
    javac(find_jdk(), target, sorted((APPS / "load").glob("*.java")), str(agent_jar()))
    return Compiled(target)


def run(
    compiled: Compiled,
    feature: int,
    collector: str,
    flags: Sequence[str],
    seconds: float,
    rng: random.Random,
    totals: Totals,
    demanded: Sequence[str] = (),
) -> None:
    """One pair for that long, or until something goes wrong; adds what happened to the totals.

    The generator decides every choice of what is sent where; how threads take turns it cannot decide. `demanded`: what
    both applications must have done before the end, however long that takes on a busy machine.
    """
    heap, largest, kept = rng.choice(HEAPS)
    kind = f"JDK {feature}, {collector}, {heap} MiB {' '.join(flags)}".rstrip()
    with tempfile.TemporaryDirectory() as directory, Orchestrator() as skyway, ThreadPoolExecutor(LANES) as pool:

        def launch(name: str, seed: int) -> Jvm:
            arguments = (str(seed), str(largest), str(kept), directory)
            return skyway.launch(
                name,
                jdk=feature,
                collector=collector,
                heap=f"{heap}m",
                java_args=[*VERIFY, *flags],
                app=["-cp", f"{compiled.directory}:{bench_jar()}", "load.Main", *arguments],
                directory=directory,
            )

        jvms = together(partial(launch, name, rng.randrange(1 << 32)) for name in ("left", "right"))
        for jvm in jvms:
            wait_for_line(jvm, "ready", 120.0)
            for workload, size in WORKLOADS.items():
                most = max(2, size * heap // 256)
                jvm.build_workload(workload, size=rng.randrange(1, most), root=workload, seed=rng.randrange(1 << 30))
        for a, b in (("left", "right"), ("right", "left")):
            skyway.transfer(f"{a}:parcel 0", f"{b}:start", timeout=300.0)
        until = time.monotonic() + seconds
        totals.pairs += 1
        while not totals.errors and (
            time.monotonic() < until or any(not _counts(jvm).get(name) for jvm in jvms for name in demanded)
        ):
            # What is received in a lane takes the place of what was received there before.
            jobs = [_choice(rng, lane) for lane in range(rng.randrange(1, LANES + 1))]
            for job in [pool.submit(_transfer, skyway, totals, **job) for job in jobs]:
                try:
                    job.result(timeout=600.0)
                except SkywayError as error:
                    totals.errors.append(f"{kind}: {error}")
        for jvm in jvms:
            _autopsy(jvm, kind, totals)
        totals.crashes += len(list(Path(directory).glob("hs_err*")))


def _choice(rng: random.Random, lane: int) -> dict[str, Any]:
    a, b = rng.choice((("left", "right"), ("right", "left")))
    root = rng.choice((*ROOTS, *WORKLOADS))
    return {
        "source": f"{a}:{root}",
        "target": f"{b}:lane {lane}",
        "verify": root in WORKLOADS,
        "transport": rng.choice(("shm", "shm", "tcp")),
        "consistent": rng.randrange(8) == 0,
        "max_pause_micros": rng.choice((0, 0, 0, 200, 50_000)),
        # A few are given up at some moment.
        "timeout": rng.uniform(0.001, 0.3) if rng.randrange(10) == 0 else 300.0,
    }


def _transfer(skyway: Orchestrator, totals: Totals, *, source: str, target: str, **options: Any) -> None:
    try:
        result = skyway.transfer(source, target, **options)
    except HeapFull:
        totals.heap_full += 1
        return
    except (TransferTimeout, TransferCancelled):
        if options["timeout"] >= 1.0:
            raise
        totals.cancelled += 1
        return
    totals.transfers += 1
    totals.objects += result.objects
    totals.segments += result.segments
    totals.restarts += result.restarts
    if options["verify"] and not result.verified:
        totals.differences += 1


def _counts(jvm: Jvm) -> dict[str, int]:
    """What the application has said last of what it has done."""
    log = jvm.log.read_text(errors="replace") if jvm.log is not None else ""
    said = [line for line in log.splitlines(keepends=True) if line.startswith("counts ") and line.endswith("\n")]
    counts = (count.partition("=") for count in said[-1].split()[1:]) if said else ()
    return {name: int(value) for name, _, value in counts}


def _autopsy(jvm: Jvm, kind: str, totals: Totals) -> None:
    log = jvm.log.read_text(errors="replace") if jvm.log is not None else ""
    lines = log.splitlines()
    totals.app_oom += log.count("OutOfMemoryError")
    different = [number for number, line in enumerate(lines) if line.startswith("DIFFERENCE")]
    totals.differences += len(different)
    if different:
        said = "\n".join(lines[different[0] : different[0] + 20])
        totals.errors.append(f"{kind}, '{jvm.name}': {said}")
    totals.application = dict(Counter(totals.application) + Counter(_counts(jvm)))
    if totals.errors:
        # What a JVM did in its last minute says more than the error.
        totals.errors.append(f"'{jvm.name}':\n" + "\n".join(lines[-30:]))
    if jvm.alive:
        statistics = jvm.statistics()
        totals.retries += statistics.chunks_retried
        totals.collections += statistics.gc_collections
    else:
        failed = "erification" in log
        totals.verifier_failures += failed
        totals.crashes += not failed
        totals.errors.append(f"{kind}: '{jvm.name}' ended:\n" + "\n".join(lines[-40:]))
