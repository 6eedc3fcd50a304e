"""How an agent learns where its orchestrator is: a properties file that only this user can read."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from skyway_py import _paths as paths
from skyway_py._errors import InstallationError
from skyway_py._proto import agent_pb2 as pb
from skyway_py._server import Arrival, ControlServer

_ESCAPES: Final = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r", "\f": "\\f", " ": "\\ "}


def properties_text(entries: dict[str, str]) -> str:
    """A file that java.util.Properties reads back exactly."""
    return "".join(f"{_escape(key)}={_escape(value)}\n" for key, value in entries.items())


def _escape(text: str) -> str:
    return "".join(_escape_char(char) for char in text)


def _escape_char(char: str) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    if char in "=:#!":
        return "\\" + char
    if " " < char <= "~":
        return char
    units = char.encode("utf-16-be", errors="surrogatepass")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))


class Handshake:
    """One pending launch or attach: the file is there, the server waits for the hello. A context manager."""

    def __init__(
        self,
        server: ControlServer,
        token: str,
        run_directory: Path,
        *,
        name: str,
        mode: str,
        lifeline_fd: int | None = None,
        more: Mapping[str, str] | None = None,
    ) -> None:
        launch_id = secrets.token_hex(16)
        self._server = server
        self._arrival: Arrival = server.expect(launch_id)
        self.file = run_directory / f"launch-{launch_id[:12]}.properties"
        entries = {
            "launch.id": launch_id,
            "mode": mode,
            "name": name,
            "orchestrator.host": "127.0.0.1",
            "orchestrator.port": str(server.port),
            "token": token,
            "library": str(paths.native_library()),
            **(more or {}),
        }
        if lifeline_fd is not None:
            entries["lifeline.fd"] = str(lifeline_fd)
        try:
            paths.write_private(self.file, properties_text(entries))
        except BaseException:
            server.forget(launch_id)
            raise

    def agent_option(self) -> str:
        """The `-javaagent` option of a JVM that is to say hello.

        :raises InstallationError: the jar's path cannot be part of that option.
        """
        jar = paths.agent_jar()
        if "=" in str(jar):
            raise InstallationError(
                f"Java cannot load an agent from a path with '=' in it: install elsewhere than {jar}"
            )
        return f"-javaagent:{jar}={self.file}"

    def wait(self, timeout: float, given_up: Callable[[], bool]) -> pb.HelloRequest | None:
        """The hello; None when the time (seconds) is over or `given_up` says that none will come."""
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            # Asked before waiting: a hello that was sent just before the end of the process still counts.
            over = given_up()
            hello = self._arrival.wait(0.02)
            if hello is not None or over:
                return hello
        return None

    def __enter__(self) -> Handshake:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.forget(self._arrival.launch_id)
        # The agent has read it by now; the token should lie around no longer than needed.
        self.file.unlink(missing_ok=True)
