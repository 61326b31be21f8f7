"""Tallies: aggregates of any number of checks, with the phases of their response times.

Has no side effects outside its objects.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from monitoring.history.latencies import Latencies
from monitoring.monitors.health import Outcome


class Phases(NamedTuple):
    """The total milliseconds of each phase in `answer_count` responses. The transfer is the last phase."""

    answer_count: int = 0
    dns_ms: int = 0
    connect_ms: int = 0
    tls_ms: int = 0
    first_byte_ms: int = 0
    transfer_ms: int = 0

    def plus(self, other: Phases) -> Phases:
        """Return the sums of these phases and `other`."""
        return Phases(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))

    def averages(self) -> tuple[float, ...] | None:
        """Return the average of each phase, in order; None without a response."""
        return tuple(each / self.answer_count for each in self[1:]) if self.answer_count else None


class Summary(NamedTuple):
    """The figures that are shown for a set of checks.

    Half of the responses took up to `p50_ms`, and 95 % took up to `p95_ms`.
    """

    check_count: int = 0
    failed_check_count: int = 0
    p50_ms: int | None = None
    p95_ms: int | None = None
    phases: Phases = Phases()


@dataclass(slots=True)
class Tally:
    """The number of checks and failures, and the response times and phases of the successful checks.

    A check with an unknown outcome is not counted, because this service was offline during the check.
    """

    check_count: int = 0
    failed_check_count: int = 0
    latencies: Latencies = field(default_factory=Latencies)
    phases: Phases = field(default_factory=Phases)

    def add(self, outcome: str, response_time_ms: int | None) -> None:
        """Count a check, unless its outcome is unknown."""
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
        """Return the summary of everything counted."""
        p50_ms, p95_ms = (self.latencies.percentile(percent) for percent in (50, 95))
        return Summary(self.check_count, self.failed_check_count, p50_ms, p95_ms, self.phases)


def transfer_of(response_time_ms: int, *phases_ms: int | None) -> int:
    """Return the transfer time: a response time minus its other phases."""
    # Each phase is rounded separately, so the sum of the phases may slightly exceed the response time.
    return max(0, response_time_ms - sum(each or 0 for each in phases_ms))


def read_sums(answer_count: int, *sums_ms: int) -> Phases:
    """Return the phases of `answer_count` responses.

    `sums_ms` are the sums of each phase except the transfer, and then the sum of the response times.
    """
    if not answer_count:
        return Phases()
    dns_ms, connect_ms, tls_ms, first_byte_ms, total_ms = map(int, sums_ms)
    transfer_ms = transfer_of(total_ms, dns_ms, connect_ms, tls_ms, first_byte_ms)
    return Phases(answer_count, dns_ms, connect_ms, tls_ms, first_byte_ms, transfer_ms)
