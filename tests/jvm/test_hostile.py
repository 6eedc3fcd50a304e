"""Whoever reaches a JVM's ports on the loopback address, without the token or with it, does not bring the JVM down,
does not keep others from being served, and leaves nothing behind.
"""

from __future__ import annotations

import os
import select
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from functools import partial

import grpc
import pytest

from skyway_py import Jdk, Jvm, LinkError, Orchestrator
from skyway_py import _rpc as rpc
from skyway_py._proto import agent_pb2 as pb
from skyway_py._proto.agent_pb2_grpc import AgentControlStub
from tests.jvm import hostile
from tests.jvm.hostile import AttackedLink, Hello, Prepared, dial, frame, read_to_end, send
from tests.jvm.jvms import FEATURES, VERIFY, Compiled, jdk_of

#: In the stack of each thread that serves a link's port, while the handshake lasts and after it.
SERVING = "LinkListener.handshake"
#: Of LinkListener: connections that have not shown the token.
MOST_GUESTS = 64
#: Of Doorman: connections on which no call with the token has come.
MOST_STRANGERS = 512
CROWD = 1000

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


@dataclass(frozen=True)
class Target:
    """A pair of which the receiver is attacked."""

    skyway: Orchestrator
    left: Jvm
    right: Jvm
    jdk: Jdk
    hello: Hello

    def transfer(self, attack: Callable[[int], None] = lambda _: None) -> None:
        """A new link, attacked while it is being made, and a verified transfer over it."""
        with AttackedLink(self.left, self.right, attack) as link:
            assert link.transport == "tcp"
            assert link.transfer("fixture.Data#INSTANCE", "arrived", verify=True, timeout=hostile.PATIENCE).verified
        assert self.right.drop_root("arrived")

    def assert_sound(self) -> None:
        """The JVM lives and does its work, and no link of an attacker is left."""
        assert self.right.alive, self.right.quote_log()
        self.transfer()
        hostile.wait_for_no_link(self.right)

    def prepare(self) -> tuple[Prepared, Hello]:
        """A link that the receiver waits for, and the hello that would begin it."""
        prepared = hostile.prepare(self.left, self.right)
        return prepared, replace(self.hello, link_id=prepared.link_id, pid=os.getpid(), fd=-1)

    def greet(self) -> socket.socket:
        """A link whose handshake is done, of which we are the sender."""
        prepared, hello = self.prepare()
        connection = dial(prepared.port)
        send(connection, prepared.token + hello.encode())
        version, refusal = struct.unpack_from(">ii", hostile.read_message(connection))
        assert (version, refusal) == (hostile.VERSION, 0)
        return connection


@pytest.fixture(scope="module", params=FEATURES)
def target(
    request: pytest.FixtureRequest, compiled: Compiled, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Target]:
    jdk = jdk_of(request.param)
    directory = tmp_path_factory.mktemp(f"hostile-{request.param}")
    with Orchestrator() as skyway:
        left, right = (
            skyway.launch(
                name,
                jdk=jdk,
                collector="g1",
                heap="256m",
                java_args=VERIFY,
                app=compiled.app(),
                directory=directory,
            )
            for name in ("left", "right")
        )
        yield Target(skyway, left, right, jdk, hostile.sender_hello(left, right))
        # All attackers have hung up: no thread still waits for one of them.
        hostile.wait_for_threads(right, jdk, SERVING, 0)
        assert right.log
        assert right.log.read_text() == "", "strangers can write to the application's log"
    assert not list(directory.glob("hs_err*")), "a JVM crashed"


# ---- a link's port, without its token


def _tls_hello() -> bytes:
    context = ssl.create_default_context()
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    with pytest.raises(ssl.SSLWantReadError):
        context.wrap_bio(incoming, outgoing, server_hostname="localhost").do_handshake()
    return outgoing.read()


STRANGERS = {
    "wrong token": os.urandom(32),
    "token of zeros": bytes(32),
    "truncated token": os.urandom(31),
    "garbage": os.urandom(1 << 20),
    "HTTP": b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "HTTP/2": PREFACE + bytes(64),
    "TLS": _tls_hello(),
}


