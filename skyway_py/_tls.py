"""Certificates for links: a directory of files that only this user can read, made by the JDK's keytool or by the user.

`ca.pem` is the certificate of the authority that both ends of a link trust, `identity.p12` the key and certificate that
this orchestrator's JVMs show, and `password` the text that opens it.
"""

from __future__ import annotations

import ipaddress
import json
import os
import secrets
import shutil
import stat
import subprocess
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from skyway_py import _paths as paths
from skyway_py._errors import InstallationError, InvalidRequest, JdkNotFound
from skyway_py._jdk import discover_jdks

#: Where links listen unless something else is asked for.
LOOPBACK: Final = "127.0.0.1"

_CA: Final = "ca.pem"
_IDENTITY: Final = "identity.p12"
_PASSWORD: Final = "password"
#: Only in directories that generate() made: no other one is ever replaced.
_GENERATED: Final = "generated.json"

_DAYS: Final = 825
# Replaced this long before they end, so that none ends while its orchestrator runs.
_SPARE_SECONDS: Final = 60 * 24 * 3600
_KEYTOOL_SECONDS: Final = 60.0


@dataclass(frozen=True)
class Tls:
    """A directory with the certificates of an orchestrator's links, whose files were checked."""

    directory: Path

    @classmethod
    def load(cls, directory: str | Path) -> Tls:
        """The files of a directory, looked at but not opened.

        :raises InvalidRequest: there is no such directory, or one of the files is missing.
        :raises InstallationError: others have access to them, or they are another user's.
        """
        path = Path(directory).absolute()
        if not path.is_dir():
            raise InvalidRequest(
                f"there is no TLS directory {path}: make it by `skyway up --tls`, or see docs/security.md"
            )
        _check(path, stat.S_ISDIR(path.lstat().st_mode), 0o022, "a directory that only you can write to", "chmod 700")
        for name in (_CA, _IDENTITY, _PASSWORD):
            if not os.path.lexists(path / name):
                raise InvalidRequest(
                    f"the TLS directory {path} has no {name}: it needs {_CA}, {_IDENTITY} and {_PASSWORD}"
                )
            file = path / name
            _check(file, stat.S_ISREG(file.lstat().st_mode), 0o077, "a file that only you can read", "chmod 600")
        return cls(path)

    @classmethod
    def generate(cls, directory: str | Path, addresses: Iterable[str] = ()) -> Tls:
        """A new authority and a certificate of it for the loopback addresses and these. The authority's own key is
        deleted: it signs nothing else. A directory from before is taken as it is when its certificate names all
        addresses and does not end soon, and replaced otherwise.

        :param directory: its parent is there, and nobody else can replace what is in that.
        :param addresses: IP addresses at which links will listen.
        :raises InvalidRequest: the directory is there, but was not made by this method.
        :raises InstallationError: keytool failed, or others have access to the files that are there.
        :raises JdkNotFound: no JDK has a keytool.
        """
        path = Path(directory).absolute()
        wanted = sorted({LOOPBACK, "::1", *(str(ipaddress.ip_address(address)) for address in addresses)})
        if os.path.lexists(path):
            present = cls.load(path)
            if not (path / _GENERATED).is_file():
                raise InvalidRequest(
                    f"the TLS directory {path} was not made by skyway: give it by --tls-dir, or move it"
                )
            if present._covers(wanted):
                return present
        fresh = Path(tempfile.mkdtemp(prefix=".tls-", dir=path.parent))
        try:
            _generate(fresh, wanted)
            if os.path.lexists(path):
                path.rename(fresh / "old")
            fresh_files = fresh / "new"
            fresh_files.rename(path)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
        return cls.load(path)

    def _covers(self, addresses: Sequence[str]) -> bool:
        try:
            generated = json.loads((self.directory / _GENERATED).read_text(encoding="utf-8"))
            return set(addresses) <= set(generated["addresses"]) and generated["until"] > time.time() + _SPARE_SECONDS
        except (OSError, ValueError, KeyError, TypeError):
            return False


