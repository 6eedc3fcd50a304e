"""`python -m skyway_py._daemon FD LINK_HOST [TLS_DIRECTORY]`: the background orchestrator. Says "ready" on the
descriptor once it serves.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading

from skyway_py._daemon._service import OrchestrationServer
from skyway_py._daemon._state import DaemonState, remove_state, write_state
from skyway_py._errors import SkywayError
from skyway_py._orchestrator import Orchestrator
from skyway_py._process import ProcessIdentity
from skyway_py._version import __version__

#: Bytes that the one who waits for "ready" reads at most; a pipe takes them at once.
MOST_MESSAGE = 4096


def main(ready_fd: int, link_host: str, tls: str = "") -> None:
    """Runs until it is told to end, in a process of its own that no shell waits for."""
    if os.fork() > 0:
        os._exit(0)
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        _serve(ready_fd, link_host, tls, ended)
    except SkywayError as error:
        # To the one who waits, if there still is one: a full disk has no room for it in the log.
        with contextlib.suppress(OSError):
            os.write(ready_fd, error.message.encode()[:MOST_MESSAGE])
        raise


def _serve(ready_fd: int, link_host: str, tls: str, ended: threading.Event) -> None:
    own = ProcessIdentity.of(os.getpid())
    assert own is not None
    with (
        Orchestrator(tls=tls or None, link_host=link_host) as orchestrator,
        OrchestrationServer(orchestrator, ended) as server,
    ):
        state = DaemonState(
            pid=own.pid,
            start_time_ticks=own.start_time_ticks,
            port=server.port,
            token=server.token,
            run_directory=str(orchestrator.run_directory),
            version=__version__,
            tls=tls,
            link_host=link_host,
        )
        write_state(state)
        try:
            os.write(ready_fd, b"ready")
            os.close(ready_fd)
            # In slices: a wait without end would not let the signal handlers run on every platform.
            while not ended.wait(1.0):
                pass
        finally:
            orchestrator.close()
            remove_state(state)


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:])
