"""Deletes data that is older than the settings allow, except results that have not been rolled up yet."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from monitoring.backends.current import current_backends
from monitoring.history.models import Rollup
from monitoring.history.queries import delete_results
from monitoring.history.rollups import DAILY, HOURLY, read_progress
from monitoring.settings import Settings

# The most rollups that one statement deletes.
ROWS_A_PORTION = 500


async def apply_retention(now: datetime) -> None:
    """Delete rollups and results that are too old at `now`.

    Rollups are deleted by whole days. On PostgreSQL, results are also deleted by whole days, by dropping the
    day's table. On SQLite, results are deleted when they expire, a few at a time.

    Raises `DatabaseUnavailable` if another query reads old results for too long. The next run retries.
    """
    settings = current_backends().settings
    for window in (HOURLY.window, DAILY.window):
        await _delete_rollups(window, oldest_kept(window, now, settings))
    hourly_until = await read_progress(HOURLY.name)
    if hourly_until is None:
        return
    await delete_results(min(oldest_result_kept(now, settings), hourly_until))


def oldest_kept(window: str, now: datetime, settings: Settings) -> datetime:
    """Return the time since which rollups of this window are kept. It is the start of a day."""
    kept_days = {"hour": settings.hourly_retention_days, "day": settings.daily_retention_days}
    return _start_of_day(now - timedelta(days=kept_days[window]))


def oldest_result_kept(now: datetime, settings: Settings) -> datetime:
    """Return the time since which every result is kept. Older results may remain for a while."""
    return now - timedelta(days=settings.check_retention_days)


async def _delete_rollups(window: str, before: datetime) -> None:
    doomed = Rollup.filter(window=window, starts_at__lt=before).order_by("starts_at").limit(ROWS_A_PORTION)
    while doomed_ids := await doomed.values_list("id", flat=True):
        await Rollup.filter(id__in=doomed_ids).delete()


def _start_of_day(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