def checked_link_host(host: str, encrypted: bool) -> str:
    """The address at which links will listen.

    :raises InvalidRequest: it is no IP address of an interface, or not a loopback address and there is no TLS.
    """
    try:
        address = ipaddress.ip_address(host)
    except ValueError as error:
        raise InvalidRequest(
            f"'{host}' is not an IP address that links can listen at: give one, such as 10.0.0.5"
        ) from error
    if address.is_unspecified or address.is_multicast:
        raise InvalidRequest(f"'{host}' is not an IP address that links can listen at: give that of one interface")
    if not address.is_loopback and not encrypted:
        raise InvalidRequest(
            f"links leave the loopback address only with mutual TLS: {host} is no loopback address; "
            "add --tls or --tls-dir (tls= in Python)"
        )
    return str(address)


def _check(path: Path, right_kind: bool, others: int, what: str, remedy: str) -> None:
    info = path.lstat()
    if not right_kind or info.st_uid != os.getuid() or stat.S_IMODE(info.st_mode) & others:
        raise InstallationError(f"{path} is not {what}: run `{remedy}` on it, as its owner")


def _generate(directory: Path, addresses: Sequence[str]) -> None:
    """Leaves the files in `new`, and what is not to be kept beside it."""
    new = directory / "new"
    new.mkdir(mode=0o700)
    password = new / _PASSWORD
    paths.write_private(password, secrets.token_hex(32))
    names = ",".join(["dns:localhost", *(f"ip:{address}" for address in addresses)])
    authority = ("-keystore", str(directory / "authority.p12"), "-alias", "ca")
    identity = ("-keystore", str(new / _IDENTITY), "-alias", "skyway")
    new_key = ("-keyalg", "EC", "-groupname", "secp256r1", "-validity", str(_DAYS))
    # Every authority has a name of its own: two with one name would be taken for each other in messages.
    name = f"CN=Skyway links {secrets.token_hex(4)}"
    until = time.time() + _DAYS * 24 * 3600
    request, certificate = str(directory / "request"), str(directory / "certificate")
    usage = ("-ext", "ku:c=digitalSignature", "-ext", "eku=serverAuth,clientAuth", "-ext", f"san={names}")
    for command in (
        (
            "-genkeypair",
            *authority,
            *new_key,
            "-dname",
            name,
            "-ext",
            "bc:c=ca:true,pathlen:0",
            "-ext",
            "ku:c=keyCertSign",
        ),
        ("-exportcert", *authority, "-rfc", "-file", str(new / _CA)),
        ("-genkeypair", *identity, *new_key, "-dname", "CN=Skyway"),
        ("-certreq", *identity, "-file", request),
        ("-gencert", *authority, "-validity", str(_DAYS), *usage, "-infile", request, "-outfile", certificate),
        ("-importcert", *identity[:2], "-alias", "ca", "-noprompt", "-file", str(new / _CA)),
        ("-importcert", *identity, "-noprompt", "-file", certificate),
    ):
        _keytool(*command, "-storetype", "PKCS12", "-storepass:file", str(password))
    paths.write_private(new / _GENERATED, json.dumps({"addresses": list(addresses), "until": until}))


def _keytool(*arguments: str) -> None:
    homes = [jdk.home for jdk in discover_jdks() if jdk.supported and (jdk.home / "bin" / "keytool").is_file()]
    if not homes:
        raise JdkNotFound(
            "no JDK with bin/keytool was found, which makes certificates: install a JDK, or set JAVA_HOME"
        )
    command = [str(homes[0] / "bin" / "keytool"), "-J-XX:TieredStopAtLevel=1", *arguments]
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_KEYTOOL_SECONDS,
            check=False,
            umask=0o077,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InstallationError(f"{command[0]} does not run: {error}") from error
    if done.returncode:
        said = " ".join((done.stdout + done.stderr).split())
        raise InstallationError(f"keytool could not make a certificate ({arguments[0]}): {said or 'no reason given'}")
