"""How long each phase of an exchange took, and in which one it is."""

from __future__ import annotations

from enum import Enum
from time import perf_counter

from monitoring.outbound.exchanges import Timings


class Phase(Enum):
    """A phase of a hop: the timing it is reported as, and its words in a sentence."""

    RESOLVING = ("dns_ms", "while resolving the name")
    CONNECTING = ("connect_ms", "while connecting")
    SECURING = ("tls_ms", "during the TLS handshake")
    WAITING = ("first_byte_ms", "while waiting for the answer")
    READING = (None, "while reading the answer")

    def __init__(self, timing: str | None, words: str) -> None:
        self.timing = timing
        self.words = words


class Stopwatch:
    """Starts when it is made."""

    def __init__(self) -> None:
        self.phase = Phase.RESOLVING
        self._started_at = self._phase_started_at = perf_counter()
        self._durations_ms: dict[str, float] = {}

    def start_hop(self) -> None:
        """Forget the phases so far; the total goes on."""
        self._durations_ms.clear()

    def enter(self, phase: Phase) -> None:
        """Begin a phase, one that begins anew included."""
        self.phase = phase
        self._phase_started_at = perf_counter()

    def leave(self) -> None:
        """Take the time of the phase that was entered last."""
        if self.phase.timing:
            self._durations_ms[self.phase.timing] = (perf_counter() - self._phase_started_at) * 1000

    def begin_reading(self) -> None:
        """End the waiting for an answer, unless it was sent unasked, and begin to read it."""
        if self.phase is Phase.WAITING:
            self.leave()
        self.enter(Phase.READING)

    def timings(self) -> Timings:
        """Return the finished phases of the last hop, and the time since the start."""
        return Timings(**self._durations_ms, total_ms=(perf_counter() - self._started_at) * 1000)
