"""Faults at random moments of a transfer, and what must hold after each of them.

The seed decides which fault comes when; how far a transfer is at that time, the machine decides.
"""

from __future__ import annotations

import contextlib
import math
import os
import random
import resource
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import grpc

from skyway_py import (
    Digest,
    HeapFull,
    Jvm,
    JvmLost,
    LinkClosed,
    LinkError,
    Orchestrator,
    PeerFailed,
    RunningTransfer,
    SkywayError,
    TransferCancelled,
    TransferError,
    TransferResult,
    TransferTimeout,
)
from skyway_py import _rpc as rpc
from skyway_py._link import Link
from skyway_py._proto import agent_pb2 as pb
from skyway_py._proto import agent_pb2_grpc as pb_grpc
from skyway_py._server import _TypeRegistry

#: Seconds after which a process counts as stopped here: more than a busy machine lets a thread wait.
SILENCE: Final = 6.0
#: Objects of the graph that is on its way when something happens.
SIZE: Final = 200_000
#: How long something that ends by itself may take to do so.
PATIENCE: Final = 60.0
#: The agent's threads that stay as long as it does, or end when they have been idle; others belong to a link.
LASTING: Final = ("skyway-call-", "skyway-door-", "skyway-net-", "skyway-ticker", "skyway-lifeline")
#: Bytes a second of a slow link.
SLOW: Final = 3e6
#: Enough for a few slots of a link's shared memory, not for an image.
FEW_BYTES: Final = 3 << 20

Outcome = TransferResult | SkywayError


class Relay:
    """A link's connection through this process, so that it can be cut, be slow, or be listened to."""

    def __init__(self, port: int, rate: float = math.inf, keep: Callable[[bytes], object] = len) -> None:
        self._target = port
        #: Called with what comes from the side that has connected.
        self._keep = keep
        #: Bytes a second, in each direction.
        self._rate = rate
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._server.getsockname()[1]
        self._sockets: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        # One connection is all that a link has.
        with contextlib.suppress(OSError):
            with self._server:
                near, _ = self._server.accept()
            with near, socket.create_connection(("127.0.0.1", self._target)) as far:
                self._sockets = [near, far]
                back = threading.Thread(target=self._copy, args=(far, near, len), daemon=True)
                back.start()
                self._copy(near, far, self._keep)
                back.join()

    def _copy(self, source: socket.socket, target: socket.socket, keep: Callable[[bytes], object]) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                keep(data)
                time.sleep(len(data) / self._rate)
                target.sendall(data)
        self.cut()

    def cut(self) -> None:
        """Ends the connection on both sides."""
        for end in self._sockets:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


class RelayedLink(Link):
    """A link whose connection goes through a relay. Blocks in shared memory do not."""

    relay: Relay

    def _relay(self, port: int) -> Relay:
        return Relay(port)

    def _prepare(self) -> pb.PrepareLinkResponse:
        prepared = super()._prepare()
        self.relay = self._relay(prepared.port)
        prepared.port = self.relay.port
        return prepared


class SlowLink(RelayedLink):
    """One over which the graph of a fault takes seconds."""

    def _relay(self, port: int) -> Relay:
        return Relay(port, SLOW)


