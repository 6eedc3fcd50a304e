"""Two JVMs for a command that needs no orchestrator in the background."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from skyway_py._jvm import Jvm
from skyway_py._orchestrator import Orchestrator


def launched_pair(orchestrator: Orchestrator, *, jdk: str | None, collector: str | None, heap: str) -> tuple[Jvm, Jvm]:
    """Launches "left" and "right" at the same time, alike. Their heaps have their full size from the start, in memory
    too, so that no measurement depends on how far a heap has grown. Half of the receiver's is young generation, so that
    a graph of a workload's size can arrive without a collection, whoever sends it. The sender keeps the small one that
    its collector chooses: collections while a graph is built move its objects together, as those of a graph that lives.

    :raises LaunchError: one of them did not start.
    """

    def launch(name: str) -> Jvm:
        arguments = [f"-Xms{heap}", "-XX:+AlwaysPreTouch", *(["-XX:NewRatio=1"] if name == "right" else [])]
        return orchestrator.launch(name, jdk=jdk, collector=collector, heap=heap, java_args=arguments)

    with ThreadPoolExecutor(2, thread_name_prefix="skyway-launch") as pool:
        left, right = pool.map(launch, ("left", "right"))
    return left, right
