"""Random graphs between two JVMs that run fixture.Graphs: "left" builds, "right" compares with its own."""

from __future__ import annotations

from typing import Final

from skyway_py import Orchestrator

#: Graphs in one transfer.
BATCH: Final = 200


def run(skyway: Orchestrator, batches: int) -> int:
    """Sends so many batches; gives the number of graphs. A difference is a TransferError that has the graph's seed."""
    for _ in range(batches):
        # The receiver says which seeds come next, after each batch that was right.
        skyway.transfer("right:fixture.Graphs#next", "left", destination="asked", timeout=60.0)
        skyway.transfer("left:graphs", "right", destination="arrived", timeout=300.0)
    return batches * BATCH
