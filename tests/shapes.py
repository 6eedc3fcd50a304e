"""Reads the list of shapes from the test applications that have them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

APPS: Final = Path(__file__).parent / "jvm" / "apps"
CALL: Final = re.compile(r'^        (works|map|set|refused)\(\s*"([^"]+)",\s+"([^"]+)"', re.MULTILINE)


@dataclass(frozen=True)
class Shape:
    """One shape: its name, and what happens to it."""

    name: str
    what: str
    works: bool


def _shapes(source: Path) -> list[Shape]:
    return [Shape(m[2], m[3], m[1] != "refused") for m in CALL.finditer(source.read_text())]


#: Of the JDK's classes and of an application's own.
SHAPES: Final = _shapes(APPS / "fixture" / "Shapes.java")
#: Of other libraries' classes.
FOREIGN: Final = _shapes(APPS / "foreign" / "Foreign.java")

BEGIN: Final = "<!-- made by scripts/gen-fidelity -->\n"
END: Final = "<!-- end -->\n"


def table() -> str:
    """The shapes as a table in Markdown."""
    rows = [
        f"| {shape.name} | {shape.what} | {'works' if shape.works else 'refused'} |\n" for shape in SHAPES + FOREIGN
    ]
    return "".join(["| shape | what happens | in its new process |\n", "|---|---|---|\n", *rows])


def document(text: str, inside: str) -> str:
    """The document with its table replaced."""
    before, _, rest = text.partition(BEGIN)
    return before + BEGIN + inside + END + rest.partition(END)[2]
