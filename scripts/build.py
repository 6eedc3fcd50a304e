#!/usr/bin/env python3
"""Builds the jars (Maven) and the native engine (C++) into skyway_py/_lib, when their sources have changed.

Needs nothing but the standard library: it runs in the build backend and before there is a virtual environment.
`build.py` builds; `build.py --missing` prints the Debian names of the tools that are missing, one a line;
`build.py --jdk FEATURE` prints the home of an installed JDK of that feature release, `build.py --build-jdk` of the one
to build with; `build.py --cxx FLAG...` prints the compiler's command for the native sources, one word a line.
"""

from __future__ import annotations

import fcntl
import functools
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

ROOT: Final = Path(__file__).resolve().parent.parent
LIB: Final = ROOT / "skyway_py" / "_lib"
STAMPS: Final = ROOT / "build"
JVM: Final = ROOT / "jvm-agent"
NATIVE_SOURCES: Final = JVM / "core" / "src" / "main" / "cpp"
COMPILER_FLAGS: Final = (
    "-std=c++17",
    "-O3",
    "-fPIC",
    "-shared",
    "-fvisibility=hidden",
    "-fno-exceptions",
    "-fno-rtti",
    "-Wall",
    "-Wextra",
    "-Werror",
)

if TYPE_CHECKING:
    from skyway_py._jdk import Jdk, discover_jdks
else:
    # The package's own __init__ needs gRPC, which may not be here yet: its JDK discovery alone does not.
    _real = {name: module for name, module in sys.modules.items() if name.partition(".")[0] == "skyway_py"}
    if not _real:
        _bare = sys.modules["skyway_py"] = types.ModuleType("skyway_py")
        _bare.__path__ = [str(ROOT / "skyway_py")]
    from skyway_py._jdk import Jdk, discover_jdks

    if not _real:
        for _name in [name for name in sys.modules if name.partition(".")[0] == "skyway_py"]:
            del sys.modules[_name]


class BuildError(Exception):
    """A tool is missing or failed. The message is one line that says what to do."""


