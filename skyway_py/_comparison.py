"""One graph through several serializers: the numbers."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from skyway_py import _units as units
from skyway_py._errors import InvalidRequest
from skyway_py._html import table
from skyway_py._transfer_result import SKYWAY, TransferResult

# A name stands for both modes, references on and off, so that nobody reads one of them as all of Kryo.
_EXPANDED: Final = {"kryo": ("kryo", "kryo-tree"), "fory": ("fory", "fory-tree")}

#: Called before each single transfer with (done, total, serializer).
ComparisonHook = Callable[[int, int, str], None]


def expand_serializers(names: Iterable[str]) -> tuple[str, ...]:
    """The serializers of a comparison, the engine first: "kryo" means with references and as a tree.

    :raises InvalidRequest: a name is empty or no name is left.
    """
    expanded: dict[str, None] = {SKYWAY: None}
    for name in names:
        if not name:
            raise InvalidRequest("a serializer's name is empty: write them as java,kryo")
        expanded.update(dict.fromkeys(_EXPANDED.get(name, (name,))))
    return tuple(expanded)


@dataclass(frozen=True)
class Spread:
    """Median and spread of several values."""

    minimum: float
    lower_quartile: float
    median: float
    upper_quartile: float
    maximum: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """:raises ValueError: there are no values."""
        if not values:
            raise ValueError("no values")
        if len(values) == 1:
            return cls(*(values[0],) * 5)
        lower, median, upper = statistics.quantiles(values, n=4, method="inclusive")
        return cls(min(values), lower, median, upper, max(values))

    def to_dict(self) -> dict[str, float]:
        return {
            "min": self.minimum,
            "q1": self.lower_quartile,
            "median": self.median,
            "q3": self.upper_quartile,
            "max": self.maximum,
        }


@dataclass(frozen=True)
class SerializerResult:
    """One serializer's runs. With an `error` it could not move the graph, and there is nothing else."""

    serializer: str
    runs: tuple[TransferResult, ...]
    error: str | None = None

    @property
    def total_ms(self) -> Spread | None:
        return self._spread([run.total_ms for run in self.runs])

    @property
    def send_ms(self) -> Spread | None:
        return self._spread([run.send_ms for run in self.runs])

    @property
    def transport_ms(self) -> Spread | None:
        return self._spread([run.transport_ms for run in self.runs])

    @property
    def land_ms(self) -> Spread | None:
        return self._spread([run.land_ms for run in self.runs])

    @property
    def bytes(self) -> int | None:
        """Median of the bytes that crossed the link."""
        spread = self._spread([run.image_bytes for run in self.runs])
        return round(spread.median) if spread else None

    def _spread(self, values: Sequence[float]) -> Spread | None:
        return Spread.of(values) if values and self.error is None else None


@dataclass(frozen=True)
class Comparison:
    """One graph through several serializers, over the same link, interleaved."""

    sender: str
    receiver: str
    root: str
    warmup: int
    results: tuple[SerializerResult, ...]

    def __getitem__(self, serializer: str) -> SerializerResult:
        """:raises KeyError: it was not compared."""
        for result in self.results:
            if result.serializer == serializer:
                return result
        raise KeyError(serializer)

    def ratio(self, serializer: str) -> float | None:
        """A serializer's median total over Skyway's: how many times longer it took. None when either failed."""
        own = self[SKYWAY].total_ms
        other = self[serializer].total_ms
        return other.median / own.median if own and other and own.median else None

    def to_dict(self) -> dict[str, Any]:
        """Everything, every single run included, ready for JSON."""
        return {
            "sender": self.sender,
            "receiver": self.receiver,
            "root": self.root,
            "warmup": self.warmup,
            "results": [self._result_dict(result) for result in self.results],
        }

    def _result_dict(self, result: SerializerResult) -> dict[str, Any]:
        spreads = {name: getattr(result, name) for name in ("total_ms", "send_ms", "transport_ms", "land_ms")}
        return {
            "serializer": result.serializer,
            **{name: spread.to_dict() if spread else None for name, spread in spreads.items()},
            "bytes": result.bytes,
            "ratio": self.ratio(result.serializer),
            "error": result.error,
            "runs": [run.to_dict() for run in result.runs],
        }

    HEADER: ClassVar[tuple[str, ...]] = (
        "serializer",
        "total",
        "range",
        "quartiles",
        "send",
        "transport",
        "land",
        "bytes",
        "ratio",
    )

    def rows(self) -> list[tuple[str, ...]]:
        """The table as people read it, under `HEADER`; a failed serializer's row has its error in the second column."""
        return [self._row(result) for result in self.results]

    def _row(self, result: SerializerResult) -> tuple[str, ...]:
        total, send, transport, land = result.total_ms, result.send_ms, result.transport_ms, result.land_ms
        if total is None or send is None or transport is None or land is None:
            return (result.serializer, f"error: {result.error}")
        ratio = self.ratio(result.serializer)
        return (
            result.serializer,
            units.millis_text(total.median),
            units.range_text(total.minimum, total.maximum),
            units.range_text(total.lower_quartile, total.upper_quartile),
            units.millis_text(send.median),
            units.millis_text(transport.median),
            units.millis_text(land.median),
            units.bytes_text(result.bytes or 0),
            "" if ratio is None else f"{ratio:.2f}x",
        )

    def _repr_html_(self) -> str:
        return table(f"{self.sender}:{self.root} → {self.receiver}", self.HEADER, self.rows())
