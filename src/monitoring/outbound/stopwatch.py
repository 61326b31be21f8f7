"""Measures the time of each phase of a call."""

from __future__ import annotations

from enum import Enum
from time import perf_counter
from typing import NamedTuple


class Timings(NamedTuple):
    """Times in milliseconds. `total_ms` is the time since the call began. Each other field is for one phase.

    After redirects, the time of a phase is the sum over all requests.
    """

    dns_ms: float | None = None
    connect_ms: float | None = None
    tls_ms: float | None = None
    first_byte_ms: float | None = None
    total_ms: float | None = None


class Phase(Enum):
    """A phase of a request: the timing that it counts towards, and its description for use in sentences."""

    RESOLVING = ("dns_ms", "while resolving the name")
    CONNECTING = ("connect_ms", "while connecting")
    SECURING = ("tls_ms", "during the TLS handshake")
    WAITING = ("first_byte_ms", "while waiting for the answer")
    READING = (None, "while reading the answer")

    def __init__(self, timing: str | None, words: str) -> None:
        self.timing = timing
        self.words = words


class Stopwatch:
    """Measures the phases of a call, which begins when the stopwatch is created."""

    def __init__(self) -> None:
        self.phase = Phase.RESOLVING
        self._started_at = self._phase_started_at = perf_counter()
        self._durations_ms: dict[str, float] = {}

    def enter(self, phase: Phase) -> None:
        """Begin a phase. If the phase has already begun, restart it."""
        self.phase = phase
        self._phase_started_at = perf_counter()

    def leave(self) -> None:
        """End the current phase, and add its duration to that of the same phase before redirects."""
        if timing := self.phase.timing:
            duration_ms = (perf_counter() - self._phase_started_at) * 1000
            self._durations_ms[timing] = self._durations_ms.get(timing, 0.0) + duration_ms

    def begin_reading(self) -> None:
        """Switch from waiting to reading. A server may even respond before the request was sent."""
        if self.phase is Phase.WAITING:
            self.leave()
        self.enter(Phase.READING)

    def timings(self) -> Timings:
        """Return the times of the finished phases, and the time since the start."""
        return Timings(**self._durations_ms, total_ms=(perf_counter() - self._started_at) * 1000)
