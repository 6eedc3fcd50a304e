"""What an attacker on the same machine can say to a JVM's ports: raw bytes, and the link's protocol done wrongly."""

from __future__ import annotations

import secrets
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from skyway_py import Jdk, Jvm, Link, LinkError
from skyway_py._proto import agent_pb2 as pb

#: Longest that anything here waits, in seconds: only a JVM that hangs lets a test reach it.
PATIENCE: Final = 60.0
#: Of io.skyway.agent.link.Handshake and FrameType.
VERSION: Final = 1
BEGIN, BLOCK, END, ACK, CANCEL, ERROR, RESULT, ALIVE = range(1, 9)
MARK: Final = 0x534B5900


@dataclass(frozen=True)
class Hello:
    """The sender's part of a link's handshake; it follows the token."""

    link_id: str
    fingerprint: str
    segment_bytes: int
    slot_bytes: int
    version: int = VERSION
    pid: int = 0
    fd: int = -1

    def encode(self) -> bytes:
        body = struct.pack(">i", self.version)
        for text in (self.link_id.encode(), self.fingerprint.encode()):
            body += struct.pack(">i", len(text)) + text
        body += struct.pack(">iqii", self.segment_bytes, self.pid, self.fd, self.slot_bytes)
        return struct.pack(">i", len(body)) + body


def frame(kind: int, payload: bytes = b"", *, transfer: int = 1, length: int | None = None) -> bytes:
    """A frame; `length` may lie."""
    return struct.pack(">Iiq", MARK | kind, len(payload) if length is None else length, transfer) + payload


def begin(serializer: str = "") -> bytes:
    """The frame that begins a transfer."""
    message = pb.TransferRequest(transfer_id=secrets.token_hex(8), discard=True, serializer=serializer)
    return frame(BEGIN, struct.pack(">q", 7) + message.SerializeToString())


def dial(port: int, host: str = "127.0.0.1") -> socket.socket:
    """A connection whose reads do not wait for ever."""
    connection = socket.create_connection((host, port), timeout=PATIENCE)
    connection.settimeout(PATIENCE)
    return connection


def send(connection: socket.socket, data: bytes) -> None:
    """Writes what the other side still takes."""
    # It may have hung up: read_to_end sees that.
    with suppress(OSError):
        connection.sendall(data)


def read_to_end(connection: socket.socket) -> bytes:
    """What comes until the other side hangs up; fails when it does not."""
    got = b""
    try:
        while part := connection.recv(1 << 16):
            got += part
    except ConnectionError:
        return got
    except TimeoutError:
        pytest.fail(f"the connection is still open after {PATIENCE:g} s")
    return got


def finish(connection: socket.socket) -> None:
    """Says that nothing more will come, to whoever still listens."""
    with suppress(OSError):
        connection.shutdown(socket.SHUT_WR)


def read_exactly(connection: socket.socket, count: int) -> bytes:
    """That many bytes."""
    got = b""
    while len(got) < count:
        part = connection.recv(count - len(got))
        assert part, f"the connection was closed after {len(got)} of {count} bytes"
        got += part
    return got


def read_message(connection: socket.socket) -> bytes:
    """A hello or a reply, without its length."""
    return read_exactly(connection, struct.unpack(">i", read_exactly(connection, 4))[0])


