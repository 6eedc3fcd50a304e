"""One graph through several serializers: the runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from skyway_py._comparison import Comparison, ComparisonHook, SerializerResult
from skyway_py._errors import InvalidRequest, JvmLost, RootMissing, SkywayError, TransferCancelled
from skyway_py._link import Link
from skyway_py._transfer_result import TransferResult

# These concern the whole comparison, not one serializer.
_FATAL = (JvmLost, RootMissing, TransferCancelled)


def run_comparison(
    connect: Callable[[], Link],
    root: str,
    serializers: Sequence[str],
    *,
    runs: int,
    warmup: int,
    timeout: float | None,
    max_pause_micros: int = 0,
    max_seconds: float | None,
    on_step: ComparisonHook | None,
) -> Comparison:
    """Sends the graph `warmup` + `runs` times with each serializer, in rounds, so that whatever else the machine does
    hits all of them alike. The order within a round rotates. A serializer that fails is not run again.

    :param connect: gives the link, another one when a failure has broken it.
    :param max_seconds: no round begins after this time, apart from a first measured one.
    :raises InvalidRequest: `runs` is not positive or `warmup` negative.
    :raises SkywayError: something failed that concerns all of them.
    """
    if runs < 1 or warmup < 0:
        raise InvalidRequest(f"{runs} runs after {warmup} for warm-up make no comparison: take at least one run")
    reports: dict[str, list[TransferResult]] = {name: [] for name in serializers}
    failures: dict[str, str] = {}
    total = (warmup + runs) * len(serializers)
    done = 0
    started = time.monotonic()
    rounds = 0
    for number in range(warmup + runs):
        spent = 0.0 if max_seconds is None else (time.monotonic() - started) / max_seconds
        if rounds and spent >= 1:
            break
        # Half of the time is for measuring, whatever the warm-up takes.
        measured = number >= warmup or spent >= 0.5
        rounds += measured
        shift = number % len(serializers)
        for name in (*serializers[shift:], *serializers[:shift]):
            done += 1
            if name in failures:
                continue
            if on_step is not None:
                on_step(done - 1, total, name)
            try:
                result = (
                    connect()
                    .start_transfer(
                        root,
                        "skyway-comparison",
                        serializer=name,
                        timeout=timeout,
                        discard=True,
                        max_pause_micros=max_pause_micros,
                        again=connect,
                    )
                    .result()
                )
            except _FATAL:
                raise
            except SkywayError as error:
                failures[name] = error.message
                continue
            if measured:
                reports[name].append(result)
    results = tuple(
        SerializerResult(name, () if name in failures else tuple(reports[name]), failures.get(name))
        for name in serializers
    )
    link = connect()
    return Comparison(link.sender.name, link.receiver.name, root, warmup, results)
