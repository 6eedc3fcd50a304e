"""Reads the list of shapes from the test application that has them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

SOURCE: Final = Path(__file__).parent / "jvm" / "apps" / "fixture" / "Shapes.java"
CALL: Final = re.compile(r'^        (works|refused)\(\s*"([^"]+)",\s+"([^"]+)"', re.MULTILINE)


@dataclass(frozen=True)
class Shape:
    """One shape: its name, and what happens to it."""

    name: str
    what: str
    works: bool


SHAPES: Final = [Shape(m[2], m[3], m[1] == "works") for m in CALL.finditer(SOURCE.read_text())]

BEGIN: Final = "<!-- made by scripts/gen-fidelity -->\n"
END: Final = "<!-- end -->\n"


def table() -> str:
    """The shapes as a table in Markdown."""
    rows = [f"| {shape.name} | {shape.what} | {'works' if shape.works else 'refused'} |\n" for shape in SHAPES]
    return "".join(["| shape | what happens | in its new process |\n", "|---|---|---|\n", *rows])


def document(text: str, inside: str) -> str:
    """The document with its table replaced."""
    before, _, rest = text.partition(BEGIN)
    return before + BEGIN + inside + END + rest.partition(END)[2]
