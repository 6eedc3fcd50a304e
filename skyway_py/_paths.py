"""Files of the package, and private directories."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from pathlib import Path
from typing import Final

from skyway_py._errors import InstallationError
from skyway_py._process import ProcessIdentity

_LIB: Final = Path(__file__).resolve().parent / "_lib"


def agent_jar() -> Path:
    """The Java agent.

    :raises InstallationError: it is not there.
    """
    return _built("skyway-agent.jar")


def bench_jar() -> Path:
    """The idle application with the workloads and the baseline serializers.

    :raises InstallationError: it is not there.
    """
    return _built("skyway-bench.jar")


def native_library() -> Path:
    """The native engine.

    :raises InstallationError: it is not there.
    """
    return _built("libskyway.so")


def _built(name: str) -> Path:
    path = _LIB / name
    if not path.is_file():
        raise InstallationError(f"{name} is not in {_LIB}: install the package with `pip install .`, which builds it")
    return path


def make_run_directory() -> Path:
    """A new directory that only this user can enter (mode 0700). Removes those of processes that were killed."""
    try:
        # Also when it looks for the directory it writes a file.
        _sweep(Path(tempfile.gettempdir()))
        directory = Path(tempfile.mkdtemp(prefix="skyway-run-"))
    except OSError as error:
        raise _unwritable(Path(os.environ.get("TMPDIR", "/tmp")), error) from error
    own = ProcessIdentity.of(os.getpid())
    assert own is not None
    try:
        write_private(directory / "owner", f"{own.pid} {own.start_time_ticks}")
    except BaseException:
        shutil.rmtree(directory, ignore_errors=True)
        raise
    return directory


def _sweep(parent: Path) -> None:
    for owner in parent.glob("skyway-run-*/owner"):
        try:
            if owner.parent.lstat().st_uid == os.getuid():
                pid, ticks = map(int, owner.read_text(encoding="ascii").split())
                if not ProcessIdentity(pid, ticks).alive():
                    shutil.rmtree(owner.parent, ignore_errors=True)
        except (OSError, ValueError):
            # Another user's, or one that somebody else is just removing.
            continue


def state_directory() -> Path:
    """Where the background orchestrator leaves its state: SKYWAY_STATE_DIR, else in XDG_RUNTIME_DIR, else in the
    directory for temporary files. Made with mode 0700 when it is missing.

    :raises InstallationError: it belongs to another user or others may enter it.
    """
    given = os.environ.get("SKYWAY_STATE_DIR")
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if given:
        path = Path(given)
    elif runtime and Path(runtime).is_dir():
        path = Path(runtime) / "skyway"
    else:
        path = Path(tempfile.gettempdir()) / f"skyway-{os.getuid()}"
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        info = path.lstat()
    except OSError as error:
        raise InstallationError(
            f"cannot use the state directory {path}: {error.strerror}: set SKYWAY_STATE_DIR to another one"
        ) from error
    # In a shared directory anyone could have made this path first, or a link of that name.
    if not stat.S_ISDIR(info.st_mode) or info.st_uid != os.getuid() or stat.S_IMODE(info.st_mode) & 0o077:
        raise InstallationError(
            f"the state directory {path} is not a directory that only you can enter: "
            f"run `chmod 700` on it, or set SKYWAY_STATE_DIR to another one"
        )
    return path


def write_private(path: Path, text: str) -> None:
    """Writes a new file that only this user can read (mode 0600). An existing file is never followed or reused.

    :raises FileExistsError: there is one.
    :raises InstallationError: it cannot be written; nothing is left of it.
    """
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        raise
    except OSError as error:
        raise _unwritable(path, error) from error
    try:
        with os.fdopen(fd, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        # Half a file says something else than a whole one.
        path.unlink(missing_ok=True)
        raise _unwritable(path, error) from error


def _unwritable(path: Path, error: OSError) -> InstallationError:
    return InstallationError(
        f"cannot write {path}: {error.strerror}: make room there, or let TMPDIR and "
        "SKYWAY_STATE_DIR name other directories"
    )


def last_lines(path: Path, count: int = 12, limit: int = 16 << 10) -> list[str]:
    """The last lines of a file, of at most `limit` bytes in all; empty when there is no file."""
    try:
        with path.open("rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - limit))
            return file.read().decode("utf-8", errors="replace").splitlines()[-count:]
    except OSError:
        return []
