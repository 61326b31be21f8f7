"""Computes the results of a monitor's month again, from the list of everything that happened to it.

It differs from the code it judges on purpose: it looks ahead over whole runs of checks instead of counting
streaks, and paints time, one stroke over another, instead of noting changes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import groupby, pairwise
from typing import NamedTuple, TypeAlias

GRACE = timedelta(seconds=120)

# From a moment until another.
Span: TypeAlias = "tuple[datetime, datetime]"
# A span, what it is (`active` or `paused`), and the checks in it.
Stretch: TypeAlias = "tuple[datetime, datetime, str, list[Check]]"


class Check(NamedTuple):
    """A check and what it found: up, degraded, down or unknown. It may say until when that holds."""

    at: datetime
    outcome: str
    holds_until: datetime | None = None


@dataclass(frozen=True)
class Rules:
    """What counts of a monitor's configuration."""

    interval: timedelta
    failure_threshold: int
    recovery_threshold: int


@dataclass
class Incident:
    started_at: datetime
    resolved_at: datetime | None = None


@dataclass
class Month:
    """Incidents, and strokes of paint: from `start` until `end`, time is of that colour."""

    incidents: list[Incident] = field(default_factory=list)
    strokes: list[tuple[datetime, datetime, str]] = field(default_factory=list)
    maintenance: list[Span] = field(default_factory=list)

    def seconds(self, start: datetime, end: datetime) -> dict[str, float]:
        """Add up each colour that can be seen between two moments; the last stroke covers those before it."""
        painted = [*(stroke[:2] for stroke in self.strokes), *self.maintenance]
        inner = {edge for stretch in painted for edge in stretch if start < edge < end}
        edges = sorted({start, *inner, end})
        sums = dict.fromkeys(("up", "down", "paused", "maintenance", "unknown"), timedelta())
        for one, other in pairwise(edges):
            for stroke_start, stroke_end, colour in reversed(self.strokes):
                if stroke_start <= one and other <= stroke_end:
                    is_rest = any(first <= one and other <= last for first, last in self.maintenance)
                    sums["maintenance" if is_rest and colour != "paused" else colour] += other - one
                    break
        return {colour: length.total_seconds() for colour, length in sums.items()}


def work_out(rules: Rules, stretches: list[Stretch], maintenance: list[Span]) -> Month:
    """Take stretches, `active` with their checks or `paused`, one after the other.

    A failure during maintenance says as little as a check that was blind.
    """
    month = Month(maintenance=maintenance)
    for start, end, kind, checks in stretches:
        if kind == "paused":
            month.strokes.append((start, end, "paused"))
            if month.incidents and month.incidents[-1].resolved_at is None:
                month.incidents[-1].resolved_at = start
        else:
            month.strokes.append((start, end, "unknown"))
            _paint_active(rules, month, end, [_believe(check, maintenance) for check in checks])
    return month


def list_degradation(
    rules: Rules, checks: list[Check], maintenance: list[Span]
) -> list[tuple[str, datetime]]:
    """List what should be told of a monitor's degradation, and when.

    Checks that were blind and those in maintenance say nothing of it.
    """
    saying = [each for each in checks if each.outcome != "unknown" and not _is_in(maintenance, each.at)]
    told: list[tuple[str, datetime]] = []
    number = 0
    while number < len(saying):
        is_degraded = len(told) % 2 == 1
        contrary, needed = (
            ("up", rules.recovery_threshold) if is_degraded else ("degraded", rules.failure_threshold)
        )
        ahead = saying[number : number + needed]
        if [each.outcome for each in ahead] == [contrary] * needed:
            told.append(("monitor.recovered" if is_degraded else "monitor.degraded", ahead[-1].at))
            number += needed
        else:
            number += 1
    return told


def _believe(check: Check, maintenance: list[Span]) -> Check:
    if check.outcome == "down" and _is_in(maintenance, check.at):
        return check._replace(outcome="unknown")
    return check._replace(outcome=check.outcome.replace("degraded", "up"))


def _is_in(spans: list[Span], moment: datetime) -> bool:
    return any(first <= moment < last for first, last in spans)


def _paint_active(rules: Rules, month: Month, end: datetime, checks: list[Check]) -> None:
    believed = None
    for run in _runs(rules, checks):
        for number, check in enumerate(run):
            before = believed
            contrary = "up" if believed == "down" else "down"
            needed = rules.recovery_threshold if believed == "down" else rules.failure_threshold
            ahead = [each.outcome for each in run[number : number + needed]]
            if believed is None and check.outcome == "up":
                believed = "up"
            elif ahead == [contrary] * needed:
                believed = contrary
                if believed == "down":
                    month.incidents.append(Incident(check.at))
                else:
                    month.incidents[-1].resolved_at = check.at
            if believed and (believed != before or number == 0):
                month.strokes.append((check.at, end, believed))
        month.strokes.append((_sight_ends_at(rules, run, checks), end, "unknown"))


def _runs(rules: Rules, checks: list[Check]) -> list[list[Check]]:
    """Cut a list of checks wherever nobody looked, or nobody could see."""
    runs: list[list[Check]] = []
    for sees, group in groupby(checks, key=lambda check: check.outcome != "unknown"):
        if not sees:
            continue
        whole = list(group)
        cuts = [
            number
            for number in range(1, len(whole))
            if whole[number].at > _vouched_until(rules, whole[number - 1])
        ]
        runs += [whole[one:other] for one, other in pairwise([0, *cuts, len(whole)])]
    return runs


def _sight_ends_at(rules: Rules, run: list[Check], checks: list[Check]) -> datetime:
    blind_at = [check.at for check in checks if check.at > run[-1].at and check.outcome == "unknown"]
    return min([_vouched_until(rules, run[-1]), *blind_at])


def _vouched_until(rules: Rules, check: Check) -> datetime:
    return (check.holds_until or check.at + rules.interval) + GRACE
