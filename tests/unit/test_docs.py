"""The documents speak of what is there."""

from __future__ import annotations

import re
from pathlib import Path

from tests.shapes import SHAPES, document, table

ROOT = Path(__file__).resolve().parents[2]
#: Said by the JVM, not by us.
FOREIGN = ("WARNING: A Java agent has been loaded dynamically",)


def _sources() -> str:
    files = [
        path
        for top, endings in (("skyway_py", {".py"}), ("scripts", {".py"}), ("jvm-agent", {".java", ".cpp"}))
        for path in (ROOT / top).rglob("*")
        if path.suffix in endings and "_proto" not in path.parts and "target" not in path.parts
    ]
    text = "\n".join(path.read_text(encoding="utf-8") for path in files)
    # Messages are often written as several strings in a row.
    return re.sub(r'"\s*\+?\s*f?"', "", text).replace('\\"', '"')


def test_headings_of_troubleshooting_are_messages() -> None:
    sources = _sources()
    headings = re.findall(
        r"^### `(.*)`$", (ROOT / "docs" / "troubleshooting.md").read_text("utf-8"), flags=re.MULTILINE
    )
    assert len(headings) > 30
    stale = [
        f"{heading!r}: {part.strip()!r}"
        for heading in headings
        if heading not in FOREIGN
        for part in heading.split("…")
        if len(part.strip(" '\":;(.)")) > 3 and part.strip(" '\":;(.)") not in sources
    ]
    assert not stale, "\n".join(stale)


def test_links_of_documents_lead_somewhere() -> None:
    dead = [
        f"{document.name}: {target}"
        for document in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]
        for target in re.findall(r"\]\(([^)#:]+)\)", document.read_text("utf-8"))
        if not (document.parent / target).exists()
    ]
    assert not dead


def test_table_of_fidelity_is_that_of_the_shapes() -> None:
    text = (ROOT / "docs" / "fidelity.md").read_text("utf-8")
    assert len(SHAPES) > 40
    assert document(text, table()) == text, "run scripts/gen-fidelity"
