"""What transfers do to the application: pauses that its threads feel, and collections.

Two JVMs with an application that allocates. In turn, for some seconds each: nothing, transfers through the engine one
after the other, and the same through Kryo. A thread in each application measures how much later it runs than it wanted.
"""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

import click

from skyway_py import Jvm, Orchestrator, TransferResult, find_jdk
from skyway_py._paths import bench_jar
from skyway_py.cli._output import note, print_json, print_table
from tests.jvm.jvms import APPS, javac

#: What runs in a phase; "nothing" is what the others are compared with.
MODES: Final = ("nothing", "skyway", "kryo")
SIDES: Final = ("left", "right")
#: Between two phases, so that what the one leaves behind does not count for the other.
SETTLE_SECONDS: Final = 0.5


@dataclass
class Felt:
    """What one application felt in all phases of one kind. Times in milliseconds."""

    jdk: str
    side: str
    mode: str
    seconds: float = 0.0
    transfers: int = 0
    transfer_ms: list[float] = field(default_factory=list)
    collections: int = 0
    collection_ms: int = 0
    late_ms: list[float] = field(default_factory=list)
    #: Of the engine: walks that began again because of a collection, the windows' times, the longest window.
    restarts: int = 0
    send_window_ms: float = 0.0
    land_window_ms: float = 0.0
    longest_window_ms: float = 0.0

    def percentile(self, share: float) -> float:
        """A percentile of all delays; 1.0 is the worst."""
        ordered = sorted(self.late_ms)
        return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else math.nan

    def to_dict(self) -> dict[str, object]:
        """Ready for JSON: percentiles instead of each delay."""
        plain = {name: value for name, value in asdict(self).items() if name not in ("late_ms", "transfer_ms")}
        return {
            **plain,
            "transfer_median_ms": sorted(self.transfer_ms)[len(self.transfer_ms) // 2] if self.transfer_ms else None,
            "samples": len(self.late_ms),
            "p50_ms": self.percentile(0.5),
            "p99_ms": self.percentile(0.99),
            "p999_ms": self.percentile(0.999),
            "worst_ms": self.percentile(1.0),
        }


def corrected(micros: Iterable[int]) -> list[float]:
    """Delays in milliseconds. A thread that was held up for 20 ms would have noticed it at each of 20 milliseconds: it
    counts as delays of 20, 19, 18 ... ms. Otherwise the longest pauses would hardly show among the samples.
    """
    found = []
    for late in micros:
        rest = late / 1e3
        found.append(rest)
        while rest > 1.0:
            rest -= 1.0
            found.append(rest)
    return found


def delays(log: Path, begin: float, end: float) -> list[float]:
    """What a JVM's meter has said in batches that began in this time (seconds since 1970)."""
    found: list[float] = []
    for line in log.read_text(errors="replace").splitlines():
        words = line.split()
        if len(words) > 2 and words[0] == "hiccups" and begin <= int(words[1]) / 1e3 < end:
            found += corrected(map(int, words[2:]))
    return found


def _phase(skyway: Orchestrator, root: str, seconds: float, felt: Sequence[Felt]) -> None:
    mode = felt[0].mode
    jvms: list[Jvm] = [skyway.jvm(side) for side in SIDES]
    before = [jvm.statistics() for jvm in jvms]
    begin = time.time()
    spent: list[TransferResult] = []
    while time.time() - begin < seconds:
        if mode == "nothing":
            time.sleep(0.05)
        else:
            link = skyway.connect("left", "right")
            spent.append(link.start_transfer(root, "harm", serializer=mode, discard=True).result())
    end = time.time()
    after = [jvm.statistics() for jvm in jvms]
    time.sleep(SETTLE_SECONDS)
    for jvm, of, first, last in zip(jvms, felt, before, after, strict=True):
        assert jvm.log
        of.seconds += end - begin
        of.transfers += len(spent)
        of.transfer_ms += [result.total_ms for result in spent]
        of.restarts += sum(result.restarts for result in spent)
        of.send_window_ms += sum(result.send_window_ms for result in spent)
        of.land_window_ms += sum(result.land_window_ms for result in spent)
        of.longest_window_ms = max(of.longest_window_ms, *(result.longest_window_ms for result in spent), 0.0)
        of.collections += last.gc_collections - first.gc_collections
        of.collection_ms += last.gc_millis - first.gc_millis
        of.late_ms += delays(jvm.log, begin, end)


def measure(
    jdk: str,
    collector: str,
    flags: Sequence[str],
    churn: int,
    workload: str,
    size: int,
    modes: Sequence[str],
    rounds: int,
    seconds: float,
) -> list[Felt]:
    """All phases with one JDK."""
    found = find_jdk(jdk)
    felt = {mode: [Felt(jdk, side, mode) for side in SIDES] for mode in modes}
    with tempfile.TemporaryDirectory() as classes, Orchestrator() as skyway:
        javac(found, Path(classes), sorted((APPS / "harm").glob("*.java")), str(bench_jar()))
        app = ["-cp", f"{classes}:{bench_jar()}", "harm.Hiccups", "--churn", str(churn)]
        for name in SIDES:
            skyway.launch(name, jdk=found, collector=collector, java_args=flags, app=app)
        root = skyway.jvm("left").build_workload(workload, size=size)
        for mode in modes:
            # Compiled code and a used heap before anything counts.
            _phase(skyway, root, seconds, [Felt(jdk, side, mode) for side in SIDES])
        for number in range(rounds):
            shift = number % len(modes)
            for mode in (*modes[shift:], *modes[:shift]):
                note(f"JDK {jdk}, round {number + 1} of {rounds}: {mode}")
                _phase(skyway, root, seconds, felt[mode])
    return [of for mode in modes for of in felt[mode]]


HEADER: Final = (
    "JDK",
    "side",
    "during",
    "transfers",
    "median",
    "p99",
    "p99.9",
    "worst",
    "p99.9 ratio",
    "GCs/s",
    "GC time",
    "restarts",
    "longest window",
)


def rows(all_felt: Sequence[Felt]) -> list[tuple[str, ...]]:
    """The table as people read it."""
    quiet = {(of.jdk, of.side): of.percentile(0.999) for of in all_felt if of.mode == "nothing"}
    found = []
    for of in all_felt:
        base = quiet.get((of.jdk, of.side))
        # The walk and its windows are the sender's.
        walks = of.mode == "skyway" and of.side == "left"
        found.append(
            (
                of.jdk,
                "sender" if of.side == "left" else "receiver",
                of.mode,
                str(of.transfers),
                *(f"{of.percentile(share):.2f} ms" for share in (0.5, 0.99, 0.999, 1.0)),
                f"{of.percentile(0.999) / base:.1f}x" if base else "",
                f"{of.collections / of.seconds:.2f}",
                f"{of.collection_ms / of.seconds / 1e3:.1%}",
                str(of.restarts) if walks else "",
                f"{of.longest_window_ms:.1f} ms" if walks else "",
            )
        )
    return found


@click.command()
@click.option("--jdk", "jdks", default="17,25", show_default=True, help="Feature releases, with commas between.")
@click.option("--gc", "collector", default="g1", show_default=True, help="Collector.")
@click.option("--heap", default="1g", show_default=True, help="Heap of each JVM, from its start.")
@click.option("--young", default="", help="Young generation, such as 32m, so that it is collected often.")
@click.option("--churn", default=30, show_default=True, help="Megabytes that each application allocates a second.")
@click.option("--workload", default="media", show_default=True, help="What is sent.")
@click.option("--size", default=0, help="Its size.  [default: the workload's]")
@click.option("--during", default=",".join(MODES), show_default=True, help="Phases, with commas between.")
@click.option("--rounds", type=click.IntRange(min=1), default=5, show_default=True, help="Phases of each kind.")
@click.option("--seconds", type=click.FloatRange(min=1.0), default=5.0, show_default=True, help="Of each phase.")
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
def main(
    jdks: str,
    collector: str,
    heap: str,
    young: str,
    churn: int,
    workload: str,
    size: int,
    during: str,
    rounds: int,
    seconds: float,
    form: str,
) -> None:
    """Pauses and collections of an application: alone, during transfers, and during the same transfers by Kryo."""
    modes = during.split(",")
    if unknown := set(modes) - set(MODES):
        raise click.BadParameter(f"no such phase: {', '.join(sorted(unknown))}; there are {', '.join(MODES)}")
    flags = [f"-Xms{heap}", f"-Xmx{heap}", *([f"-Xmn{young}"] if young else [])]
    felt = [
        of
        for jdk in jdks.split(",")
        for of in measure(jdk, collector, flags, churn, workload, size, modes, rounds, seconds)
    ]
    if form == "json":
        print_json([of.to_dict() for of in felt])
    else:
        print_table(HEADER, rows(felt), right=HEADER[3:])


if __name__ == "__main__":
    main()
