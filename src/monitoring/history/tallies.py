"""Tallies: what any number of checks add up to. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from monitoring.history.latencies import Latencies
from monitoring.history.phases import Phases
from monitoring.monitors.health import Outcome


class Summary(NamedTuple):
    """What is shown of some checks. Half of the answers took at most `p50_ms`, and 95 % at most `p95_ms`."""

    check_count: int = 0
    failed_check_count: int = 0
    p50_ms: int | None = None
    p95_ms: int | None = None
    phases: Phases = Phases()


@dataclass(slots=True)
class Tally:
    """How many checks there were, how many of them failed, and the response times and phases of the others.

    A check with an unknown outcome does not count, because it was us who were offline.
    """

    check_count: int = 0
    failed_check_count: int = 0
    latencies: Latencies = field(default_factory=Latencies)
    phases: Phases = field(default_factory=Phases)

    def add(self, outcome: str, response_time_ms: int | None) -> None:
        """Count a check."""
        if outcome == Outcome.UNKNOWN:
            return
        self.check_count += 1
        if outcome == Outcome.DOWN:
            self.failed_check_count += 1
        elif response_time_ms is not None:
            self.latencies.add(response_time_ms)

    def merge(self, other: Tally) -> None:
        """Add everything that another tally counted."""
        self.check_count += other.check_count
        self.failed_check_count += other.failed_check_count
        self.latencies.merge(other.latencies)
        self.phases = self.phases.plus(other.phases)

    def summarize(self) -> Summary:
        """Return what is shown of all that was counted."""
        p50_ms, p95_ms = (self.latencies.percentile(percent) for percent in (50, 95))
        return Summary(self.check_count, self.failed_check_count, p50_ms, p95_ms, self.phases)