def sender_hello(sender: Jvm, receiver: Jvm) -> Hello:
    """What the sender of a link says to this receiver, as heard by someone who stands in for the receiver."""
    prepared = prepare(sender, receiver)
    heard: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(PATIENCE)

        def listen() -> None:
            connection, _ = server.accept()
            with closing(connection):
                connection.settimeout(PATIENCE)
                assert read_exactly(connection, 32) == prepared.token
                heard.append(read_message(connection))

        thread = threading.Thread(target=listen)
        thread.start()
        with pytest.raises(LinkError, match="no link to"):
            open_link(sender, receiver, prepared, port=server.getsockname()[1])
        thread.join(PATIENCE)
    close(receiver, prepared)
    body = heard[0]
    version, length = struct.unpack_from(">ii", body)
    link_id = body[8 : 8 + length].decode()
    at = 8 + length
    (length,) = struct.unpack_from(">i", body, at)
    fingerprint = body[at + 4 : at + 4 + length].decode()
    segment, pid, fd, slot = struct.unpack_from(">iqii", body, at + 4 + length)
    assert pid == sender.pid
    assert link_id == prepared.link_id
    return Hello(link_id, fingerprint, segment, slot, version, pid, fd)


@dataclass(frozen=True)
class Prepared:
    """A link that a JVM waits for."""

    link_id: str
    port: int
    token: bytes
    host: str
    response: pb.PrepareLinkResponse


def prepare(sender: Jvm, receiver: Jvm) -> Prepared:
    """Makes the receiver listen."""
    link_id = secrets.token_hex(8)
    request = pb.PrepareLinkRequest(link_id=link_id, peer_name=sender.name)
    answer = receiver.call(receiver.stub.PrepareLink, request, "preparing")
    return Prepared(link_id, answer.port, answer.token, answer.host, answer)


def open_link(
    sender: Jvm, receiver: Jvm, prepared: Prepared, *, host: str | None = None, port: int | None = None
) -> int:
    """Makes the sender connect, perhaps to somewhere else."""
    request = pb.OpenLinkRequest(
        link_id=prepared.link_id,
        peer_name=receiver.name,
        host=host or prepared.host,
        port=port or prepared.port,
        token=prepared.token,
        peer_layout=prepared.response.layout,
        peer_pid=prepared.response.pid,
        transport=pb.TRANSPORT_TCP,
    )
    return sender.call(sender.stub.OpenLink, request, "opening").transport


def close(jvm: Jvm, prepared: Prepared) -> None:
    """Ends a link or the waiting for one."""
    jvm.call(jvm.stub.CloseLink, pb.CloseLinkRequest(link_id=prepared.link_id), "closing")


class AttackedLink(Link):
    """Someone does something to the receiver's port after it has begun to listen and before the sender connects."""

    def __init__(self, sender: Jvm, receiver: Jvm, attack: Callable[[int], None]) -> None:
        self._attack = attack
        super().__init__(sender, receiver, "tcp")

    def _prepare(self) -> pb.PrepareLinkResponse:
        prepared = super()._prepare()
        self._attack(prepared.port)
        return prepared


def threads_in(jvm: Jvm, jdk: Jdk, text: str) -> int:
    """How many threads of the JVM have this text in their stacks or names."""
    command = [str(jdk.home / "bin" / "jcmd"), str(jvm.pid), "Thread.print"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}{jvm.quote_log()}"
    return sum(text in stack for stack in done.stdout.split("\n\n"))


def wait_for_no_link(jvm: Jvm) -> None:
    """Waits until the JVM receives over no link: each has a thread, of which the system knows the name."""
    deadline = time.monotonic() + PATIENCE
    while left := [name for name in _thread_names(jvm.pid) if name.startswith("skyway-land")]:
        if time.monotonic() > deadline:
            pytest.fail(f"links of '{jvm.name}' have not ended: {left}")
        time.sleep(0.02)


def _thread_names(pid: int) -> list[str]:
    names = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        # Threads end while we look.
        with suppress(OSError):
            names.append((task / "comm").read_text().strip())
    return names


def wait_for_threads(jvm: Jvm, jdk: Jdk, text: str, most: int) -> None:
    """Waits until no more threads than that are left there."""
    deadline = time.monotonic() + PATIENCE
    while (count := threads_in(jvm, jdk, text)) > most:
        if time.monotonic() > deadline:
            pytest.fail(f"{count} threads of '{jvm.name}' are still in {text}, {most} are expected")
        time.sleep(0.1)
