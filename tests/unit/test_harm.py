"""The arithmetic of scripts/harm."""

from __future__ import annotations

import math
from pathlib import Path

from tests.stress.harm import Felt, corrected, delays, rows


def test_a_long_delay_counts_for_each_millisecond_of_it() -> None:
    assert corrected([500, 3500]) == [0.5, 3.5, 2.5, 1.5, 0.5]


def test_only_batches_that_began_in_the_phase_count(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("ready\nhiccups 999 1\nhiccups 1000 200 300\nhiccups 1999 400\nhiccups 2000 7\nhiccups 15")
    assert delays(log, 1.0, 2.0) == [0.2, 0.3, 0.4]


def test_percentiles_and_ratios() -> None:
    quiet = Felt("17", "left", "nothing", seconds=2.0, late_ms=[0.1] * 999 + [2.0])
    busy = Felt("17", "left", "skyway", 2.0, 3, [30.0, 10.0, 20.0], 4, 100, [0.1] * 998 + [1.0, 3.0], 1, 9.0, 6.0, 4.95)
    assert (quiet.percentile(0.999), quiet.percentile(1.0), busy.percentile(0.999)) == (0.1, 2.0, 1.0)
    first, second = rows([quiet, busy])
    assert first[8] == "1.0x"
    assert second == (
        "17",
        "sender",
        "skyway",
        "3",
        "0.10 ms",
        "0.10 ms",
        "1.00 ms",
        "3.00 ms",
        "10.0x",
        "2.00",
        "5.0%",
        "1",
        "5.0 ms",
    )
    assert busy.to_dict()["transfer_median_ms"] == 20.0
    assert busy.to_dict()["samples"] == 1000


def test_no_samples_are_no_percentile() -> None:
    assert math.isnan(Felt("17", "left", "nothing").percentile(0.5))
