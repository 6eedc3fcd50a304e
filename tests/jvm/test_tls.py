"""Links with mutual TLS: transfers as without it, and nobody else gets in. Everything stays on the loopback address."""

from __future__ import annotations

import json
import shutil
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from skyway_py import InvalidRequest, Jvm, LinkError, Orchestrator, Tls, TransferTimeout
from tests.jvm import hostile
from tests.jvm.hostile import AttackedLink, dial, read_to_end, send
from tests.jvm.jvms import FEATURES, VERIFY, Compiled, jdk_of

#: Keys change after every MiB, so that each larger transfer sees it happen in the middle, in both directions.
KEY_LIMITS = "jdk.tls.keyLimits=AES/GCM/NoPadding KeyUpdate 2^20, ChaCha20-Poly1305 KeyUpdate 2^20\n"
LARGE = 100_000
#: Many more than a listener looks at at a time.
CROWD = 300


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Tls:
    return Tls.generate(tmp_path_factory.mktemp("ours") / "tls", ["127.0.0.2"])


@pytest.fixture(scope="module")
def other_certificates(tmp_path_factory: pytest.TempPathFactory) -> Tls:
    return Tls.generate(tmp_path_factory.mktemp("others") / "tls")


def launch(skyway: Orchestrator, compiled: Compiled, name: str, feature: int, *java_args: str) -> Jvm:
    return skyway.launch(
        name,
        jdk=jdk_of(feature),
        collector="g1",
        heap="512m",
        java_args=[*VERIFY, *java_args],
        app=compiled.app(),
    )


@pytest.fixture(scope="module", params=FEATURES)
def encrypted(
    request: pytest.FixtureRequest,
    compiled: Compiled,
    certificates: Tls,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Orchestrator]:
    """A pair whose links are encrypted."""
    security = tmp_path_factory.mktemp("security") / "security"
    security.write_text(KEY_LIMITS)
    with Orchestrator(tls=certificates) as skyway:
        for name in ("left", "right"):
            launch(skyway, compiled, name, request.param, f"-Djava.security.properties={security}")
        skyway.jvm("left").build_workload("graph", size=LARGE)
        yield skyway
        for name in ("left", "right"):
            log = skyway.jvm(name).log
            assert log
            assert log.read_text() == "", "a JVM printed something"


@pytest.mark.parametrize("transport", ["tcp", "shm"])
@pytest.mark.parametrize("serializer", ["skyway", "java"])
def test_a_transfer(encrypted: Orchestrator, transport: str, serializer: str) -> None:
    source = "left:graph" if serializer == "skyway" else "left:fixture.Data#INSTANCE.last"
    result = encrypted.transfer(
        source, "right:arrived", transport=transport, serializer=serializer, verify=True, timeout=120.0
    )
    assert result.verified
    assert result.transport == transport
    assert encrypted.jvm("right").drop_root("arrived")


def test_a_time_limit(encrypted: Orchestrator) -> None:
    with pytest.raises(TransferTimeout, match="its limit"):
        encrypted.transfer("left:graph", "right:late", transport="tcp", timeout=0.001)
    assert "late" not in [root.name for root in encrypted.roots("right")]
    result = encrypted.transfer("left:graph", "right:next", transport="tcp", verify=True, timeout=120.0)
    assert result.verified
    assert encrypted.jvm("right").drop_root("next")


def test_a_plain_peer_is_refused(encrypted: Orchestrator) -> None:
    """Even one that knows the token."""
    left, right = encrypted.jvm("left"), encrypted.jvm("right")
    prepared = hostile.prepare(left, right)
    with closing(dial(prepared.port)) as connection:
        send(connection, prepared.token + bytes(100))
        # An alert at most: no reply of the link's protocol.
        assert len(read_to_end(connection)) < 16
    # The right sender still gets in.
    hostile.open_link(left, right, prepared)
    hostile.close(left, prepared)
    hostile.close(right, prepared)


def test_a_peer_without_a_certificate_is_refused(encrypted: Orchestrator, certificates: Tls) -> None:
    left, right = encrypted.jvm("left"), encrypted.jvm("right")
    prepared = hostile.prepare(left, right)
    context = ssl.create_default_context(cafile=str(certificates.directory / "ca.pem"))
    with closing(context.wrap_socket(dial(prepared.port), server_hostname="127.0.0.1")) as connection:
        # The listener's own certificate is good; that ours is missing comes with the first answer.
        assert connection.version() == "TLSv1.3"
        with pytest.raises(ssl.SSLError, match=r"(?i)alert.*certificate"):
            connection.recv(1)
    hostile.close(right, prepared)


def test_older_protocols_are_refused(encrypted: Orchestrator, certificates: Tls) -> None:
    prepared = hostile.prepare(encrypted.jvm("left"), encrypted.jvm("right"))
    context = ssl.create_default_context(cafile=str(certificates.directory / "ca.pem"))
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    with dial(prepared.port) as connection, pytest.raises(ssl.SSLError, match=r"(?i)version"):
        context.wrap_socket(connection, server_hostname="127.0.0.1")
    hostile.close(encrypted.jvm("right"), prepared)


