"""The hours and days before a monitor's last day, as they were rolled up: no row for each check."""

from __future__ import annotations

from datetime import timedelta
from itertools import chain
from typing import TYPE_CHECKING

from browser.acme.answers import answer
from monitoring.history.latencies import Latencies
from monitoring.history.models import Rollup
from monitoring.history.rollups import DAILY, HOURLY
from monitoring.history.tallies import read_sums
from monitoring.history.timeline import divide, floor

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from random import Random

    from browser.acme.answers import Trouble
    from monitoring.history.timeline import Window
    from monitoring.monitors.models import Monitor
    from monitoring.outbound.stopwatch import Timings

HOUR, DAY = HOURLY.length, DAILY.length
# The chart of a week shows hours. Longer ones show days.
DAYS_OF_HOURS = 8
# Charts need no more.
ANSWERS_AN_HOUR, ANSWERS_A_DAY = 5, 12


async def write_days(  # noqa: PLR0913 - the parts of a story
    monitor: Monitor,
    begun_at: datetime,
    ended_at: datetime,
    now: datetime,
    *,
    typical_ms: int,
    troubles: Sequence[Trouble],
    chance: Random,
) -> None:
    """Store the rollups from one moment until another. Days of hours are left to `roll_up`."""
    begun_at, ended_at = floor(begun_at, HOUR), floor(ended_at, HOUR)
    hours_since = max(begun_at, floor(ended_at, DAY) - DAYS_OF_HOURS * DAY)
    windows = chain(
        ((DAILY.window, each, ANSWERS_A_DAY) for each in divide(begun_at, hours_since, "day")),
        ((HOURLY.window, each, ANSWERS_AN_HOUR) for each in divide(hours_since, ended_at, "hour")),
    )
    rollups = []
    for name, (start, end), count in windows:
        moments = [start + (end - start) / count * number for number in range(count)]
        answers = [answer(each, now, typical_ms, troubles, chance) for each in moments]
        timings = [each.timings for each in answers if each.status_code == 200]
        check_count = int((end - start).total_seconds() // monitor.interval_seconds)
        outage = sum((_overlap((start, end), each, now) for each in troubles), timedelta())
        rollups.append(
            Rollup(
                monitor_id=monitor.id,
                window=name,
                starts_at=floor(start, DAY) if name == DAILY.window else start,
                check_count=check_count,
                failed_check_count=round(check_count * (outage / (end - start))),
                latencies=Latencies(round(each.total_ms or 0) for each in timings).to_json(),
                phases=list(read_sums(len(timings), *_sum_up(timings))),
            )
        )
    await Rollup.bulk_create(rollups)


def _overlap(window: Window, trouble: Trouble, now: datetime) -> timedelta:
    if not trouble.is_outage:
        return timedelta()
    begun_at = now - trouble.since
    start, end = max(window[0], begun_at), min(window[1], begun_at + trouble.long)
    return max(end - start, timedelta())


def _sum_up(timings: Sequence[Timings]) -> list[int]:
    names = ("dns_ms", "connect_ms", "tls_ms", "first_byte_ms", "total_ms")
    return [round(sum(getattr(each, name) for each in timings)) for name in names]