@pytest.mark.parametrize("said", STRANGERS)
def test_a_link_without_the_token(target: Target, said: str) -> None:
    def attack(port: int) -> None:
        with closing(dial(port)) as connection:
            send(connection, STRANGERS[said])
            hostile.finish(connection)
            assert read_to_end(connection) == b"", "a stranger learned something"

    # The right sender still gets the very link that was attacked.
    target.transfer(attack)
    target.assert_sound()


def test_a_link_with_another_links_token(target: Target) -> None:
    other = hostile.prepare(target.left, target.right)

    def attack(port: int) -> None:
        with closing(dial(port)) as connection:
            send(connection, other.token)
            assert read_to_end(connection) == b""

    target.transfer(attack)
    hostile.close(target.right, other)
    target.assert_sound()


def test_a_crowd_at_a_links_port(target: Target) -> None:
    """Connections that say nothing are many, have few threads, and do not keep the right sender out."""
    with ExitStack() as stack:
        crowd: list[socket.socket] = []

        def attack(port: int) -> None:
            crowd.extend(stack.enter_context(closing(dial(port))) for _ in range(CROWD))
            assert hostile.threads_in(target.right, target.jdk, SERVING) <= MOST_GUESTS

        target.transfer(attack)
        # The link was made: nobody else is waited for.
        for connection in crowd:
            assert read_to_end(connection) == b""
    target.assert_sound()


def test_half_open_connections_end(target: Target) -> None:
    """Those that say nothing, or stop in the middle, at both ports, while nothing else comes."""
    prepared, hello = target.prepare()
    parts = (b"", prepared.token[:31])
    with ExitStack() as stack:
        at_link = [stack.enter_context(closing(dial(prepared.port))) for _ in parts]
        at_control = [stack.enter_context(closing(dial(target.right.control_port))) for _ in range(3)]
        for connection, part in zip(at_link, parts, strict=True):
            send(connection, part)
        for connection, part in zip(at_control, (b"", PREFACE[:10], PREFACE + frame_of_http2(4)), strict=True):
            send(connection, part)
        for connection in (*at_link, *at_control):
            read_to_end(connection)
        # They did not use up the link; the one with the token may not stop in the middle either.
        last = stack.enter_context(closing(dial(prepared.port)))
        send(last, prepared.token + hello.encode()[:-1])
        hostile.finish(last)
        assert read_to_end(last) == b""
    target.assert_sound()


# ---- a link's port, with its token


def _hellos(hello: Hello) -> dict[str, bytes]:
    encoded = hello.encode()
    return {
        "length of the hello negative": struct.pack(">i", -1),
        "length of the hello too large": struct.pack(">i", (8 << 10) + 1),
        "length of the hello huge": struct.pack(">i", 0x7FFFFFFF) + bytes(1 << 16),
        "empty hello": struct.pack(">i", 0),
        "hello of garbage": struct.pack(">ii", 1000, hostile.VERSION) + os.urandom(996),
        "length of a text too large": struct.pack(">iii", 8, hostile.VERSION, 0x7FFFFFFF),
        "length of a text negative": struct.pack(">iii", 8, hostile.VERSION, -5),
        "truncated hello": encoded[:-3],
    }


@pytest.mark.parametrize("said", _hellos(Hello("", "", 0, 0)))
def test_a_hello_that_is_none(target: Target, said: str) -> None:
    prepared, hello = target.prepare()
    with closing(dial(prepared.port)) as connection:
        send(connection, prepared.token + _hellos(hello)[said])
        hostile.finish(connection)
        assert read_to_end(connection) == b""
    # The id is free again: nothing waits under it any more.
    request = pb.PrepareLinkRequest(link_id=prepared.link_id, peer_name="left")
    target.right.call(target.right.stub.PrepareLink, request, "preparing again")
    hostile.close(target.right, prepared)
    target.assert_sound()


