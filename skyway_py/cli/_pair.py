"""Two JVMs for a command that needs no orchestrator in the background."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from skyway_py._jvm import Jvm
from skyway_py._orchestrator import Orchestrator


def launched_pair(orchestrator: Orchestrator, *, jdk: str | None, collector: str | None, heap: str) -> tuple[Jvm, Jvm]:
    """Launches "left" and "right" at the same time, alike. Their heaps have their full size from the start, so that
    no measurement depends on how far a heap has grown.

    :raises LaunchError: one of them did not start.
    """

    def launch(name: str) -> Jvm:
        return orchestrator.launch(name, jdk=jdk, collector=collector, heap=heap, java_args=[f"-Xms{heap}"])

    with ThreadPoolExecutor(2, thread_name_prefix="skyway-launch") as pool:
        left, right = pool.map(launch, ("left", "right"))
    return left, right