def build() -> None:
    """Brings skyway_py/_lib up to date. One process at a time; others wait.

    :raises BuildError: a tool is missing or failed.
    """
    STAMPS.mkdir(exist_ok=True)
    with (STAMPS / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        LIB.mkdir(exist_ok=True)
        steps = [
            Step("jars", ("skyway-agent.jar", "skyway-bench.jar"), _java_inputs(), "", _build_jars),
            Step("engine", ("libskyway.so",), _native_inputs(), " ".join(COMPILER_FLAGS), _build_native),
        ]
        stale = [step for step in steps if not step.is_current()]
        if stale:
            require_tools()
        for step in stale:
            step.run()


def wheel_platform() -> str:
    """The platform part of the wheel's tag, e.g. linux_x86_64."""
    return sysconfig.get_platform().replace("-", "_").replace(".", "_")


def missing() -> list[str]:
    """Debian packages of the build tools that are missing."""
    return [package for package, find in _TOOLS.items() if _problem(find)]


@functools.cache
def build_jdk() -> Jdk:
    """The JDK to build with: JAVA_HOME, else the oldest one that will do, so that nothing newer slips in.

    :raises BuildError: there is none.
    """
    usable = [jdk for jdk in discover_jdks() if jdk.supported and _has_compiler(jdk)]
    if not usable:
        raise BuildError(
            "no JDK 17 or newer with javac and jni.h was found: install one (Debian: apt-get install "
            "openjdk-17-jdk-headless), or set JAVA_HOME to it"
        )
    home = os.environ.get("JAVA_HOME")
    for jdk in usable:
        if home and jdk.home == Path(home).resolve():
            return jdk
    return min(usable, key=lambda jdk: jdk.feature)


def maven() -> str:
    """Maven's command: $MVN, else mvn on PATH.

    :raises BuildError: there is none.
    """
    command = shutil.which(os.environ.get("MVN") or "mvn")
    if command is None:
        raise BuildError("Maven (mvn) was not found: install it (Debian: apt-get install maven)")
    return command


def compiler() -> list[str]:
    """The C++ compiler's command: $CXX, else g++, else clang++.

    :raises BuildError: there is none.
    """
    for candidate in (os.environ.get("CXX"), "g++", "clang++"):
        words = shlex.split(candidate or "")
        if words and shutil.which(words[0]):
            return words
    raise BuildError("no C++ compiler (g++) was found: install one (Debian: apt-get install g++), or set CXX")


def compiler_command(flags: Iterable[str]) -> list[str]:
    """The compiler with the include directories of the JDK, `flags`, and what it must be linked with.

    :raises BuildError: there is no compiler or no JDK.
    """
    include = build_jdk().home / "include"
    return [*compiler(), f"-I{include}", f"-I{include / 'linux'}", f"-I{NATIVE_SOURCES}", *flags, "-ldl", "-lpthread"]


#: The tools of the build, by the Debian packages that have them.
_TOOLS: Final[dict[str, Callable[[], object]]] = {
    "openjdk-17-jdk-headless": build_jdk,
    "maven": maven,
    "g++": compiler,
}


def _has_compiler(jdk: Jdk) -> bool:
    include = jdk.home / "include"
    return (
        os.access(jdk.home / "bin" / "javac", os.X_OK)
        and (include / "jni.h").is_file()
        and (include / "linux" / "jni_md.h").is_file()
    )


def _problem(find: Callable[[], object]) -> str | None:
    try:
        find()
    except BuildError as error:
        return str(error)
    return None


def require_tools() -> None:
    """:raises BuildError: tools of the build are missing; names all of them."""
    problems = [problem for find in _TOOLS.values() if (problem := _problem(find))]
    if problems:
        raise BuildError("; ".join(problems))


@dataclass(frozen=True)
class Step:
    """What is built of `inputs` (below ROOT) and `options`, and how: `make` gives the built files."""

    name: str
    outputs: Sequence[str]
    inputs: Sequence[Path]
    options: str
    make: Callable[[], Iterable[Path]]

    @property
    def _stamp(self) -> Path:
        return STAMPS / f"{self.name}.stamp"

    @functools.cached_property
    def _digest(self) -> str:
        whole = hashlib.sha256(self.options.encode())
        for path in self.inputs:
            whole.update(f"\0{path.relative_to(ROOT)}\0".encode())
            whole.update(hashlib.sha256(path.read_bytes()).digest())
        return whole.hexdigest()

    def is_current(self) -> bool:
        """Whether the outputs were built of these inputs."""
        try:
            stamped = self._stamp.read_text().strip()
        except OSError:
            return False
        return stamped == self._digest and all((LIB / output).is_file() for output in self.outputs)

    def run(self) -> None:
        """Builds. What the inputs were is read before, so that a change meanwhile is seen the next time."""
        digest = self._digest
        _say(f"building the {self.name}")
        self._stamp.unlink(missing_ok=True)
        for made in self.make():
            _install(made)
        self._stamp.write_text(digest + "\n")


def _install(made: Path) -> None:
    # By renaming: a JVM may have the old file mapped.
    fresh = LIB / f".{made.name}"
    shutil.copyfile(made, fresh)
    fresh.replace(LIB / made.name)


def _java_inputs() -> list[Path]:
    other = ("target", "test", NATIVE_SOURCES.name)
    sources = [path for path in _files(JVM) if not any(part in other for part in path.relative_to(JVM).parts)]
    return sorted([*sources, *_files(ROOT / "proto")])


def _native_inputs() -> list[Path]:
    return sorted(_files(NATIVE_SOURCES))


def _files(top: Path) -> Iterator[Path]:
    return (path for path in top.rglob("*") if path.is_file())


def _build_jars() -> list[Path]:
    jdk = build_jdk()
    command = [
        maven(),
        "--batch-mode",
        "--quiet",
        "-f",
        str(JVM / "pom.xml"),
        "-Dmaven.test.skip=true",
        "package",
    ]
    environment = {**os.environ, "JAVA_HOME": str(jdk.home)}
    _run(command, "Maven failed: its errors are above", environment)
    return [JVM / "agent" / "target" / "skyway-agent.jar", JVM / "bench" / "target" / "skyway-bench.jar"]


def _build_native() -> list[Path]:
    sources = sorted(str(path) for path in NATIVE_SOURCES.glob("*.cpp"))
    library = STAMPS / "libskyway.so"
    command = compiler_command([*COMPILER_FLAGS, *sources, "-o", str(library)])
    _run(command, "the C++ compiler failed: its errors are above", dict(os.environ))
    return [library]


def _run(command: Sequence[str], failure: str, environment: dict[str, str]) -> None:
    # Some Mavens write colours whatever they are told.
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment, text=True
    ) as process:
        assert process.stdout
        for line in process.stdout:
            plain = re.sub(r"\x1b\[[0-9;]*m", "", line)
            if plain.strip():
                print(plain, end="", file=sys.stderr, flush=True)
    if process.returncode != 0:
        raise BuildError(failure)


def _say(text: str) -> None:
    print(f"skyway: {text}", file=sys.stderr, flush=True)


@contextmanager
def _one_line_errors() -> Iterator[None]:
    try:
        yield
    except BuildError as error:
        sys.exit(f"skyway: {error}")


def _main(arguments: Sequence[str]) -> None:
    with _one_line_errors():
        match list(arguments):
            case []:
                build()
            case ["--missing"]:
                print("\n".join(missing()))
            case ["--jdk", feature]:
                homes = [jdk.home for jdk in discover_jdks() if str(jdk.feature) == feature and jdk.supported]
                if not homes:
                    raise BuildError(f"no JDK {feature} was found")
                print(homes[0])
            case ["--build-jdk"]:
                print(build_jdk().home)
            case ["--cxx", *flags]:
                print("\n".join(compiler_command(flags)))
            case _:
                print("usage: build.py [--missing | --jdk FEATURE | --build-jdk | --cxx FLAG...]", file=sys.stderr)
                sys.exit(2)


if __name__ == "__main__":
    _main(sys.argv[1:])