@dataclass
class World:
    """Two JVMs, launched again when they have ended, between which graphs go until something happens."""

    skyway: Orchestrator
    app: Callable[..., list[str]]
    jdk: int
    directory: Path
    #: How long the last undisturbed transfer took, in seconds.
    usual: float = 1.0
    launches: int = 0
    digest: Digest | None = None
    baseline: dict[int, int] = field(default_factory=dict)

    def jvm(self, name: str) -> Jvm:
        """The JVM of this name, which runs."""
        jvm = self.skyway.jvms.get(name)
        if jvm is not None and jvm.alive:
            return jvm
        self.launches += 1
        end = self._end_file(name)
        end.unlink(missing_ok=True)
        jvm = self.skyway.launch(
            name, jdk=self.jdk, collector="g1", heap="400m", app=self.app("fixture.Mortal", str(end), name)
        )
        if name == "left":
            jvm.build_workload("graph", size=SIZE)
            jvm.build_workload("boxes", size=1_000, root="small")
            digest = jvm.digest("graph")
            assert self.digest in (None, digest), "the same workload is another graph this time"
            self.digest = digest
        self.baseline[jvm.pid] = jvm.statistics().native_bytes
        return jvm

    def _end_file(self, name: str) -> Path:
        return self.directory / f"end-of-{name}"

    def pair(self) -> tuple[Jvm, Jvm]:
        """Both, of which a transfer has gone from one to the other."""
        left, right = self.jvm("left"), self.jvm("right")
        for transport in ("shm", "tcp"):
            result = self.skyway.transfer("left:graph", "right:before", transport=transport, timeout=PATIENCE)
            self.usual = result.total_ms / 1e3
            right.drop_root("before")
        return left, right

    def end_main(self, name: str) -> None:
        """Lets the application's main method return."""
        self._end_file(name).touch()

    # What must hold afterwards

    def check(self, transport: str, outcome: Outcome) -> None:
        """After the fault, whatever came of it: nothing is half visible, nothing is left, and all goes on."""
        right = self.skyway.jvm("right")
        if right.alive:
            visible = "arrived" in [root.name for root in right.roots()]
            if isinstance(outcome, TransferResult):
                assert visible, "the transfer said that the graph is visible"
            if visible:
                # It may have become visible in the very moment before the fault: then it is whole.
                assert right.digest("arrived") == self.digest
                right.drop_root("arrived")
        self.jvm("left")
        self.jvm("right")
        again = self.skyway.transfer("left:small", "right:next", transport=transport, verify=True, timeout=PATIENCE)
        assert again.verified
        for link in self.skyway.links:
            link.close()
        for name in ("left", "right"):
            self.check_clean(self.skyway.jvm(name))

    def check_clean(self, jvm: Jvm) -> None:
        """No link is open: so there is no memory of one, and no thread."""
        wait_for(lambda: not memory_files(jvm.pid), lambda: f"'{jvm.name}' has {memory_files(jvm.pid)}")
        wait_for(lambda: not link_threads(jvm.pid), lambda: f"'{jvm.name}' has threads {link_threads(jvm.pid)}")
        wait_for(
            lambda: jvm.statistics().native_bytes <= self.baseline[jvm.pid],
            lambda: f"'{jvm.name}' had {self.baseline[jvm.pid]} bytes, and has {jvm.statistics().native_bytes}",
        )

    def check_threads_end(self) -> None:
        """Threads of calls end when they have been idle for a while; one that hangs does not."""
        for jvm in self.skyway.jvms.values():
            self._check_calls_end(jvm)

    def _check_calls_end(self, jvm: Jvm) -> None:
        wait_for(lambda: not jvm.alive or not calls(jvm.pid), lambda: f"'{jvm.name}' has threads {calls(jvm.pid)}")


def wait_for(condition: Callable[[], bool], otherwise: Callable[[], str]) -> None:
    """Waits for what must become true."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, otherwise()
        time.sleep(0.05)


def gone(jvm: Jvm) -> None:
    """Waits for the end of what must end: the transfer may have been over before."""
    wait_for(lambda: not jvm.alive, lambda: f"'{jvm.name}' still runs")


def memory_files(pid: int) -> list[str]:
    """The descriptors of links' shared memory in a process, its own and its peers'."""
    found = []
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            target = os.readlink(descriptor)
            if "memfd:skyway-link" in target:
                found.append(f"{descriptor.name} {target}")
    return found


def threads(pid: int) -> list[str]:
    """The names of a process's threads, as far as the kernel keeps them: 15 characters."""
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):
            found.append((task / "comm").read_text().strip())
    return found


def link_threads(pid: int) -> list[str]:
    """Those of our threads that only a link has."""
    return [name for name in threads(pid) if name.startswith("skyway-") and not name.startswith(LASTING)]


def calls(pid: int) -> list[str]:
    """Those that serve calls, ship or read answers."""
    return [name for name in threads(pid) if name.startswith("skyway-call-")]


# The faults. Each gives what became of the transfer, and says what it must have been if it failed.


@dataclass(frozen=True)
class Strike:
    """One fault at one moment."""

    world: World
    transport: str
    #: Between 0, the beginning of a transfer, and 1, its usual end.
    moment: float

    def start(self, destination: str = "right:arrived", **options: float) -> RunningTransfer:
        return self.world.skyway.start_transfer(
            "left:graph", destination, transport=self.transport, timeout=options.get("timeout", PATIENCE)
        )

    def during(self, running: RunningTransfer, fault: Callable[[], object]) -> Outcome:
        """The fault happens while the transfer runs. An end that takes longer than its time limit is a failure."""
        with ThreadPoolExecutor(1) as pool:
            later: Future[TransferResult] = pool.submit(running.finish)
            time.sleep(self.moment * self.world.usual)
            fault()
            try:
                return later.result(2 * PATIENCE)
            except SkywayError as error:
                return error


