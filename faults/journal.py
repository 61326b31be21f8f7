"""Counts what happened and records every violation in words. All threads of the run write here."""

from __future__ import annotations

import threading
import time
from collections import Counter
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# How long the effects of a fault may last after it: connections found dead, circuit breakers.
AFTERMATH_SECONDS = 6.0


class Journal:
    """The record of a run: figures by group and name, longest times, faults, violations, and a log."""

    def __init__(self, log: Path) -> None:
        self.figures: dict[str, Counter[str]] = {}
        self.longest_seconds: dict[str, float] = {}
        self.violations: list[str] = []
        self._ill: list[str] = []
        self._well_again: list[tuple[str, float]] = []  # target, and since when
        self._outages: list[tuple[str, str, float, float]] = []  # target and kind, and from when to when
        self._log = log.open("a", buffering=1)
        self._lock = threading.RLock()

    def note(self, sentence: str) -> None:
        """Write a line into the log, in UTC as the service's processes write theirs."""
        self._log.write(f"{datetime.now(UTC):%H:%M:%S.%f} {sentence}\n")

    def count(self, group: str, name: str, number: int = 1) -> None:
        """Add to a figure."""
        with self._lock:
            self.figures.setdefault(group, Counter())[name] += number

    def took(self, what: str, seconds: float) -> None:
        """Record the longest time something took."""
        with self._lock:
            self.longest_seconds[what] = max(seconds, self.longest_seconds.get(what, 0))

    def record_violation(self, sentence: str) -> None:
        """Record a violation: the run fails."""
        with self._lock:
            self.violations.append(sentence)
        self.note(f"VIOLATION: {sentence}")

    @contextmanager
    def fault(self, target: str, kind: str) -> Iterator[None]:
        """Record a fault, which lasts as long as the context."""
        begun, begun_at = time.monotonic(), time.time()
        with self._lock:
            self._ill.append(target)
        self.note(f"{target}: {kind}")
        try:
            yield
        finally:
            with self._lock:
                self._ill.remove(target)
                self._well_again.append((target, time.monotonic()))
                self._outages.append((target, kind, begun_at, time.time()))
            self.note(f"{target}: well again after {time.monotonic() - begun:.1f} s")
            self.count("Faults", f"{target}: {kind}")

    def outages_of(self, target: str) -> list[tuple[float, float]]:
        """Return from when to when a target's faults had effects, in seconds since 1970."""
        with self._lock:
            return [
                (begun, ended + AFTERMATH_SECONDS)
                for name, _, begun, ended in self._outages
                if name == target
            ]

    def deaths_of(self, target: str) -> list[tuple[float, float]]:
        """Return from when to when a process was ended and started again, in seconds since 1970."""
        with self._lock:
            return [
                (begun, ended)
                for name, kind, begun, ended in self._outages
                if name == target and kind != "frozen"
            ]

    def was_disturbed_since(self, moment: float, target: str = "") -> bool:
        """Say whether a fault, of one target or any, may have had effects since a moment."""
        with self._lock:
            felt = {name for name, since in self._well_again if since > moment - AFTERMATH_SECONDS}
            felt.update(self._ill)
        return target in felt if target else bool(felt)
