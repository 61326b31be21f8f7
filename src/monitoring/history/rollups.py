"""Aggregates results into rollups: one row per monitor for each hour that has ended, and for each day.

All workers may do this at the same time. The work is done in small transactions. Each transaction locks the
row that stores the job's progress. A worker that finds this row locked leaves the job to the worker
that holds the lock.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from tortoise.backends.base.client import BaseDBAsyncClient

from monitoring.backends.database import transaction
from monitoring.history.latencies import Latencies
from monitoring.history.models import Progress, Rollup
from monitoring.history.queries import find_oldest_result, hold_monitors, tally_results
from monitoring.history.tallies import Phases, Tally
from monitoring.history.timeline import floor

# How long to wait after the end of an hour, until all results of that hour are stored. A claim ends at most
# 75 seconds after its check began.
SETTLING_TIME = timedelta(minutes=10)

# The results of this many monitors are in memory at once. At an interval of 30 seconds, each monitor has 120
# results an hour.
MONITORS_A_PORTION = 100


@dataclass(frozen=True, slots=True)
class _Job:
    """Aggregates data in windows of one length. `name` identifies the row that stores the progress."""

    name: str
    window: str
    length: timedelta
    find_oldest: Callable[[], Awaitable[datetime | None]]
    read: Callable[[BaseDBAsyncClient, Sequence[UUID], datetime, datetime], Awaitable[Mapping[UUID, Tally]]]


async def roll_up(now: datetime) -> int:
    """Roll up every hour whose results are all stored, and every day whose hours are all rolled up.

    Return the number of hours and days. The work continues where it last stopped, even if that was long ago.
    Existing rollups are replaced.
    """
    hour_count = await _catch_up(HOURLY, now - SETTLING_TIME)
    hourly_until = await read_progress(HOURLY.name)
    day_count = await _catch_up(DAILY, hourly_until) if hourly_until else 0
    return hour_count + day_count


async def read_progress(job_name: str) -> datetime | None:
    """Return the time up to which a job is done; None before its first window."""
    progress = await Progress.get_or_none(job=job_name)
    return progress.done_until if progress else None


async def _catch_up(job: _Job, until: datetime) -> int:
    window_count = 0
    starts_at = await read_progress(job.name) or await _begin(job)
    if starts_at and starts_at > until + SETTLING_TIME:
        # A machine whose clock was ahead rolled up these windows too early. They are rolled up again after
        # they have ended.
        await Progress.filter(job=job.name, done_until=starts_at).update(done_until=floor(until, job.length))
        return 0
    while starts_at and starts_at + job.length <= until:
        if not await _roll_up_window(job, starts_at):
            break
        starts_at += job.length
        window_count += 1
    return window_count


async def _begin(job: _Job) -> datetime | None:
    """Store and return the start of a job's first window, which contains the oldest result or hourly rollup.

    Return None if there is no data. If several workers do this, the start that is stored first is kept.
    """
    oldest = await job.find_oldest()
    if oldest is None:
        return None
    starts_at = floor(oldest, job.length)
    await Progress.bulk_create([Progress(job=job.name, done_until=starts_at)], ignore_conflicts=True)
    return await read_progress(job.name)


async def _roll_up_window(job: _Job, starts_at: datetime) -> bool:
    """Roll up one window of all monitors. Return False if another worker is doing or has done this."""
    after_id = UUID(int=0)
    while True:
        async with transaction() as connection:
            progress = Progress.filter(job=job.name, done_until=starts_at)
            if not await progress.select_for_update(skip_locked=True).first():
                return False
            monitor_ids = await hold_monitors(connection, after_id, MONITORS_A_PORTION)
            if not monitor_ids:
                await progress.update(done_until=starts_at + job.length)
                return True
            tallies = await job.read(connection, monitor_ids, starts_at, starts_at + job.length)
            await _store(job.window, starts_at, tallies)
            after_id = monitor_ids[-1]


async def _store(window: str, starts_at: datetime, tallies: Mapping[UUID, Tally]) -> None:
    rollups = [
        Rollup(
            monitor_id=monitor_id,
            window=window,
            starts_at=starts_at,
            check_count=tally.check_count,
            failed_check_count=tally.failed_check_count,
            latencies=tally.latencies.to_json(),
            phases=list(tally.phases),
        )
        for monitor_id, tally in tallies.items()
        if tally.check_count
    ]
    await Rollup.bulk_create(
        rollups,
        on_conflict=("monitor_id", "window", "starts_at"),
        update_fields=("check_count", "failed_check_count", "latencies", "phases"),
    )


async def _read_hours(
    _: BaseDBAsyncClient, monitor_ids: Sequence[UUID], start: datetime, end: datetime
) -> Mapping[UUID, Tally]:
    tallies: defaultdict[UUID, Tally] = defaultdict(Tally)
    for rollup in await Rollup.filter(
        monitor_id__in=monitor_ids, window=HOURLY.window, starts_at__gte=start, starts_at__lt=end
    ):
        tallies[rollup.monitor_id].merge(tally_of(rollup))
    return tallies


def tally_of(rollup: Rollup) -> Tally:
    """Return the tally that a rollup stores."""
    latencies, phases = Latencies.from_json(rollup.latencies), Phases(*rollup.phases or ())
    return Tally(rollup.check_count, rollup.failed_check_count, latencies, phases)


async def _find_oldest_hour() -> datetime | None:
    oldest = await Rollup.filter(window=HOURLY.window).order_by("starts_at").first()
    return oldest.starts_at if oldest else None


HOURLY = _Job("hourly", "hour", timedelta(hours=1), find_oldest_result, tally_results)
DAILY = _Job("daily", "day", timedelta(days=1), _find_oldest_hour, _read_hours)
