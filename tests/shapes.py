"""Reads the list of shapes from the test application that has them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

SOURCE: Final = Path(__file__).parent / "jvm" / "apps" / "fixture" / "Shapes.java"
CALL: Final = re.compile(r'^        (works|refused)\("([^"]+)",\s+"([^"]+)"', re.MULTILINE)


@dataclass(frozen=True)
class Shape:
    """One shape: its name, and what happens to it."""

    name: str
    what: str
    works: bool


SHAPES: Final = [Shape(m[2], m[3], m[1] == "works") for m in CALL.finditer(SOURCE.read_text())]
