"""What happened, counted; and what must not have happened, in words. Every thread of the run writes here."""

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

# How long after a fault its effects may be felt: connections that turn out dead, circuit breakers.
AFTERMATH_SECONDS = 6.0


class Journal:
    """The run's memory: figures by group and name, longest times, faults, violations, and a log of it all."""

    def __init__(self, log: Path) -> None:
        self.figures: dict[str, Counter[str]] = {}
        self.longest_seconds: dict[str, float] = {}
        self.violations: list[str] = []
        self._ill: list[str] = []
        self._well_again: list[tuple[str, float]] = []  # who, and since when
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
        """Remember the longest time something took."""
        with self._lock:
            self.longest_seconds[what] = max(seconds, self.longest_seconds.get(what, 0))

    def accuse(self, sentence: str) -> None:
        """Note what must not have happened: the run fails."""
        with self._lock:
            self.violations.append(sentence)
        self.note(f"VIOLATION: {sentence}")

    @contextmanager
    def fault(self, target: str, kind: str) -> Iterator[None]:
        """Say that a fault is under way, until it is healed."""
        begun = time.monotonic()
        with self._lock:
            self._ill.append(target)
        self.note(f"{target}: {kind}")
        try:
            yield
        finally:
            with self._lock:
                self._ill.remove(target)
                self._well_again.append((target, time.monotonic()))
            self.note(f"{target}: well again after {time.monotonic() - begun:.1f} s")
            self.count("Faults", f"{target}: {kind}")

    def was_disturbed_since(self, moment: float, target: str = "") -> bool:
        """Say whether a fault, of one target or of any, can have been felt since a moment."""
        with self._lock:
            felt = {name for name, since in self._well_again if since > moment - AFTERMATH_SECONDS}
            felt.update(self._ill)
        return target in felt if target else bool(felt)