def test_a_crowd_does_not_keep_the_right_sender_out(encrypted: Orchestrator) -> None:
    with ExitStack() as stack:
        crowd: list[socket.socket] = []

        def attack(port: int) -> None:
            crowd.extend(stack.enter_context(closing(dial(port))) for _ in range(CROWD))

        with AttackedLink(encrypted.jvm("left"), encrypted.jvm("right"), attack) as link:
            assert link.transfer("fixture.Data#INSTANCE", "arrived", verify=True, timeout=240.0).verified
        for connection in crowd:
            assert read_to_end(connection) == b""
    assert encrypted.jvm("right").drop_root("arrived")


@pytest.mark.parametrize("feature", FEATURES)
def test_strangers_are_refused(
    compiled: Compiled, certificates: Tls, other_certificates: Tls, tmp_path: Path, feature: int
) -> None:
    """JVMs of other orchestrators: without TLS, with another authority, with ours but a certificate of another."""
    mixed = tmp_path / "mixed"
    shutil.copytree(other_certificates.directory, mixed)
    shutil.copy(certificates.directory / "ca.pem", mixed / "ca.pem")
    with Orchestrator(tls=certificates) as ours:
        receiver = launch(ours, compiled, "receiver", feature)
        sender = launch(ours, compiled, "sender", feature)
        for tls, message in (
            (None, "no link to receiver"),
            (other_certificates, "With TLS, both sides need certificates of the same authority"),
            (Tls.load(mixed), "With TLS, both sides need certificates of the same authority"),
        ):
            with Orchestrator(tls=tls) as theirs:
                stranger = launch(theirs, compiled, "stranger", feature)
                # With the right token, which only our own sender should know.
                prepared = hostile.prepare(sender, receiver)
                with pytest.raises(LinkError, match=message):
                    hostile.open_link(stranger, receiver, prepared)
                hostile.open_link(sender, receiver, prepared)
                hostile.close(sender, prepared)
                hostile.close(receiver, prepared)
                # And the other way round: our sender does not talk to a stranger.
                prepared = hostile.prepare(sender, stranger)
                if tls is None or tls is other_certificates:
                    with pytest.raises(LinkError, match="no link to stranger"):
                        hostile.open_link(sender, stranger, prepared)
        assert ours.transfer("sender:fixture.Data#INSTANCE", "receiver:x", transport="tcp", verify=True).verified


def test_links_listen_where_they_are_told(compiled: Compiled, certificates: Tls) -> None:
    with Orchestrator(tls=certificates, link_host="127.0.0.2") as skyway:
        left, right = (launch(skyway, compiled, name, 17) for name in ("left", "right"))
        prepared = hostile.prepare(left, right)
        assert prepared.host == "127.0.0.2"
        with pytest.raises(ConnectionRefusedError):
            dial(prepared.port)
        hostile.close(right, prepared)
        assert skyway.transfer("left:fixture.Data#INSTANCE", "right:x", transport="tcp", verify=True).verified
    # The certificate names that address; it does not name this one.
    with Orchestrator(tls=certificates, link_host="127.0.0.3") as skyway:
        left, right = (launch(skyway, compiled, name, 17) for name in ("left", "right"))
        with pytest.raises(LinkError, match=r"127\.0\.0\.3"):
            skyway.connect("left", "right", "tcp")


def test_a_jvm_does_not_connect_elsewhere_without_tls(compiled: Compiled) -> None:
    with Orchestrator() as skyway:
        left, right = (launch(skyway, compiled, name, 17) for name in ("left", "right"))
        prepared = hostile.prepare(left, right)
        # An address for documents: nobody is there. The refusal comes before anything is sent.
        with pytest.raises(InvalidRequest, match=r"only with mutual TLS: 192\.0\.2\.1 is another host"):
            hostile.open_link(left, right, prepared, host="192.0.2.1")
        hostile.close(right, prepared)


def test_files_that_others_can_read(compiled: Compiled, certificates: Tls, tmp_path: Path) -> None:
    """Looked at by the JVM as well: they may have changed since the orchestrator began."""
    directory = tmp_path / "tls"
    shutil.copytree(certificates.directory, directory)
    with Orchestrator(tls=directory) as skyway:
        for name in ("left", "right"):
            launch(skyway, compiled, name, 17)
        (directory / "identity.p12").chmod(0o644)
        with pytest.raises(LinkError, match=r"the TLS files in .* cannot be used: .*chmod 600"):
            skyway.connect("left", "right", "tcp")
        (directory / "identity.p12").chmod(0o600)
        assert skyway.transfer("left:fixture.Data#INSTANCE", "right:x", transport="tcp", verify=True).verified


def test_the_command_line(tmp_path: Path) -> None:
    def skyway(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "skyway_py.cli", *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, f"{arguments}: {done.stdout}{done.stderr}"
        return done.stdout

    skyway("up", "--tls")
    try:
        skyway("launch", "left", "--workload", "media", "--size", "1000")
        skyway("launch", "right")
        result = json.loads(
            skyway("transfer", "left:media", "right", "--verify", "--transport", "tcp", "--format", "json")
        )
        assert result["transport"] == "tcp"
        status = json.loads(skyway("status", "--format", "json"))
        files = list(Path(status["tls"]).iterdir())
        assert Path(status["tls"]).is_relative_to(tmp_path)
        assert {file.name for file in files} == {"ca.pem", "identity.p12", "password", "generated.json"}
        assert {file.stat().st_mode & 0o777 for file in files} == {0o600}
        assert status["links"][0]["transport"] == "tcp"
    finally:
        skyway("down")