def expect(outcome: Outcome, kinds: tuple[type[SkywayError], ...], side: str, *words: str) -> None:
    """If the transfer failed, then in one of these ways, and the message has these words."""
    if isinstance(outcome, SkywayError):
        assert isinstance(outcome, kinds), repr(outcome)
        assert outcome.side == side, f"{outcome.side!r}: {outcome}"
        for word in words:
            assert word in str(outcome), f"'{word}' is missing: {outcome}"


def kill_sender(s: Strike) -> Outcome:
    left, _ = s.world.pair()
    outcome = s.during(s.start(), lambda: left.identity.signal(signal.SIGKILL))
    gone(left)
    expect(outcome, (JvmLost,), "sender", "JVM 'left'", "SIGKILL", "last words of left")
    return outcome


def kill_receiver(s: Strike) -> Outcome:
    _, right = s.world.pair()
    outcome = s.during(s.start(), lambda: right.identity.signal(signal.SIGKILL))
    gone(right)
    expect(outcome, (PeerFailed,), "receiver", "JVM 'right'", "SIGKILL", "last words of right")
    return outcome


def stop_sender(s: Strike) -> Outcome:
    left, _ = s.world.pair()
    try:
        outcome = s.during(s.start(), lambda: left.identity.signal(signal.SIGSTOP))
    finally:
        left.identity.signal(signal.SIGCONT)
    expect(outcome, (JvmLost,), "sender", "JVM 'left'", "is stopped", "last words of left")
    return outcome


def stop_receiver(s: Strike) -> Outcome:
    _, right = s.world.pair()
    try:
        outcome = s.during(s.start(), lambda: right.identity.signal(signal.SIGSTOP))
    finally:
        right.identity.signal(signal.SIGCONT)
    expect(outcome, (PeerFailed,), "receiver", "right has been silent for", "is stopped", "last words of right")
    return outcome


def end_sender(s: Strike) -> Outcome:
    left, _ = s.world.pair()
    outcome = s.during(s.start(), lambda: s.world.end_main("left"))
    gone(left)
    expect(outcome, (JvmLost,), "sender", "JVM 'left'", "exit code 0", "last words of left")
    return outcome


def end_receiver(s: Strike) -> Outcome:
    _, right = s.world.pair()
    outcome = s.during(s.start(), lambda: s.world.end_main("right"))
    gone(right)
    expect(outcome, (PeerFailed,), "receiver", "JVM 'right'", "exit code 0", "last words of right")
    return outcome


def exit_in_hook(s: Strike) -> Outcome:
    _, right = s.world.pair()
    outcome = s.during(s.start("right:exit"), lambda: None)
    gone(right)
    assert isinstance(outcome, SkywayError), "the receiver has ended before it could say that the graph is visible"
    expect(outcome, (PeerFailed,), "receiver", "JVM 'right'", "exit code 7", "last words of right")
    return outcome


def throw_in_hook(s: Strike) -> Outcome:
    _, right = s.world.pair()
    outcome = s.during(s.start("right:throw"), lambda: None)
    assert isinstance(outcome, SkywayError)
    expect(outcome, (PeerFailed,), "receiver", 'hook for "throw" failed', "the hook says no")
    assert "throw" not in [root.name for root in right.roots()]
    return outcome


def cancel(s: Strike) -> Outcome:
    s.world.pair()
    running = s.start()
    outcome = s.during(running, running.cancel)
    expect(outcome, (TransferCancelled,), "")
    return outcome


def cut_link(s: Strike) -> Outcome:
    left, right = s.world.pair()
    link = RelayedLink(left, right, s.transport)
    with link:
        outcome = s.during(link.start_transfer("graph", "arrived", timeout=PATIENCE), link.relay.cut)
    # The sender cannot tell a cut from a receiver that has closed. Before the transfer began it is the sender's error.
    side = "sender" if isinstance(outcome, LinkClosed) else "receiver"
    expect(outcome, (PeerFailed, LinkError), side, "right", "connection")
    return outcome


