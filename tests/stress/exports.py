"""Which objects later segments name: what the ways of landing while the walk goes on are weighed by.

A transfer over TCP goes through a relay that keeps the blocks; docs/image-format.md says how they are read.
"""

from __future__ import annotations

import struct
from array import array
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Final

import click

from skyway_py import Orchestrator
from skyway_py.cli._output import print_json, print_table
from tests.jvm.faults import Relay, RelayedLink

#: How a block begins: its magic number, version and length of its header.
BEGINS: Final = b"SKWY" + struct.pack("<HH", 1, 144)
HEADER: Final = struct.Struct("<IHHQQQIIQQQIIQIIIIIIQQQQQ")
PIECE: Final = 1
LARGE: Final = 0xFFFF
#: Types in the table.
COMMON: Final = 4


@dataclass(frozen=True)
class Block:
    """The parts of a block that name objects."""

    kind: int
    segment: int
    payload: bytes
    #: Targets of its own slots, or elements of a large array of references.
    cross: array[int]
    #: Targets of slots of earlier segments.
    late: array[int]
    array_type: int


@dataclass(frozen=True)
class Named:
    """Of one image: objects that a segment after their own names."""

    workload: str
    objects: int
    blocks: int
    #: Distinct objects that a later segment names.
    named_later: int
    #: Segments of which an object is named in the second half of what follows them.
    named_until_late: int
    #: Blocks between an object's segment and the last one that names it, at most.
    longest_lag: int
    #: The most common classes of such objects.
    classes: dict[str, int]


def blocks(data: bytes) -> Iterator[Block]:
    """All blocks of a connection."""
    at = data.find(BEGINS)
    while at >= 0:
        header = HEADER.unpack_from(data, at)
        kind, size, segment = header[7], header[9], header[10]
        payload, cross, late, array_type = header[13], header[14], header[15], header[19]
        begin = at + HEADER.size
        lists = begin + (payload + 7) // 8 * 8
        crosses = array("Q", data[lists : lists + 8 * cross])
        lates = array("Q", data[lists + 8 * cross : lists + 8 * cross + 16 * late])[1::2]
        yield Block(kind, segment, data[begin : begin + payload], crosses, lates, array_type)
        at = data.find(BEGINS, at + size)


def count(workload: str, objects: int, found: list[Block], names: dict[int, str]) -> Named:
    """Counts over the blocks of one image; `names`: classes by type id."""
    at = {block.segment: number for number, block in enumerate(found)}
    last: dict[int, int] = {}
    for number, block in enumerate(found):
        targets = [block.cross, block.late]
        if block.kind == PIECE and names[block.array_type].startswith(("[L", "[[")):
            targets = [array("Q", block.payload)]
        for target in (target for targets in targets for target in targets):
            # Not a named object, nor what is made of a stand-in.
            if target >> 62 == 0 and at[target >> 16] < number:
                last[target] = number
    lags = [number - at[target >> 16] for target, number in last.items()]
    until: dict[int, int] = {}
    for target, number in last.items():
        until[at[target >> 16]] = max(number, until.get(at[target >> 16], 0))
    late = sum(number - segment > (len(found) - 1 - segment) / 2 for segment, number in until.items())
    classes = Counter(_class(found[at[target >> 16]], target & 0xFFFF, names) for target in last)
    return Named(
        workload, objects, len(found), len(last), late, max(lags, default=0), dict(classes.most_common(COMMON))
    )


def _class(block: Block, unit: int, names: dict[int, str]) -> str:
    if unit == LARGE:
        return "(large arrays)"
    # After the word of the mark; headers are not compact unless one asks for it.
    return names[struct.unpack_from("<I", block.payload, (unit - 1) * 8 + 8)[0]]


class _KeptLink(RelayedLink):
    kept: bytearray

    def _relay(self, port: int) -> Relay:
        self.kept = bytearray()
        return Relay(port, keep=self.kept.extend)


def measure(jdk: str, workload: str, size: int) -> Named:
    """One transfer."""
    with Orchestrator() as skyway:
        left = skyway.launch("left", jdk=jdk, heap="2g", workload=workload, size=size)
        right = skyway.launch("right", jdk=jdk, heap="2g")
        link = _KeptLink(left, right, "tcp")
        with link:
            result = link.transfer(workload)
        found = list(blocks(bytes(link.kept)))
        types = skyway._server.types
        names = {number: types.lookup([number])[0].class_name for number in range(1, len(types) + 1)}
        return count(workload, result.objects, found, names)


HEADINGS: Final = ("workload", "objects", "segments", "named later", "in the last half", "longest lag", "classes")


@click.command()
@click.option("--jdk", default="17", show_default=True, help="Feature release.")
@click.option(
    "--workloads", default="catalog,media,graph", show_default=True, help="What is sent, with commas between."
)
@click.option("--size", default=0, help="Its size.  [default: the workload's]")
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
def main(jdk: str, workloads: str, size: int, form: str) -> None:
    """Which objects of an image its later segments name."""
    found = [measure(jdk, workload, size) for workload in workloads.split(",")]
    if form == "json":
        print_json([asdict(of) for of in found])
        return
    rows = [
        (
            of.workload,
            f"{of.objects:,}",
            str(of.blocks),
            f"{of.named_later / of.objects:.1%}",
            f"{of.named_until_late / of.blocks:.0%}",
            str(of.longest_lag),
            ", ".join(f"{name.rpartition('.')[2]} {times / of.named_later:.0%}" for name, times in of.classes.items()),
        )
        for of in found
    ]
    print_table(HEADINGS, rows, right=HEADINGS[1:6])


if __name__ == "__main__":
    main()
