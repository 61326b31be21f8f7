"""Works out what is found of a job, from its pings and from everything that happened around it.

Unlike the code it judges, it knows all of the month at once: no row is read, and moments that a cron
expression means are listed by hand.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from checks.oracle import Check, Span

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MINUTE = timedelta(minutes=1)
NEVER = datetime.max.replace(tzinfo=UTC)


class Told(NamedTuple):
    """A ping that arrived: success, fail or start."""

    at: datetime
    kind: str


class Plan(NamedTuple):
    """When the first ping after a moment is expected, how late it may be, and when to look if blind."""

    expected_after: Callable[[datetime], datetime]
    grace: timedelta
    look_after: Callable[[datetime], datetime]

    def late_after(self, moment: datetime) -> datetime:
        return self.expected_after(moment) + self.grace


@dataclass
class Surroundings:
    """What happened around a job: when a checker looked, and when nobody could receive pings or see out.

    Before each of the `interruptions` pings may have been lost. Spans of maintenance do not touch.
    """

    rounds: Sequence[datetime]
    deaf: Sequence[Span]
    blind: Sequence[Span]
    interruptions: Sequence[datetime]
    maintenance: Sequence[Span]

    def next_round(self, due: datetime) -> datetime:
        number = bisect_left(self.rounds, due)
        return self.rounds[number] if number < len(self.rounds) else NEVER


@dataclass
class Watch:
    """What is known of a job while people let it be watched, from `since` on."""

    plan: Plan
    around: Surroundings
    counted_from: datetime | None
    started_at: datetime | None = None
    outcome: str | None = None
    is_down: bool = False
    checks: list[Check] = field(default_factory=list)

    def live(self, told: Sequence[Told], end: datetime) -> list[Check]:
        """Return what was found, ping after ping, and between them."""
        due = self.late_at()
        for ping in (*told, Told(end, "end")):
            while due is not None and (at := self.around.next_round(due)) < ping.at:
                due = self.look(at)
            if ping.kind == "end":
                return self.checks
            if ping.kind == "start":
                self.started_at = ping.at
                due = due if self.is_down else self.late_at()
                continue
            self.counted_from, self.started_at = ping.at, None
            due = self.note(ping.at, "up" if ping.kind == "success" else "down", self.late_at())
        raise AssertionError("unreachable")

    def late_at(self) -> datetime | None:
        late = [self.plan.late_after(self.counted_from)] if self.counted_from else []
        return min([*late, *([self.started_at + self.plan.grace] if self.started_at else [])], default=None)

    def look(self, at: datetime) -> datetime:
        """Find out if a ping is late, and return when to look again."""
        late_at = self.late_at()
        assert late_at
        if at < late_at:
            known = "down" if self.is_down else "up"
            return self.note(at, "unknown" if known == "up" and self.outcome == "unknown" else known, late_at)
        if not self.is_down:
            if _is_in(self.around.deaf, at):
                return self.note(at, "unknown", at + MINUTE)
            late_at, is_ours = self.excuse(late_at, at)
            if at < late_at:
                is_known = self.outcome != "unknown" and not is_ours
                return self.note(at, "up" if is_known else "unknown", late_at)
        if _is_in(self.around.blind, at):
            return self.note(at, "unknown", None)
        return self.note(at, "down", self.plan.late_after(at))

    def excuse(self, late_at: datetime, at: datetime) -> tuple[datetime, bool]:
        """Return when it is late, counted from the end of what excuses it, and if that was our absence."""
        ends = [(end, True) for end in self.around.interruptions]
        ends += [(end, False) for _, end in self.around.maintenance]
        last = {ours: end for end, ours in sorted(ends) if end <= at}
        is_ours = False
        for ours, end in sorted(last.items(), key=lambda each: each[1]):
            # The ping may have come as much too early as too late.
            if end >= late_at - 2 * self.plan.grace:
                late_at, is_ours = self.plan.late_after(end), ours
        return late_at, is_ours

    def note(self, at: datetime, outcome: str, holds_until: datetime | None) -> datetime:
        """Note what was found at a moment, and return when to look again."""
        self.checks.append(Check(at, outcome, holds_until))
        rest = next((end for start, end in self.around.maintenance if start <= at < end), None)
        is_silenced = rest is not None and outcome == "down"
        self.outcome = "unknown" if is_silenced else outcome
        if self.outcome in ("up", "down"):
            self.is_down = self.outcome == "down"
        due = holds_until or self.plan.look_after(at)
        return min(due, rest) if rest and self.outcome == "unknown" else due


def _is_in(spans: Sequence[Span], moment: datetime) -> bool:
    return any(start <= moment < end for start, end in spans)