def fill_shared_memory(s: Strike) -> Outcome:
    left, _ = s.world.pair()
    for link in s.world.skyway.links:
        # A new one has no memory yet.
        link.close()
    before = resource.prlimit(left.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(left.pid, resource.RLIMIT_FSIZE, (FEW_BYTES, before[1]))
    try:
        outcome = s.during(s.start(), lambda: None)
    finally:
        resource.prlimit(left.pid, resource.RLIMIT_FSIZE, before)
    if s.transport == "shm":
        assert isinstance(outcome, SkywayError), "an image that is larger than its memory has arrived"
        expect(outcome, (HeapFull,), "sender", "shared memory is full or limited")
    else:
        assert isinstance(outcome, TransferResult), outcome
    return outcome


def slow_link(s: Strike) -> Outcome:
    """It arrives later, or the time limit ends it."""
    left, right = s.world.pair()
    link = SlowLink(left, right, s.transport)
    limit = PATIENCE if s.moment < 0.45 else s.moment
    with link:
        outcome = s.during(link.start_transfer("graph", "arrived", timeout=limit), lambda: None)
    expect(outcome, (TransferTimeout,), "sender")
    assert isinstance(outcome, TransferResult) or limit < PATIENCE, outcome
    return outcome


def registry_gone(s: Strike) -> Outcome:
    """Classes that nobody has asked about cannot leave; others can, and all can when it is back."""
    # A sender that has not asked yet.
    s.world.skyway.stop(s.world.jvm("left"))
    left, right = s.world.pair()
    server = s.world.skyway._server
    left.build_workload("media", size=1_000)

    def send(root: str) -> Outcome:
        try:
            return s.world.skyway.transfer(f"left:{root}", f"right:{root}", transport=s.transport, timeout=PATIENCE)
        except SkywayError as error:
            return error

    assert isinstance(send("small"), TransferResult)
    server._server.stop(None).wait()
    try:
        outcome = send("media")
        again = send("small")
    finally:
        server._server = fresh = grpc.server(
            ThreadPoolExecutor(4), interceptors=[rpc.TokenInterceptor(s.world.skyway._token)]
        )
        pb_grpc.add_TypeRegistryServicer_to_server(_TypeRegistry(server.types), fresh)
        pb_grpc.add_RendezvousServicer_to_server(server._rendezvous, fresh)
        assert fresh.add_insecure_port(f"127.0.0.1:{server.port}") == server.port
        fresh.start()
    expect(
        outcome,
        (TransferError, LinkError),
        "sender",
        "type registry does not answer",
        "does the orchestrator still run?",
    )
    assert isinstance(again, TransferResult), again
    # gRPC waits longer after each attempt that failed.
    wait_for(
        lambda: isinstance(send("media"), TransferResult), lambda: f"not even with the registry: {send('media')!r}"
    )
    for name in ("media", "small"):
        right.drop_root(name)
    left.drop_root("media")
    return outcome


FAULTS: Final[dict[str, Callable[[Strike], Outcome]]] = {
    fault.__name__: fault
    for fault in (
        kill_sender,
        kill_receiver,
        stop_sender,
        stop_receiver,
        end_sender,
        end_receiver,
        exit_in_hook,
        throw_in_hook,
        cancel,
        cut_link,
        fill_shared_memory,
        slow_link,
        registry_gone,
    )
}


@contextlib.contextmanager
def world(app: Callable[..., list[str]], jdk: int, directory: Path) -> Iterator[World]:
    """An orchestrator with nothing in it yet."""
    with Orchestrator(silence=SILENCE) as skyway:
        yield World(skyway, app, jdk, directory)


def strike(world: World, name: str, seed: int) -> tuple[str, bool]:
    """One fault, and all checks after it; gives a line that says what happened, and whether the transfer failed."""
    rng = random.Random(f"{seed} {name}")
    attempt = Strike(world, rng.choice(("shm", "tcp")), rng.uniform(0.0, 0.9))
    said = f"{name} {attempt.transport} at {attempt.moment:.2f}, seed {seed}"
    try:
        outcome = FAULTS[name](attempt)
        world.check(attempt.transport, outcome)
    except (AssertionError, SkywayError) as error:
        raise AssertionError(f"{said}: {error!r}") from error
    return f"{said}: {type(outcome).__name__}", isinstance(outcome, SkywayError)
