"""Numbers as people read them."""

from __future__ import annotations

import re
from typing import Final

from skyway_py._errors import InvalidRequest

_HEAP: Final = re.compile(r"[1-9][0-9]*[kKmMgGtT]?")


def bytes_text(count: float) -> str:
    """1234567 → "1.2 MB" (powers of ten)."""
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= scale:
            return f"{count / scale:.1f} {unit}"
    return f"{count:.0f} B"


def heap_text(count: int) -> str:
    """A heap's size in the units that Java takes: 1073741824 → "1g"."""
    for unit, scale in (("g", 1 << 30), ("m", 1 << 20)):
        if count >= scale:
            return f"{count / scale:.1f}".removesuffix(".0") + unit
    return f"{count >> 10}k"


def count_text(count: int) -> str:
    """1234567 → "1,234,567"."""
    return f"{count:,}"


def millis_text(millis: float) -> str:
    """Milliseconds with three digits that count: "0.013 ms", "12.3 ms", "1,234 ms"."""
    if millis >= 100:
        return f"{millis:,.0f} ms"
    return f"{millis:.1f} ms" if millis >= 10 else f"{millis:.2f} ms"


def range_text(low: float, high: float) -> str:
    """Two numbers of milliseconds: "12.3 to 15.0 ms"."""
    return f"{millis_text(low).removesuffix(' ms')} to {millis_text(high)}"


def rate_text(bytes_per_second: float) -> str:
    """Bytes per second as "1.2 GB/s"."""
    return f"{bytes_text(bytes_per_second)}/s"


def checked_heap(text: str) -> str:
    """A heap size as Java takes it: a number and k, m, g or t.

    :raises InvalidRequest: it is not one.
    """
    if not _HEAP.fullmatch(text):
        raise InvalidRequest(f"'{text}' is not a heap size: write a number with k, m or g, such as 512m or 4g")
    return text
