"""Graphs of any size between two JVMs that run sizes.Main: what each needs, and whether it arrives.

The same functions serve the tests, with small sizes, and `scripts/stress --sizes`, with large ones.
"""

from __future__ import annotations

import contextlib
import os
import re
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from skyway_py import HeapFull, Jdk, Jvm, Orchestrator, TransferResult
from skyway_py._paths import agent_jar
from tests.jvm.jvms import APPS, javac

MIB: Final = 1 << 20
#: Where the applications' list of workloads lies.
RESOURCES: Final = APPS / "sizes"
#: A slot of a link, at most: a segment, half as much for its lists, a header.
SLOT_BYTES: Final = 851_968
#: Slots of a link, and how many more one walk's last window takes before it waits for the receiver.
SLOTS: Final = 64
SLOTS_BEYOND: Final = 192


@dataclass(frozen=True)
class Case:
    """A graph, and the JVMs that it goes between."""

    what: str
    shape: str
    size: int
    #: The sender's heap and the receiver's, in MiB.
    left: int
    right: int
    flags: tuple[str, ...] = ()
    #: Whether the sender's application allocates, so that collections interrupt the walk.
    churn: bool = False
    #: Compare digests too; needs up to 26 bytes of heap an object on both sides.
    verify: bool = True


@dataclass(frozen=True)
class Memory:
    """What a transfer took outside of the heap, in bytes: as the engine counts it, and as the system does."""

    engine_peak: int
    engine_after: int
    rss_growth: int
    rss_after: int
    #: The link's blocks, which both sides map; not all of them are resident.
    shared_peak: int = 0


@dataclass
class Outcome:
    """What a case has measured. Seconds without the check by the receiving application, which is `check_seconds`."""

    what: str
    shape: str
    size: int
    jdk: str
    collector: str
    left_heap_mib: int
    right_heap_mib: int
    objects: int = 0
    image_bytes: int = 0
    segments: int = 0
    late_references: int = 0
    restarts: int = 0
    seconds: float = 0.0
    send_seconds: float = 0.0
    land_seconds: float = 0.0
    sender_gc_seconds: float = 0.0
    receiver_gc_seconds: float = 0.0
    check_seconds: float = 0.0
    sender: Memory | None = None
    receiver: Memory | None = None
    verified: bool = False
    said: str = ""
    facts: dict[str, float] = field(default_factory=dict)


def compile_app(jdk: Jdk, target: Path) -> list[str]:
    """The classes; gives the class path's arguments and the main class."""
    javac(jdk, target, sorted(RESOURCES.glob("*.java")), str(agent_jar()))
    return ["-cp", os.pathsep.join((str(target), str(RESOURCES))), "sizes.Main"]


def _status(jvm: Jvm, name: str) -> int:
    """A line of the process's status that has kB, in bytes."""
    found = re.search(rf"^{name}:\s+(\d+) kB", Path(f"/proc/{jvm.pid}/status").read_text(), re.MULTILINE)
    assert found, name
    return int(found[1]) << 10