REFUSED: dict[str, tuple[Callable[[Hello], Hello], bytes]] = {
    "version": (lambda hello: replace(hello, version=99), b"version 99"),
    "another link": (lambda hello: replace(hello, link_id="other"), b"belongs to another link"),
    "layout": (lambda hello: replace(hello, fingerprint="f" * 64), b"layouts of the two JVMs differ"),
    "no segments": (lambda hello: replace(hello, segment_bytes=0), b"segments of 0 bytes do not fit"),
    "negative segments": (lambda hello: replace(hello, segment_bytes=-(1 << 31)), b"do not fit the receiver"),
    "huge segments": (lambda hello: replace(hello, segment_bytes=0x7FFFFFFF), b"do not fit the receiver"),
    "huge slots": (lambda hello: replace(hello, slot_bytes=0x7FFFFFFF), b"do not fit the receiver"),
    "no slots": (lambda hello: replace(hello, slot_bytes=0), b"do not fit the receiver"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_hello_that_is_refused(target: Target, what: str) -> None:
    prepared, hello = target.prepare()
    change, reason = REFUSED[what]
    with closing(dial(prepared.port)) as connection:
        send(connection, prepared.token + change(hello).encode())
        assert reason in read_to_end(connection)
    target.assert_sound()


def test_memory_that_is_none_of_the_peers(target: Target) -> None:
    """A descriptor of the sender that is no sealed memory is not used, nor waited for; the link goes over TCP."""
    reading, writing = os.pipe()
    with open("/proc/self/exe", "rb") as file, ExitStack() as stack:
        stack.callback(os.close, reading)
        stack.callback(os.close, writing)
        unsealed = os.memfd_create("open")
        stack.callback(os.close, unsealed)
        os.ftruncate(unsealed, 1 << 20)
        for pid, fd in (
            (os.getpid(), reading),
            (os.getpid(), unsealed),
            (os.getpid(), file.fileno()),
            (os.getpid(), 0x7FFFFFFF),
            (-1, 0),
            (1, 0),
        ):
            prepared, hello = target.prepare()
            with closing(dial(prepared.port)) as connection:
                send(connection, prepared.token + replace(hello, pid=pid, fd=fd).encode())
                reply = hostile.read_message(connection)
                # Version, an empty refusal, no shared memory, and why not.
                assert struct.unpack_from(">iib", reply) == (hostile.VERSION, 0, 0)
                assert b"use TCP" in reply
    target.assert_sound()


FRAMES = {
    "garbage": os.urandom(1 << 16),
    "zeros": bytes(1 << 16),
    "another mark": struct.pack(">Iiq", 0x534B5A01, 0, 1),
    "type 0": frame(0),
    "type 9": frame(9),
    "a RESULT": frame(hostile.RESULT, b"", transfer=1),
    "an ACK": frame(hostile.ACK, bytes(12)),
    "a block of no transfer": frame(hostile.BLOCK, b"x"),
    "an end of no transfer": frame(hostile.END),
    "BEGIN too long": frame(hostile.BEGIN, length=(64 << 10) + 1),
    "BEGIN of negative length": frame(hostile.BEGIN, length=-1),
    "BEGIN without an image": frame(hostile.BEGIN, b"1234567"),
    "BEGIN with garbage": frame(hostile.BEGIN, bytes(8) + b"\xff" * 100),
    "BEGIN with other UTF-8": frame(hostile.BEGIN, bytes(8) + b"\x1a\x02\xff\xfe"),
    "two BEGINs": hostile.begin() + hostile.begin(),
    "a block too long": hostile.begin() + frame(hostile.BLOCK, length=0x7FFFFFFF),
    "a block of negative length": hostile.begin() + frame(hostile.BLOCK, length=-(1 << 31)),
    "a block of another transfer": hostile.begin() + frame(hostile.BLOCK, b"x", transfer=2),
    "an END with a payload": hostile.begin() + frame(hostile.END, b"x"),
    "an ERROR of garbage": hostile.begin() + frame(hostile.ERROR, b"\xff" * 100),
    "an acknowledgement": hostile.begin() + frame(hostile.ACK, bytes(12)),
    "half a header": frame(hostile.ALIVE)[:9],
    "half a block": hostile.begin() + frame(hostile.BLOCK, bytes(100), length=50_000),
}


@pytest.mark.parametrize("said", FRAMES)
def test_frames_that_are_none(target: Target, said: str) -> None:
    with closing(target.greet()) as connection:
        send(connection, FRAMES[said])
        hostile.finish(connection)
        read_to_end(connection)
    target.assert_sound()


@pytest.mark.parametrize(
    "block",
    [b"", b"x", bytes(4096), os.urandom(4096), b"\xff" * 65536],
    ids=["empty", "byte", "zeros", "random", "ones"],
)
def test_blocks_that_are_none(target: Target, block: bytes) -> None:
    failed = target.right.statistics().transfers_failed
    with closing(target.greet()) as connection:
        send(connection, hostile.begin() + frame(hostile.BLOCK, block) + frame(hostile.END))
        got = b""
        while struct.pack(">I", hostile.MARK | hostile.ERROR) not in got:
            part = connection.recv(1 << 16)
            assert part, f"the link ended without an ERROR: {got!r}"
            got += part
    assert target.right.statistics().transfers_failed == failed + 1
    target.assert_sound()


def test_an_unknown_serializer(target: Target) -> None:
    with closing(target.greet()) as connection:
        send(
            connection, hostile.begin(serializer="java.lang.Runtime") + frame(hostile.BLOCK, b"x") + frame(hostile.END)
        )
        while b"java.lang.Runtime" not in connection.recv(1 << 16):
            pass
    target.assert_sound()


# ---- a receiver that is none


def test_receivers_that_are_none(target: Target) -> None:
    """The JVM that connects is told garbage."""
    replies = {
        b"": "closed",
        struct.pack(">i", -1): "over the limit",
        struct.pack(">i", 0x7FFFFFFF): "over the limit",
        struct.pack(">ii", 4, 1): "malformed",
        struct.pack(">iii", 8, 1, 0x7FFFFFFF): "malformed",
        struct.pack(">i", 100) + os.urandom(40): "closed",
        b"HTTP/1.1 400 Bad Request\r\n\r\n": "over the limit",
    }
    for reply, message in replies.items():
        with socket.create_server(("127.0.0.1", 0)) as server:
            server.settimeout(hostile.PATIENCE)
            thread = threading.Thread(target=_answer, args=(server, reply))
            thread.start()
            prepared = hostile.prepare(target.left, target.right)
            with pytest.raises(LinkError, match=message):
                hostile.open_link(target.left, target.right, prepared, port=server.getsockname()[1])
            thread.join(hostile.PATIENCE)
            hostile.close(target.right, prepared)
    target.assert_sound()
    assert target.left.alive


def _answer(server: socket.socket, reply: bytes) -> None:
    connection, _ = server.accept()
    with closing(connection):
        connection.settimeout(hostile.PATIENCE)
        hostile.read_exactly(connection, 32)
        hostile.read_message(connection)
        send(connection, reply)


# ---- the control port


def frame_of_http2(
    kind: int, payload: bytes = b"", *, length: int | None = None, flags: int = 0, stream: int = 0
) -> bytes:
    size = len(payload) if length is None else length
    return struct.pack(">I", size)[1:] + struct.pack(">BBI", kind, flags, stream) + payload


CONTROL = {
    "garbage": os.urandom(1 << 16),
    "zeros": bytes(1 << 16),
    "HTTP/1.1": b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "TLS": _tls_hello(),
    "half a preface": PREFACE[:12],
    "a frame too long": PREFACE + frame_of_http2(4) + frame_of_http2(0, length=0xFFFFFF, stream=1) + bytes(1 << 16),
    "headers of garbage": PREFACE + frame_of_http2(4) + frame_of_http2(1, b"\xff" * 200, flags=4, stream=1),
    "no settings": PREFACE + frame_of_http2(1, b"\x82", flags=4, stream=1),
    "settings of odd length": PREFACE + frame_of_http2(4, b"12345"),
    "window of zero": PREFACE + frame_of_http2(4) + frame_of_http2(8, bytes(4)),
    "headers without an end": PREFACE + frame_of_http2(4) + frame_of_http2(1, b"\x82", stream=1) * 50,
}


@pytest.mark.parametrize("said", CONTROL)
def test_garbage_at_the_control_port(target: Target, said: str) -> None:
    with closing(dial(target.right.control_port)) as connection:
        send(connection, CONTROL[said])
        hostile.finish(connection)
        read_to_end(connection)
    target.assert_sound()


def test_calls_without_the_token(target: Target) -> None:
    with rpc.loopback_channel(target.right.control_port) as channel:
        stub = AgentControlStub(channel)
        right = target.right._metadata
        for metadata in (None, rpc.token_metadata(""), rpc.token_metadata("x" * 64), rpc.token_metadata("x" * 5000)):
            calls: tuple[Callable[..., object], ...] = (
                partial(stub.ListRoots, pb.ListRootsRequest()),
                partial(stub.Shutdown, pb.ShutdownRequest(exit_jvm=True)),
                partial(stub.DropRoot, pb.DropRootRequest(name="x")),
            )
            for refused in calls:
                with pytest.raises(grpc.RpcError) as caught:
                    refused(metadata=metadata, timeout=hostile.PATIENCE)
                assert "StatusCode.UNAUTHENTICATED" in str(caught.value)
                assert right[0][1] not in str(caught.value)
        call = channel.unary_unary(
            "/skyway_py._proto.AgentControl/ListRoots", request_serializer=bytes, response_deserializer=bytes
        )
        for message in (b"\xff" * 100, bytes(20 << 20)):
            with pytest.raises(grpc.RpcError, match=r"StatusCode\.(UNAUTHENTICATED|RESOURCE_EXHAUSTED)"):
                call(message, timeout=hostile.PATIENCE)
    target.assert_sound()


def test_calls_that_are_none_with_the_token(target: Target) -> None:
    """Whoever knows the token can end the JVM, but not by a request that it cannot read. At the other JVM: gRPC logs
    what the orchestrator should never send.
    """
    with rpc.loopback_channel(target.left.control_port) as channel:
        for method, request, status in (
            ("ListRoots", b"\xff" * 100, "StatusCode.INTERNAL|StatusCode.CANCELLED|StatusCode.UNKNOWN"),
            ("ListRoots", bytes(20 << 20), "StatusCode.RESOURCE_EXHAUSTED|StatusCode.CANCELLED"),
            ("Nothing", b"", "StatusCode.UNIMPLEMENTED"),
            ("Transfer", b"\xff" * 100, "StatusCode"),
        ):
            call = channel.unary_unary(
                f"/skyway_py._proto.AgentControl/{method}", request_serializer=bytes, response_deserializer=bytes
            )
            with pytest.raises(grpc.RpcError, match=status):
                call(request, metadata=target.left._metadata, timeout=hostile.PATIENCE)
    assert target.left.alive, target.left.quote_log()
    target.assert_sound()


def test_calls_that_never_send_their_request(target: Target) -> None:
    """Without the token a call ends before its request, and has no thread of its own meanwhile."""
    ended = threading.Event()

    def nothing() -> Iterator[bytes]:
        ended.wait(hostile.PATIENCE)
        yield from ()

    with rpc.loopback_channel(target.right.control_port) as channel:
        call = channel.stream_unary(
            "/skyway_py._proto.AgentControl/ListRoots", request_serializer=bytes, response_deserializer=bytes
        )
        waiting = [call.future(nothing(), timeout=hostile.PATIENCE) for _ in range(200)]
        for future in waiting:
            assert future.code() == grpc.StatusCode.UNAUTHENTICATED
        ended.set()
    target.assert_sound()


def test_no_thread_is_left(target: Target) -> None:
    """After all that, and before the crowd: a thread that waits for an attacker would still be here."""
    hostile.wait_for_threads(target.right, target.jdk, SERVING, 0)
    hostile.wait_for_threads(target.left, target.jdk, "Connector.greet", 0)


def test_a_crowd_at_the_control_port(target: Target) -> None:
    """Connections on which no call comes are closed, the oldest first; the orchestrator's calls go on."""
    with ExitStack() as stack:
        crowd = [stack.enter_context(closing(dial(target.right.control_port))) for _ in range(CROWD)]
        target.transfer()
        _wait_for_closed(crowd, CROWD - MOST_STRANGERS)
        # One that comes now is served.
        with rpc.loopback_channel(target.right.control_port) as channel:
            AgentControlStub(channel).ListRoots(
                pb.ListRootsRequest(), metadata=target.right._metadata, timeout=hostile.PATIENCE
            )
        for connection in crowd:
            read_to_end(connection)
    target.assert_sound()


def _wait_for_closed(connections: list[socket.socket], least: int) -> None:
    poll = select.poll()
    for connection in connections:
        poll.register(connection, select.POLLRDHUP)
    deadline = time.monotonic() + hostile.PATIENCE
    while len(poll.poll(0)) < least:
        assert time.monotonic() < deadline, "the JVM keeps every connection"
        time.sleep(0.05)
