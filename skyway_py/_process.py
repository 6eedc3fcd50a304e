"""Processes named without doubt: a pid together with the time at which the process started.

A pid alone may name another process a moment later. No signal is sent without comparing the start time.
"""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from pathlib import Path


def _stat_fields(pid: int) -> list[str] | None:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return None
    # Field 2, the command, is in parentheses and may itself hold blanks and parentheses.
    return stat[stat.rindex(")") + 2 :].split()


def start_time_ticks(pid: int) -> int | None:
    """Field 22 of /proc/PID/stat: clock ticks from boot to the start of the process; None when there is none."""
    fields = _stat_fields(pid)
    return int(fields[19]) if fields else None


@dataclass(frozen=True)
class ProcessIdentity:
    """One process: its pid and its start time in clock ticks since boot."""

    pid: int
    start_time_ticks: int

    @classmethod
    def of(cls, pid: int) -> ProcessIdentity | None:
        """The process that has this pid now; None when there is none."""
        ticks = start_time_ticks(pid)
        return None if ticks is None else cls(pid, ticks)

    def alive(self) -> bool:
        """Whether this very process still runs. One that ended and was not yet waited for does not."""
        fields = _stat_fields(self.pid)
        return fields is not None and int(fields[19]) == self.start_time_ticks and fields[0] not in ("Z", "X")

    def stopped(self) -> bool:
        """Whether a signal or a debugger holds this very process."""
        fields = _stat_fields(self.pid)
        return fields is not None and int(fields[19]) == self.start_time_ticks and fields[0] in ("T", "t")

    def signal(self, number: signal.Signals) -> bool:
        """Sends a signal to this very process, to no later one of the same pid. False when it has ended."""
        try:
            fd = os.pidfd_open(self.pid)
        except ProcessLookupError:
            return False
        try:
            # The descriptor names one process for good, so this comparison stays true for the next line.
            if not self.alive():
                return False
            signal.pidfd_send_signal(fd, number)
            return True
        except ProcessLookupError:
            return False
        finally:
            os.close(fd)