def shared(jvm: Jvm) -> int:
    """Bytes of the links' memory files that a process holds."""
    total = 0
    for fd in Path(f"/proc/{jvm.pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            if os.readlink(fd).startswith("/memfd:skyway-link"):
                total += fd.stat().st_blocks * 512
    return total


class Watch:
    """The memory of a process around a transfer. Its heap must be resident from the start, or it would count too.

    Starts a thread, which read() ends.
    """

    def __init__(self, jvm: Jvm) -> None:
        self._jvm = jvm
        self._done = threading.Event()
        self._shared = 0
        self._thread = threading.Thread(target=self._sample, daemon=True)
        self._thread.start()
        # The largest resident size counts from here.
        Path(f"/proc/{jvm.pid}/clear_refs").write_text("5")
        self._before = _status(jvm, "VmRSS")

    def _sample(self) -> None:
        while not self._done.wait(0.01):
            with contextlib.suppress(OSError):
                self._shared = max(self._shared, shared(self._jvm))

    def read(self) -> Memory:
        """After the transfer. The engine's peak is that of all transfers of the process."""
        self._done.set()
        self._thread.join(10.0)
        counts = self._jvm.statistics()
        return Memory(
            counts.native_peak_bytes,
            counts.native_bytes,
            max(0, _status(self._jvm, "VmHWM") - self._before),
            max(0, _status(self._jvm, "VmRSS") - self._before),
            self._shared,
        )


class World:
    """A pair of JVMs of one kind: "left" builds and sends, "right" checks what it gets."""

    def __init__(self, skyway: Orchestrator, left: Jvm, right: Jvm, collector: str) -> None:
        self.skyway = skyway
        self.left = left
        self.right = right
        self.collector = collector
        self._checked = 0

    def send(self, case: Case, *, timeout: float, transport: str | None = None) -> Outcome:
        """Builds the graph, sends it, has it checked, and forgets it on both sides.

        :raises SkywayError: it did not arrive as it was.
        """
        outcome = Outcome(
            case.what, case.shape, case.size, self.left.info.java_version, self.collector, case.left, case.right
        )
        self.left.build_workload(case.shape, size=case.size, root="graph")
        try:
            watches = [Watch(self.left), Watch(self.right)]
            result = self.skyway.transfer(
                "left:graph",
                "right",
                destination="checked",
                verify=case.verify,
                timeout=timeout,
                transport=transport,
            )
            outcome.sender, outcome.receiver = (watch.read() for watch in watches)
        finally:
            self.left.drop_root("graph")
            self.right.drop_root("checked")
        self._note(outcome, result)
        return outcome

    def _note(self, outcome: Outcome, result: TransferResult) -> None:
        assert self.right.log
        self._checked += 1
        lines = re.findall(r"^checked (\w+) (\d+) (\d+)$", self.right.log.read_text(), re.MULTILINE)
        assert len(lines) == self._checked, "the receiving application has not checked the graph"
        shape, size, millis = lines[-1]
        assert (shape, int(size)) == (outcome.shape, outcome.size)
        outcome.check_seconds = int(millis) / 1e3
        outcome.seconds = round(result.total_ms / 1e3 - outcome.check_seconds, 3)
        outcome.send_seconds = round(result.send_ms / 1e3, 3)
        outcome.land_seconds = round(result.land_ms / 1e3, 3)
        outcome.sender_gc_seconds = result.sender_gc.millis / 1e3
        outcome.receiver_gc_seconds = result.receiver_gc.millis / 1e3
        outcome.objects = result.objects
        outcome.image_bytes = result.image_bytes
        outcome.segments = result.segments
        outcome.late_references = result.late_references
        outcome.restarts = result.restarts
        outcome.verified = bool(result.verified)


@contextlib.contextmanager
def world(
    app: Sequence[str],
    jdk: Jdk,
    collector: str,
    left: int,
    right: int,
    flags: Sequence[str] = (),
    churn: bool = False,
) -> Iterator[World]:
    """JVMs with heaps of so many MiB, which are resident from the start. With `churn` the left one allocates."""
    with Orchestrator() as skyway:
        jvms = [
            skyway.launch(
                name,
                jdk=jdk,
                collector=collector,
                heap=f"{heap}m",
                java_args=[f"-Xms{heap}m", "-XX:+AlwaysPreTouch", *flags],
                app=[*app, "churn"] if churn and name == "left" else app,
                timeout=120.0,
            )
            for name, heap in (("left", left), ("right", right))
        ]
        yield World(skyway, jvms[0], jvms[1], collector)
        for jvm in jvms:
            assert jvm.alive, jvm.quote_log()


def run(app: Sequence[str], jdk: Jdk, collector: str, case: Case, timeout: float) -> Outcome:
    """One case between JVMs of its own."""
    with world(app, jdk, collector, case.left, case.right, case.flags, case.churn) as pair:
        return pair.send(case, timeout=timeout)


def refused(pair: World, case: Case, *, timeout: float) -> Outcome:
    """A graph that the receiver's heap cannot hold; then one that it can."""
    outcome = Outcome(
        case.what, case.shape, case.size, pair.left.info.java_version, pair.collector, case.left, case.right
    )
    pair.left.build_workload(case.shape, size=case.size, root="graph")
    watches = [Watch(pair.left), Watch(pair.right)]
    begun = time.monotonic()
    try:
        pair.skyway.transfer("left:graph", "right", destination="checked", timeout=timeout)
    except HeapFull as error:
        outcome.said = str(error)
    else:
        raise AssertionError(f"{case.size} objects fit a heap of {case.right} MiB")
    outcome.seconds = round(time.monotonic() - begun, 3)
    sizes = re.search(r"([\d.]+) MiB needed so far, ([\d.]+) MiB free of ([\d.]+) MiB", outcome.said)
    assert sizes, outcome.said
    # Eden and one survivor space are what a collector calls its heap.
    assert case.right * 0.6 < float(sizes[3]) <= case.right, outcome.said
    assert float(sizes[1]) > 0, outcome.said
    pair.left.drop_root("graph")
    assert not pair.right.roots(), "something of it became visible"
    pair.send(Case("afterwards", "list", 10_000, case.left, case.right), timeout=timeout)
    outcome.sender, outcome.receiver = (watch.read() for watch in watches)
    return outcome


def costs(pair: World, shape: str, small: int, large: int, times: int, *, timeout: float) -> dict[str, float]:
    """Nanoseconds of an object in a small graph and in a large one: medians of so many transfers of each, and the part
    of it in which the receiver collected. The receiver has a collection before each transfer.
    """
    found = {}
    pair.left.build_workload("one", size=1, root="record")
    link = pair.skyway.connect("left", "right")
    for name, size, warm in (("small", small, 20), ("large", large, 2)):
        pair.left.build_workload(shape, size=size, root="graph")
        spent = []
        for _ in range(warm + times):
            link.start_transfer("record", "collect", timeout=timeout).result()
            result = link.start_transfer("graph", "cost", discard=True, timeout=timeout).result()
            each = 1e6 / result.objects
            spent.append((result.total_ms * each, result.receiver_gc.millis * each))
        pair.left.drop_root("graph")
        total, collecting = sorted(spent[warm:])[times // 2]
        found[f"{name}, ns an object"] = round(total, 1)
        found[f"{name}, collecting"] = round(collecting, 1)
    found["ratio"] = round(found["large, ns an object"] / found["small, ns an object"], 2)
    return found


def in_a_row(pair: World, count: int, seconds: float) -> dict[str, float]:
    """Transfers of one record, one after the other, until there were so many or the time is over.

    What the processes hold is looked at after a tenth of it and at the end.
    """
    pair.left.build_workload("one", size=7, root="record")
    link = pair.skyway.connect("left", "right")
    begun = time.monotonic()
    done = 0
    early: list[int] = []
    while done < count and time.monotonic() - begun < seconds:
        link.start_transfer("record", "record", timeout=240.0).result()
        done += 1
        if not early and (done == count // 10 or time.monotonic() - begun > seconds / 10):
            early = held(pair)
    late = held(pair)
    pair.left.drop_root("record")
    pair.right.drop_root("record")
    return {
        "transfers": done,
        "seconds": round(time.monotonic() - begun, 1),
        **{
            f"{side} {what}": value
            for side, k in (("left", 0), ("right", 1))
            for what, value in (
                ("engine bytes", late[2 * k]),
                ("engine bytes early", early[2 * k]),
                ("RSS growth", late[2 * k + 1] - early[2 * k + 1]),
            )
        },
    }


def held(pair: World) -> list[int]:
    """What each side holds: the engine outside of the heap, and the process."""
    return [
        value for jvm in (pair.left, pair.right) for value in (jvm.statistics().native_bytes, _status(jvm, "VmRSS"))
    ]


def streamed(app: Sequence[str], jdk: Jdk, collector: str, heap: int, count: int, seconds: float) -> dict[str, float]:
    """Small records through an object stream over a socket, each an image of its own, until there were so many or the
    time is over; the reader checks each. What the processes hold is looked at meanwhile and at the end.
    """
    with Orchestrator() as skyway:

        def launch(name: str, *args: str) -> Jvm:
            flags = [f"-Xms{heap}m", "-XX:+AlwaysPreTouch"]
            return skyway.launch(
                name, jdk=jdk, collector=collector, heap=f"{heap}m", java_args=flags, app=[*app, *args], timeout=120.0
            )

        right = launch("right", "read")
        port = _said(right, r"^port (\d+)$", 60.0)
        begun = time.monotonic()
        left = launch("left", "write", str(port), str(count), str(seconds))
        pair = World(skyway, left, right, collector)
        samples: list[list[int]] = []
        while not re.search(r"^written ", _log(left), re.MULTILINE):
            assert left.alive, left.quote_log()
            assert time.monotonic() - begun < seconds + 60, "the writer has stopped writing"
            samples.append(held(pair))
            time.sleep(max(0.05, min(5.0, seconds / 100)))
        written = _said(left, r"^written (\d+)$", 60.0)
        read = _said(right, r"^read (\d+)$", 60.0)
        spent = round(time.monotonic() - begun, 1)
        samples.append(held(pair))
        assert read == written, f"{written} records were written, {read} read"
        early = samples[len(samples) // 10]
        return {
            "transfers": written,
            "seconds": spent,
            **{
                f"{side} {what}": value
                for side, k in (("left", 0), ("right", 1))
                for what, value in (
                    ("engine bytes", samples[-1][2 * k]),
                    ("engine bytes most", max(sample[2 * k] for sample in samples)),
                    ("RSS growth", samples[-1][2 * k + 1] - early[2 * k + 1]),
                )
            },
        }


def _log(jvm: Jvm) -> str:
    assert jvm.log
    return jvm.log.read_text()


def _said(jvm: Jvm, pattern: str, seconds: float) -> int:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        found = re.search(pattern, _log(jvm), re.MULTILINE)
        if found:
            return int(found[1])
        time.sleep(0.05)
    raise AssertionError(f"'{jvm.name}' has not said {pattern} within {seconds:g} s: {_log(jvm)}")
