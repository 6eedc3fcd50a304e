"""JDKs of this machine: where distributions and tools put them, and what their `release` files say."""

from __future__ import annotations

import functools
import os
import platform
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from skyway_py._errors import JdkNotFound

#: Oldest feature release that the agent runs on.
OLDEST_FEATURE: Final = 17

# Debian, Ubuntu, Fedora and SUSE; Oracle's packages; images of containers; hand-made ones; version managers.
_PATTERNS: Final = (
    "/usr/lib/jvm/*",
    "/usr/lib64/jvm/*",
    "/usr/lib32/jvm/*",
    "/usr/java/*",
    "/usr/local/java*",
    "/usr/local/openjdk*",
    "/usr/local/jdk*",
    "/opt/java/*",
    "/opt/jdk*",
    "/opt/openjdk*",
    "~/.sdkman/candidates/java/*",
    "~/.jdks/*",
    "~/.asdf/installs/java/*",
    "~/.local/share/mise/installs/java/*",
    "~/.jabba/jdk/*",
    "~/.gradle/jdks/*",
)
_MACHINES: Final = {"amd64": "x86_64", "x64": "x86_64", "arm64": "aarch64"}


@dataclass(frozen=True)
class Jdk:
    """One JDK. `version` is as in its `release` file, e.g. "17.0.15"; `feature` is its first number."""

    home: Path
    version: str
    feature: int
    vendor: str
    architecture: str
    modules: frozenset[str]

    @property
    def java(self) -> Path:
        """The launcher."""
        return self.home / "bin" / "java"

    @property
    def libjvm(self) -> Path:
        """The VM as a library, for a JVM inside this process."""
        return self.home / "lib" / "server" / "libjvm.so"

    @property
    def can_attach(self) -> bool:
        """Whether it has the attach API."""
        return "jdk.attach" in self.modules

    @property
    def supported(self) -> bool:
        """Whether the agent runs on it: not too old, and made for this machine."""
        return self.feature >= OLDEST_FEATURE and self.architecture in ("", _architecture(platform.machine()))

    def __str__(self) -> str:
        return f"JDK {self.version} ({self.home})"

    def _repr_html_(self) -> str:
        from skyway_py._html import facts

        return facts("JDK", {"version": self.version, "vendor": self.vendor, "home": str(self.home)})


def parse_release(text: str) -> dict[str, str]:
    """The entries of a `release` file: lines of NAME="VALUE". Other lines are skipped."""
    entries = re.findall(r'^([A-Za-z_][A-Za-z0-9_]*)="?([^"\n]*)"?\s*$', text, flags=re.MULTILINE)
    return dict(entries)


def read_jdk(home: Path) -> Jdk | None:
    """The JDK in a directory; None when there is none that can be used."""
    try:
        home = home.resolve(strict=True)
        if not os.access(home / "bin" / "java", os.X_OK):
            return None
        release = parse_release((home / "release").read_text(encoding="utf-8", errors="replace"))
    except (OSError, RuntimeError):
        return None
    version = release.get("JAVA_VERSION", "")
    feature = feature_of(version)
    if feature is None:
        return None
    return Jdk(
        home=home,
        version=version,
        feature=feature,
        vendor=release.get("IMPLEMENTOR", ""),
        architecture=_architecture(release.get("OS_ARCH", "")),
        modules=frozenset(release.get("MODULES", "").split()),
    )


def feature_of(version: str) -> int | None:
    """The feature release of a version: 17 of "17.0.15", 8 of "1.8.0_402"; None when it is no version."""
    match = re.match(r"(?:1\.)?(\d+)", version)
    return int(match[1]) if match else None


def discover_jdks(environment: Mapping[str, str] | None = None, patterns: Iterable[str] = _PATTERNS) -> list[Jdk]:
    """All JDKs that can be found, each once: first JAVA_HOME and the `java` on PATH, then JDK_HOME and
    JAVA_HOME_*, then the usual directories, newest first.
    """
    environment = os.environ if environment is None else environment
    found: dict[Path, Jdk] = {}
    for home in _named(environment):
        jdk = read_jdk(home)
        if jdk:
            found.setdefault(jdk.home, jdk)
    usual = {jdk.home: jdk for home in _usual(patterns) if (jdk := read_jdk(home))}
    for jdk in sorted(usual.values(), key=lambda jdk: _version_key(jdk.version), reverse=True):
        found.setdefault(jdk.home, jdk)
    return list(found.values())


def find_jdk(wanted: int | str | Path | Jdk | None = None, jdks: Iterable[Jdk] | None = None) -> Jdk:
    """The JDK that fits a request.

    :param wanted: a feature release (17), the beginning of a version ("17.0"), a home directory, a Jdk, or None for
        the first one that the agent runs on.
    :raises JdkNotFound: none fits; the message lists what was found.
    """
    if isinstance(wanted, Jdk):
        return wanted
    text = "" if wanted is None else str(wanted)
    if os.sep in text:
        jdk = read_jdk(Path(text).expanduser())
        if jdk is None:
            raise JdkNotFound(f"{text} is not the home of a JDK: it needs bin/java and a release file")
        return jdk
    known = list(discover_jdks() if jdks is None else jdks)
    for jdk in known:
        if text and (jdk.version == text or jdk.version.startswith(f"{text}.") or str(jdk.feature) == text):
            return jdk
        if not text and jdk.supported:
            return jdk
    listed = ", ".join(str(jdk) for jdk in known) or "none"
    what = f"no JDK {text}" if text else f"no JDK {OLDEST_FEATURE} or newer for this machine"
    raise JdkNotFound(f"{what} was found (found: {listed}): install one, or set JAVA_HOME to its home directory")


@functools.lru_cache(maxsize=64)
def feature_of_java(java: Path) -> int:
    """The feature release of a launcher: from the `release` file beside it, else by running it once.

    :raises JdkNotFound: it does not run.
    """
    jdk = read_jdk(java.resolve().parent.parent)
    if jdk and java.resolve().name == "java":
        return jdk.feature
    try:
        done = subprocess.run(
            [java, "-XshowSettings:properties", "-version"],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise JdkNotFound(f"{java} does not run: {error}: give the path of a JDK's bin/java") from error
    match = re.search(r"java\.specification\.version = (\S+)", done.stderr + done.stdout)
    feature = feature_of(match[1]) if match else None
    if feature is None:
        raise JdkNotFound(f"{java} does not say its version: give the path of a JDK's bin/java")
    return feature


def _named(environment: Mapping[str, str]) -> Iterator[Path]:
    if environment.get("JAVA_HOME"):
        yield Path(environment["JAVA_HOME"])
    java = shutil.which("java", path=environment.get("PATH", ""))
    if java:
        yield Path(java).resolve().parent.parent
    for name, value in sorted(environment.items()):
        if value and (name == "JDK_HOME" or name.startswith("JAVA_HOME_")):
            yield Path(value)


def _usual(patterns: Iterable[str]) -> Iterator[Path]:
    for pattern in patterns:
        base = Path(pattern).expanduser()
        if base.is_absolute():
            yield from sorted(base.parent.glob(base.name))


def _architecture(name: str) -> str:
    return _MACHINES.get(name.lower(), name.lower())


def _version_key(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version)) or (0,)
