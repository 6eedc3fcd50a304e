"""Large graphs, and many small ones: what they cost, and whether they arrive."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Final

from skyway_py import SkywayError, find_jdk
from skyway_py.cli._output import print_json, print_table
from tests.jvm import sizes
from tests.jvm.sizes import MIB, Case, Outcome

MILLION: Final = 1_000_000
#: Longest time of a transfer in seconds, and of many small ones.
TIMEOUT: Final = 600.0
CASES: Final = (
    Case("one object", "one", 1, 64, 64),
    Case("list of 10 million nodes", "list", 10 * MILLION, 1536, 1536),
    Case("50 million objects, a tree", "tree", 50 * MILLION, 4096, 4096),
    Case("50 million objects, edges anywhere", "web", 50 * MILLION, 3072, 3584, verify=False),
    Case("young generation of 32 MiB", "tree", 20 * MILLION, 1536, 1536, ("-Xmn32m",), verify=False),
    Case("image above 4 GB", "cells", 11 * MILLION, 6144, 6912, verify=False),
    Case("long[] of 2 GB", "longs", 1 << 28, 2816, 3072),
    Case("Object[] of 100 million", "array", 100 * MILLION, 2048, 2048),
    Case("30 million objects, a list of three at each node", "chain", 10 * MILLION, 2048, 2048, verify=False),
    Case("20,000 nested arrays", "hubs", 20_000, 1536, 1536, verify=False),
    Case("a million stand-ins", "soft", MILLION, 1536, 1536, verify=False),
)
COST: Final = "cost of an object"
#: A young generation in MiB that holds what arrives, or 0: what the collector makes of the heap.
COSTS: Final = (("list", 2000), ("tree", 2000), ("web", 2000), ("list", 0))
HEAP: Final = 3072
STREAM: Final = "1,000,000 records in a stream"
ROW: Final = "100,000 transfers in a row"
#: Its walk is interrupted until it ends in one window; its image is larger than the slots that this takes.
CASES_WITH_CHURN: Final = (
    Case("sender that allocates", "cells", 4 * MILLION, 3072, 3584, ("-Xmn64m",), churn=True, verify=False),
)
REFUSED: Final = Case("receiver without room", "list", 50 * MILLION, 2048, 512)


def _case(app: list[str], jdk: str, collector: str, case: Case) -> Outcome:
    return sizes.run(app, find_jdk(jdk), collector, case, TIMEOUT)


def _refused(app: list[str], jdk: str, collector: str) -> Outcome:
    with sizes.world(app, find_jdk(jdk), collector, REFUSED.left, REFUSED.right) as pair:
        return sizes.refused(pair, REFUSED, timeout=TIMEOUT)


def _costs(app: list[str], jdk: str, collector: str, shape: str, young: int) -> Outcome:
    flags = [f"-Xmn{young}m"] if young else []
    with sizes.world(app, find_jdk(jdk), collector, HEAP, HEAP, flags) as pair:
        outcome = _outcome(f"{COST}, {shape}, {_young(young)}", shape, 10 * MILLION, jdk, collector, HEAP)
        outcome.facts = sizes.costs(pair, shape, 100_000, 10 * MILLION, 7, timeout=TIMEOUT)
    return outcome


def _young(mib: int) -> str:
    return f"young generation of {mib} MiB" if mib else "young generation as it comes"


def _row(app: list[str], jdk: str, collector: str, seconds: float) -> Outcome:
    with sizes.world(app, find_jdk(jdk), collector, 256, 256) as pair:
        outcome = _outcome(ROW, "one", 100_000, jdk, collector, 256)
        outcome.facts = sizes.in_a_row(pair, 100_000, seconds)
        outcome.seconds = outcome.facts["seconds"]
    return outcome


def _stream(app: list[str], jdk: str, collector: str, seconds: float) -> Outcome:
    outcome = _outcome(STREAM, "record", MILLION, jdk, collector, 256)
    outcome.facts = sizes.streamed(app, find_jdk(jdk), collector, 256, MILLION, seconds)
    outcome.seconds = outcome.facts["seconds"]
    return outcome


def _outcome(what: str, shape: str, size: int, jdk: str, collector: str, heap: int) -> Outcome:
    return Outcome(what, shape, size, jdk, collector, heap, heap)


def measure(features: list[str], collector: str, only: str, seconds: float, output: str) -> bool:
    """Runs all cases, or those whose name has that text, on each JDK, and prints a table or JSON.

    :param seconds: most for each of the rows of many small transfers.
    :returns: whether all went well.
    """
    done: list[Outcome] = []
    good = True
    with tempfile.TemporaryDirectory() as directory:
        app = sizes.compile_app(find_jdk(features[0]), Path(directory))
        for jdk in features:
            jobs: list[tuple[str, Callable[[], Outcome]]] = [
                *((case.what, partial(_case, app, jdk, collector, case)) for case in (*CASES, *CASES_WITH_CHURN)),
                (REFUSED.what, partial(_refused, app, jdk, collector)),
                *(
                    (f"{COST}, {shape}, {_young(young)}", partial(_costs, app, jdk, collector, shape, young))
                    for shape, young in COSTS
                ),
                (STREAM, partial(_stream, app, jdk, collector, seconds)),
                (ROW, partial(_row, app, jdk, collector, seconds)),
            ]
            for what, job in jobs:
                if only not in what:
                    continue
                print(f"JDK {jdk}: {what}", file=sys.stderr)
                try:
                    done.append(job())
                    print(f"JDK {jdk}: {_row_of(done[-1])}", file=sys.stderr)
                except (AssertionError, SkywayError) as error:
                    good = False
                    print(f"JDK {jdk}: FAILED: {what}: {error}", file=sys.stderr)
    if output == "json":
        print_json([asdict(outcome) for outcome in done])
    else:
        print_table(HEADINGS, [_row_of(outcome) for outcome in done])
    return good and bool(done)


HEADINGS: Final = (
    "what",
    "JDK",
    "heaps, MiB",
    "objects",
    "image",
    "seconds",
    "collecting",
    "sender's engine",
    "receiver's engine",
    "blocks",
    "late",
    "restarts",
    "verified",
)


def _row_of(outcome: Outcome) -> list[str]:
    facts = ", ".join(f"{name} {value:,}" for name, value in outcome.facts.items()) or outcome.said
    sender, receiver = outcome.sender, outcome.receiver
    return [
        outcome.what + (f": {facts}" if facts else ""),
        outcome.jdk,
        f"{outcome.left_heap_mib}, {outcome.right_heap_mib}",
        f"{outcome.objects:,}",
        f"{outcome.image_bytes / MIB:,.0f} MiB",
        f"{outcome.seconds:.1f}",
        f"{outcome.sender_gc_seconds:.1f}, {outcome.receiver_gc_seconds:.1f}",
        f"{sender.engine_peak / MIB:,.1f} MiB" if sender else "",
        f"{receiver.engine_peak / MIB:,.1f} MiB" if receiver else "",
        f"{sender.shared_peak / MIB:,.1f} MiB" if sender else "",
        f"{outcome.late_references:,}",
        f"{outcome.restarts}",
        "yes" if outcome.verified else "by the application" if outcome.objects else "",
    ]
