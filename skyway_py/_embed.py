"""A JVM inside this Python process, so that a notebook can receive a graph and touch its objects."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skyway_py._errors import EmbedError
from skyway_py._jdk import Jdk
from skyway_py._jvm import Jvm
from skyway_py._launch import LaunchPlan

if TYPE_CHECKING:
    from types import ModuleType


class EmbeddedJvm(Jvm):
    """The JVM inside this process. Its Java objects are JPype's."""

    def take(self, name: str, timeout: float = 60.0) -> Any:
        """Waits for a received graph, gives its root and forgets the name.

        :param timeout: in seconds.
        :raises TimeoutError: nothing of that name has come.
        """
        jpype = load_jpype()
        duration = jpype.JClass("java.time.Duration").ofMillis(round(timeout * 1e3))
        try:
            return self._api(jpype).take(name, duration)
        except jpype.JClass("java.util.concurrent.TimeoutException") as error:
            raise TimeoutError(f"no graph '{name}' has come within {timeout:g} s") from error

    def peek(self, name: str) -> Any:
        """The root of that name, or None."""
        return self._api(load_jpype()).peek(name)

    def publish(self, name: str, root: Any) -> None:
        """Offers a Java object as a root."""
        self._api(load_jpype()).publish(name, root)

    def _api(self, jpype: ModuleType) -> Any:
        return jpype.JClass("io.skyway.api.Skyway")


def load_jpype() -> ModuleType:
    """JPype.

    :raises EmbedError: it is not installed.
    """
    try:
        import jpype  # type: ignore[import-untyped]
    except ImportError as error:
        raise EmbedError("a JVM inside this process needs JPype: run `pip install jpype1`") from error
    module: ModuleType = jpype
    return module


def start_embedded(jdk: Jdk, plan: LaunchPlan, agent_option: str, class_path: Sequence[str | Path]) -> None:
    """Starts the JVM of this process. It can neither be ended nor started again before the process ends.

    :raises EmbedError: it does not start.
    """
    jpype = load_jpype()
    if not jdk.libjvm.is_file():
        raise EmbedError(f"{jdk} has no lib/server/libjvm.so: choose another JDK")
    flags = plan.options(agent_option)
    if plan.feature >= 21:
        # A later orchestrator of this process loads the agent into the running JVM; without this it warns.
        flags.append("-XX:+EnableDynamicAgentLoading")
    try:
        # Without `interrupt` Ctrl-C stays Python's.
        jpype.startJVM(*flags, jvmpath=str(jdk.libjvm), classpath=[str(entry) for entry in class_path], interrupt=False)
    except Exception as error:
        raise EmbedError(f"no JVM of {jdk} started in this process: {error}") from error


def is_running() -> bool:
    """Whether this process already has a JVM."""
    return bool(load_jpype().isJVMStarted())
