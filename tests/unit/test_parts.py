"""The small parts: names, numbers, properties, processes, types, errors, the token."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import asdict
from pathlib import Path
from unittest.mock import Mock

import grpc
import pytest

from skyway_py import InvalidRequest, LaunchError, Spread, UnknownJvm
from skyway_py import _paths as paths
from skyway_py import _rpc as rpc
from skyway_py import _units as units
from skyway_py._attach import check_target
from skyway_py._comparison import expand_serializers
from skyway_py._daemon._state import DaemonState
from skyway_py._errors import (
    AttachError,
    GraphRefused,
    InstallationError,
    PeerFailed,
    Refusal,
    SkywayError,
    TransferTimeout,
)
from skyway_py._handshake import properties_text
from skyway_py._names import default_destination, split_source, split_target
from skyway_py._process import ProcessIdentity
from skyway_py._proto import agent_pb2 as pb
from skyway_py._proto import agent_pb2_grpc as pb_grpc
from skyway_py._server import ControlServer
from skyway_py._transfer import RunningTransfer
from skyway_py._types import TypeTable


def test_names_of_graphs() -> None:
    assert split_source("left:com.acme.A#F.x[3]") == ("left", "com.acme.A#F.x[3]")
    assert split_source("left:a:b") == ("left", "a:b")
    assert split_target("right") == ("right", None)
    assert split_target("right:copy") == ("right", "copy")
    for text in ("left", "left:", ":x", "a b:x"):
        with pytest.raises(InvalidRequest):
            split_source(text)
    with pytest.raises(InvalidRequest, match="no destination"):
        split_target("right:")


@pytest.mark.parametrize(
    ("root", "destination"),
    [
        ("catalog", "catalog"),
        ("with.dots", "with.dots"),
        ("com.acme.Catalog#INSTANCE", "INSTANCE"),
        ("com.acme.Catalog#INSTANCE.byName", "byName"),
        ("com.acme.Catalog#INSTANCE.table[3].x", "table"),
    ],
)
def test_default_destination(root: str, destination: str) -> None:
    assert default_destination(root) == destination


def test_numbers_for_people() -> None:
    assert [units.bytes_text(n) for n in (0, 999, 1500, 2.5e6, 3e9)] == ["0 B", "999 B", "1.5 kB", "2.5 MB", "3.0 GB"]
    assert [units.millis_text(n) for n in (0.0131, 9.87, 12.34, 1234.5)] == [
        "0.01 ms",
        "9.87 ms",
        "12.3 ms",
        "1,234 ms",
    ]
    assert [units.heap_text(n << 20) for n in (0, 512, 1024, 6400)] == ["0k", "512m", "1g", "6.2g"]
    assert units.range_text(9, 120) == "9.00 to 120 ms"
    for good in ("1", "512m", "4G", "1t"):
        assert units.checked_heap(good) == good
    for bad in ("", "0", "-1m", "4gb", "m", "1.5g"):
        with pytest.raises(InvalidRequest):
            units.checked_heap(bad)


def test_spread() -> None:
    assert Spread.of([4, 1, 2, 3, 5]) == Spread(1, 2, 3, 4, 5)
    assert Spread.of([7]) == Spread(7, 7, 7, 7, 7)
    with pytest.raises(ValueError, match="no values"):
        Spread.of([])


def test_serializers() -> None:
    assert expand_serializers(["java", "kryo"]) == ("skyway", "java", "kryo", "kryo-tree")
    assert expand_serializers(["kryo-tree", "skyway", "kryo-tree"]) == ("skyway", "kryo-tree")
    with pytest.raises(InvalidRequest):
        expand_serializers(["java", ""])


def test_properties_are_escaped() -> None:
    entries = {"a.b": "plain/path", "odd": " x=y:z#!\\\t\n", "unicode": "ü🂡"}
    assert properties_text(entries) == (
        "a.b=plain/path\nodd=\\ x\\=y\\:z\\#\\!\\\\\\t\\n\nunicode=\\u00fc\\ud83c\\udca1\n"
    )


def test_private_directories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKYWAY_STATE_DIR", str(tmp_path / "own"))
    assert paths.state_directory().stat().st_mode & 0o777 == 0o700
    (tmp_path / "open").mkdir(mode=0o755)
    (tmp_path / "link").symlink_to(tmp_path / "own")
    for name in ("open", "link"):
        monkeypatch.setenv("SKYWAY_STATE_DIR", str(tmp_path / name))
        with pytest.raises(InstallationError, match="only you can enter"):
            paths.state_directory()
    monkeypatch.delenv("SKYWAY_STATE_DIR")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    assert paths.state_directory() == tmp_path / "skyway"


def test_private_file_follows_no_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "target")
    with pytest.raises(FileExistsError):
        paths.write_private(tmp_path / "link", "secret")
    assert not (tmp_path / "target").exists()


def test_last_lines(tmp_path: Path) -> None:
    log = tmp_path / "log"
    assert paths.last_lines(log) == []
    log.write_bytes(b"\xff\n" + b"".join(b"line %d\n" % n for n in range(100)))
    assert paths.last_lines(log, count=2) == ["line 98", "line 99"]
    assert paths.last_lines(log, limit=10) == ["8", "line 99"] or paths.last_lines(log, limit=8) == ["line 99"]


def test_missing_built_file_says_how_to_build(built_files: Path) -> None:
    (built_files / "libskyway.so").unlink()
    with pytest.raises(InstallationError, match=r"libskyway.so is not in .*pip install"):
        paths.native_library()


def test_a_process_is_its_pid_and_its_start() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        identity = ProcessIdentity.of(process.pid)
        assert identity
        assert identity.alive()
        later = ProcessIdentity(process.pid, identity.start_time_ticks + 1)
        assert not later.alive()
        assert not later.signal(signal.SIGKILL)
        assert identity.alive()
        assert identity.signal(signal.SIGKILL)
        process.wait(10)
        assert not identity.alive()
        assert not identity.signal(signal.SIGKILL)
    assert ProcessIdentity.of(process.pid) is None


def test_attach_looks_before_it_leaps() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        with pytest.raises(AttachError, match=f"process {process.pid} is not a JVM"):
            check_target(process.pid)
        # It was not signalled.
        assert process.poll() is None
        process.communicate(b"\n", timeout=10)
    with pytest.raises(AttachError, match=f"no process has pid {process.pid}"):
        check_target(process.pid)


def test_attach_leaves_other_users_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Said before anything is done to the process. That this process is another user's is made up."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
        with pytest.raises(AttachError, match=f"belongs to the user with id {os.getuid()}: run skyway as that user"):
            check_target(process.pid)
        assert process.poll() is None
        process.communicate(b"\n", timeout=10)


def descriptor(name: str, fingerprint: bytes = b"f") -> pb.TypeDescriptor:
    return pb.TypeDescriptor(class_name=name, kind=pb.TypeDescriptor.INSTANCE, fingerprint=fingerprint)


def test_type_ids_are_dense_and_stay() -> None:
    table = TypeTable()
    assert table.register([descriptor("A"), descriptor("B"), descriptor("A")]) == [1, 2, 1]
    assert table.register([descriptor("B"), descriptor("B", b"another layout")]) == [2, 3]
    assert [found.class_name for found in table.lookup([3, 1])] == ["B", "A"]
    for unknown in (0, 4, -1):
        with pytest.raises(KeyError, match=str(unknown)):
            table.lookup([1, unknown])
    with pytest.raises(ValueError, match="no fingerprint"):
        table.register([descriptor("C"), descriptor("D", b"")])
    assert len(table) == 3


def test_every_call_needs_the_token() -> None:
    server = ControlServer("right")
    try:
        with rpc.loopback_channel(server.port) as channel:
            stub = pb_grpc.TypeRegistryStub(channel)
            request = pb.RegisterTypesRequest(types=[descriptor("A")])
            for metadata in (None, rpc.token_metadata("wrong"), (*rpc.token_metadata("right"),) * 2):
                with pytest.raises(grpc.RpcError) as caught:
                    stub.Register(request, metadata=metadata, timeout=10)
                assert "StatusCode.UNAUTHENTICATED" in str(caught.value)
            assert len(server.types) == 0
            metadata = rpc.token_metadata("right")
            assert list(stub.Register(request, metadata=metadata, timeout=10).ids) == [1]
            with pytest.raises(grpc.RpcError, match="type id 9 was never assigned"):
                stub.Lookup(pb.LookupTypesRequest(ids=[1, 9]), metadata=metadata, timeout=10)
            with pytest.raises(grpc.RpcError, match="no launch or attach waits"):
                pb_grpc.RendezvousStub(channel).Hello(pb.HelloRequest(launch_id="x"), metadata=metadata, timeout=10)
    finally:
        server.close()


def test_calls_that_never_send_their_request_take_no_thread() -> None:
    """The server has a few threads; whoever does not know the token must not make them wait."""
    ended = threading.Event()

    def nothing() -> Iterator[bytes]:
        ended.wait(60)
        yield from ()

    server = ControlServer("right")
    try:
        with rpc.loopback_channel(server.port) as channel:
            call = channel.stream_unary(
                "/skyway_py._proto.TypeRegistry/Register", request_serializer=bytes, response_deserializer=bytes
            )
            waiting = [call.future(nothing(), timeout=60) for _ in range(64)]
            codes = {future.code() for future in waiting}
            assert codes == {grpc.StatusCode.UNAUTHENTICATED}
            stub = pb_grpc.TypeRegistryStub(channel)
            request = pb.RegisterTypesRequest(types=[descriptor("A")])
            assert list(stub.Register(request, metadata=rpc.token_metadata("right"), timeout=60).ids) == [1]
            ended.set()
    finally:
        ended.set()
        server.close()


def test_strangers_at_the_orchestrators_port() -> None:
    with ExitStack() as stack:
        server = ControlServer("right")
        stack.callback(server.close)
        for said in (b"", b"GET / HTTP/1.1\r\n\r\n", b"PRI * HTTP/2.0\r\n", bytes(1 << 16), os.urandom(1 << 16)):
            for _ in range(60):
                stranger = stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=60))
                # It may have hung up in the middle.
                with suppress(ConnectionError):
                    stranger.sendall(said)
        with rpc.loopback_channel(server.port) as channel:
            request = pb.RegisterTypesRequest(types=[descriptor("A")])
            metadata = rpc.token_metadata("right")
            assert list(pb_grpc.TypeRegistryStub(channel).Register(request, metadata=metadata, timeout=60).ids) == [1]


def test_tokens_are_not_printed() -> None:
    state = DaemonState(1, 2, 3, "secret", "/tmp/x", "0")
    assert "secret" not in repr(state)
    assert json.loads(json.dumps(asdict(state)))["token"] == "secret"


def test_health() -> None:
    from grpc_health.v1 import health_pb2, health_pb2_grpc

    server = ControlServer("right")
    try:
        with rpc.loopback_channel(server.port) as channel:
            request = health_pb2.HealthCheckRequest(service="skyway_py._proto.TypeRegistry")
            check = health_pb2_grpc.HealthStub(channel).Check  # type: ignore[attr-defined]
            answer = check(request, metadata=rpc.token_metadata("right"), timeout=10)
            assert answer.status == health_pb2.HealthCheckResponse.SERVING
    finally:
        server.close()


@pytest.mark.parametrize(
    "error",
    [
        GraphRefused("two", [Refusal("root.x", "java.lang.Thread", "bound")], side="sender"),
        TransferTimeout("slow", side="receiver", stack_trace="at"),
        LaunchError("no"),
        UnknownJvm("who"),
    ],
)
def test_errors_survive_a_call(error: SkywayError) -> None:
    copy = rpc.error_from_detail(rpc.detail_from_error(error), type(error).__name__)
    assert type(copy) is type(error)
    assert vars(copy) == vars(error)


def test_own_process_is_alive() -> None:
    identity = ProcessIdentity.of(os.getpid())
    assert identity
    assert identity.alive()


@pytest.mark.parametrize("reason", ["", "left has been silent for 30 s"])
def test_what_the_receiver_says_of_a_link_that_broke(reason: str) -> None:
    sender, receiver = Mock(), Mock()
    receiver.name = "right"
    receiver.identity.stopped.return_value = False
    sender.error.return_value = PeerFailed("the connection to right broke", side="receiver")
    running = RunningTransfer(sender, receiver, pb.TransferRequest(), verify=False, on_broken=lambda: reason)
    failure = running._failure(grpc.RpcError())
    assert isinstance(failure, PeerFailed)
    assert failure.side == "receiver"
    said = f"; JVM 'right' says: {reason}" if reason else ""
    assert str(failure) == f"the connection to right broke{said}"
