"""Certificates, and what `skyway up` and Orchestrator() make of them."""

from __future__ import annotations

import json
import shutil
import ssl
import subprocess
from pathlib import Path

import pytest

from skyway_py import InstallationError, InvalidRequest, Jdk, Orchestrator, Tls
from skyway_py import _daemon as daemon
from skyway_py import _paths as paths
from skyway_py._daemon._state import read_state
from skyway_py._tls import checked_link_host
from tests.unit.test_cli import Run, run

__all__ = ["run"]


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made once: each takes keytool some seconds. Tests copy it."""
    return Tls.generate(tmp_path_factory.mktemp("made") / "tls", ["192.0.2.7"]).directory


@pytest.fixture
def directory(generated: Path, tmp_path: Path) -> Path:
    shutil.copytree(generated, tmp_path / "tls")
    return tmp_path / "tls"


def test_generated_files_are_private(generated: Path) -> None:
    assert generated.stat().st_mode & 0o777 == 0o700
    modes = {path.name: path.stat().st_mode & 0o777 for path in generated.iterdir()}
    assert modes == dict.fromkeys(("ca.pem", "identity.p12", "password", "generated.json"), 0o600)
    # The authority's key signs nothing else: neither it nor anything else of the work is left.
    assert [path.name for path in generated.parent.iterdir()] == ["tls"]
    (authority,) = ssl.create_default_context(cafile=str(generated / "ca.pem")).get_ca_certs()
    assert "Skyway links" in str(authority["subject"])


def test_a_second_time_makes_nothing(directory: Path) -> None:
    before = (directory / "identity.p12").read_bytes()
    assert Tls.generate(directory, ["192.0.2.7"]) == Tls(directory)
    assert (directory / "identity.p12").read_bytes() == before


def test_another_address_or_a_near_end_makes_new_ones(directory: Path) -> None:
    before = (directory / "ca.pem").read_bytes()
    Tls.generate(directory, ["192.0.2.8"])
    assert json.loads((directory / "generated.json").read_text())["addresses"] == ["127.0.0.1", "192.0.2.8", "::1"]
    second = (directory / "ca.pem").read_bytes()
    assert second != before
    generated = json.loads((directory / "generated.json").read_text())
    (directory / "generated.json").write_text(json.dumps({**generated, "until": 0}))
    Tls.generate(directory, ["192.0.2.8"])
    assert (directory / "ca.pem").read_bytes() != second


def test_own_certificates_are_never_replaced(directory: Path) -> None:
    (directory / "generated.json").unlink()
    before = (directory / "ca.pem").read_bytes()
    with pytest.raises(InvalidRequest, match="was not made by skyway"):
        Tls.generate(directory, ["192.0.2.9"])
    assert (directory / "ca.pem").read_bytes() == before
    assert Tls.load(directory).directory == directory


def test_keytool_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = subprocess.CompletedProcess[str]([], 1, "keytool error: no randomness\n", "")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: done)
    with pytest.raises(InstallationError, match=r"keytool could not make a certificate.*no randomness"):
        Tls.generate(tmp_path / "tls")
    assert not (tmp_path / "tls").exists()


def test_unsound_directories(directory: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match="there is no TLS directory"):
        Tls.load(tmp_path / "nowhere")
    (directory / "password").chmod(0o640)
    with pytest.raises(InstallationError, match=r"password is not a file that only you can read: run `chmod 600`"):
        Tls.load(directory)
    (directory / "password").chmod(0o600)
    directory.chmod(0o770)
    with pytest.raises(InstallationError, match="not a directory that only you can write to"):
        Tls.load(directory)
    directory.chmod(0o700)
    identity = directory / "identity.p12"
    identity.rename(tmp_path / "moved")
    with pytest.raises(InvalidRequest, match=r"has no identity.p12"):
        Tls.load(directory)
    identity.symlink_to(tmp_path / "moved")
    with pytest.raises(InstallationError, match=r"identity.p12 is not a file"):
        Tls.load(directory)


@pytest.mark.parametrize("host", ["192.0.2.1", "2001:db8::1", "10.0.0.5"])
def test_no_other_host_without_tls(host: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match="only with mutual TLS"):
        Orchestrator(link_host=host)
    # Nothing was opened, nor made.
    assert list((tmp_path / "tmp").iterdir()) == []
    assert checked_link_host(host, encrypted=True) == host


@pytest.mark.parametrize("host", ["localhost", "0.0.0.0", "::", "224.0.0.1", "", "127.0.0.1:80"])
def test_no_address_of_an_interface(host: str) -> None:
    with pytest.raises(InvalidRequest, match="is not an IP address that links can listen at"):
        checked_link_host(host, encrypted=True)


def test_agents_are_told(directory: Path, jdk: Jdk, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[str] = []
    write = paths.write_private

    def spy(path: Path, text: str) -> None:
        written.append(text)
        write(path, text)

    monkeypatch.setattr(paths, "write_private", spy)
    with Orchestrator(tls=directory, link_host="192.0.2.7") as skyway:
        skyway.launch("left", jdk=jdk)
    (options,) = [text for text in written if "launch.id" in text]
    assert f"tls.directory={directory}\n" in options
    assert "link.host=192.0.2.7\n" in options


# ---- the command line


def test_up_with_tls(run: Run) -> None:
    assert "links are encrypted" in run("up", "--tls").stderr
    directory = paths.state_directory() / "tls"
    assert (directory / "identity.p12").stat().st_mode & 0o777 == 0o600
    state = read_state()
    assert state
    assert state.tls == str(directory)
    assert state.token not in repr(state)
    assert f"mutual TLS, certificates in {directory}" in run("status").stdout
    assert json.loads(run("status", "--format", "json").stdout)["tls"] == str(directory)
    assert "is running already" in run("up").stderr
    assert "is running already" in run("up", "--tls").stderr


def test_up_with_own_certificates(run: Run, directory: Path) -> None:
    (directory / "generated.json").unlink()
    run("up", "--tls-dir", str(directory), "--link-host", "192.0.2.7")
    remote = daemon.connect()
    assert remote
    assert (remote.tls, remote.link_host) == (str(directory), "192.0.2.7")
    assert "links at 192.0.2.7" in run("up", "--link-host", "127.0.0.1", code=2).stderr


def test_up_that_is_refused(run: Run, tmp_path: Path) -> None:
    assert "only with mutual TLS" in run("up", "--link-host", "192.0.2.1", code=2).stderr
    assert "is not an IP address" in run("up", "--tls", "--link-host", "example", code=2).stderr
    assert "has no ca.pem" in run("up", "--tls-dir", str(tmp_path), code=2).stderr
    assert "does not exist" in run("up", "--tls-dir", str(tmp_path / "none"), code=2).stderr
    assert "not both" in run("up", "--tls", "--tls-dir", str(tmp_path), code=2).stderr
    assert daemon.connect() is None
    assert not (paths.state_directory() / "tls").exists()
    run("up")
    assert "does not have this TLS" in run("up", "--tls", code=2).stderr
