"""Reads CPU time and memory of other processes, to the nanosecond and the kilobyte."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

_CPUCLOCK_SCHED = 2


def cpu_seconds(root_pid: int) -> float:
    """Return the CPU seconds that a process and its descendants have used so far.

    The kernel's CPU clock of a process includes all its threads, even those that have ended, whereas
    /proc/PID/schedstat includes only the first thread. Descendants that have ended are not included.
    """
    return sum(_cpu_ns(pid) for pid in family(root_pid)) / 1e9


def family(root_pid: int) -> list[int]:
    """Return a process and its descendants."""
    children: dict[int, list[int]] = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with suppress(OSError):
                # The name in brackets may contain any character. State and parent follow the last bracket.
                parent = int(Path(entry.path, "stat").read_text().rpartition(")")[2].split()[1])
                children.setdefault(parent, []).append(int(entry.name))
    found = [root_pid]
    for pid in found:
        found += children.get(pid, ())
    return found


def memory_mib(root_pid: int) -> float:
    """Return the proportional set size of a process and its descendants, which counts shared pages once."""
    total_kib = 0
    for pid in family(root_pid):
        with suppress(OSError):
            rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
            total_kib += next(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:"))
    return total_kib / 1024


def _cpu_ns(pid: int) -> int:
    try:
        return time.clock_gettime_ns(~pid << 3 | _CPUCLOCK_SCHED)  # clock_getcpuclockid(3)
    except OSError:  # the process has just ended
        return 0
