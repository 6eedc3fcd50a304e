"""A JDK whose `java` is fake_java.py, and built files that only exist."""

from __future__ import annotations

import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import skyway_py
from skyway_py import Jdk, Orchestrator, find_jdk
from skyway_py import _paths as paths

RELEASE = """IMPLEMENTOR="Fakes"
JAVA_VERSION="{version}"
MODULES="java.base jdk.attach"
OS_ARCH=""
"""


def make_jdk(home: Path, version: str = "17.0.99") -> Path:
    """A directory that looks like a JDK, with a `java` that is our stand-in."""
    package_parent = Path(skyway_py.__file__).parents[1]
    (home / "bin").mkdir(parents=True)
    java = home / "bin" / "java"
    fake = Path(__file__).with_name("fake_java.py")
    java.write_text(f"#!/bin/sh\nPYTHONPATH='{package_parent}' exec '{sys.executable}' '{fake}' \"$@\"\n")
    java.chmod(java.stat().st_mode | stat.S_IXUSR)
    (home / "release").write_text(RELEASE.format(version=version))
    return home


@pytest.fixture(autouse=True)
def own_temporary_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr(tempfile, "tempdir", None)


@pytest.fixture
def jdk(tmp_path: Path) -> Jdk:
    return find_jdk(make_jdk(tmp_path / "jdk"))


@pytest.fixture(autouse=True)
def built_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The package looks complete, whether it was built or not."""
    directory = tmp_path / "lib"
    directory.mkdir()
    for name in ("skyway-agent.jar", "skyway-bench.jar", "libskyway.so"):
        (directory / name).touch()
    monkeypatch.setattr(paths, "_LIB", directory)
    return directory


@pytest.fixture
def skyway() -> Iterator[Orchestrator]:
    with Orchestrator() as orchestrator:
        yield orchestrator
