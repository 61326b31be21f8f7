"""Computes when a heartbeat's next ping is expected: after a period, or by a cron expression.

Has no side effects.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, tzinfo
from typing import NamedTuple, Self

from cronsim import CronSim, CronSimError

from monitoring.contract.document import Json
from monitoring.contract.problems import Problem
from monitoring.contract.time_zones import find_time_zone

# Minute, hour, day of month, month, day of week. A sixth field, for seconds, is not part of crontab's syntax.
CRON_FIELDS = 5

# The search for a match starts at this time. Any starting time works, because a cron expression that matches
# at all does so within 28 years of any time.
_ANY_MOMENT = datetime(2026, 1, 1, tzinfo=UTC)


class Schedule(NamedTuple):
    """When pings are expected, and how late a ping may be.

    Exactly one of `period` and `cron` is set. `zone` is the cron expression's time zone.
    """

    period: timedelta | None
    cron: str | None
    zone: tzinfo
    grace: timedelta

    @classmethod
    def read(cls, settings: Mapping[str, Json]) -> Self:
        """Read a heartbeat's settings, which were validated when stored.

        A time zone that has since been removed from the time zone database is replaced by UTC.
        """
        period_seconds = settings["period_seconds"]
        return cls(
            None if period_seconds is None else timedelta(seconds=period_seconds),
            settings["cron"],
            find_time_zone(settings["time_zone"]) or UTC,
            timedelta(seconds=settings["grace_seconds"]),
        )

    def expected_after(self, moment: datetime) -> datetime:
        """Return when the first ping after a moment is expected, in UTC.

        Clock changes are handled as in Debian's cron. A ping in an hour that a clock change skips is expected
        right after the change. A ping in an hour that a clock change repeats is expected only once. However,
        cron expressions with `*` as the minute or the hour follow elapsed time, and ignore clock changes.
        """
        if self.period is not None:
            return moment + self.period
        assert self.cron is not None  # noqa: S101 - one of the two is set
        times = (each.astimezone(UTC) for each in CronSim(self.cron, moment.astimezone(self.zone)))
        # In an hour that a clock change repeats, cronsim returns only the first time, which may have passed.
        return next(each for each in times if each > moment)

    def deadline_after(self, moment: datetime) -> datetime:
        """Return the deadline, in UTC, for the first ping expected after `moment`."""
        return self.expected_after(moment) + self.grace

    def deadline(self, counted_from: datetime | None, started_at: datetime | None) -> datetime | None:
        """Return the time from which the next ping is late, in UTC, or None before the first ping.

        If a run has started, the ping that ends the run is late one grace time after the start, or at the
        schedule's deadline if this deadline is earlier.
        """
        deadlines = [
            *([] if counted_from is None else [self.deadline_after(counted_from)]),
            *([] if started_at is None else [started_at + self.grace]),
        ]
        return min(deadlines, default=None)


def judge_schedule(settings: Mapping[str, Json]) -> None:
    """Raise Problem for an unknown time zone, or a cron expression that is invalid or never matches."""
    zone = find_time_zone(settings["time_zone"])
    if zone is None:
        raise Problem("heartbeat_time_zone_unknown")
    if (cron := settings["cron"]) is None:
        return
    if len(cron.split()) != CRON_FIELDS:
        raise Problem("cron_unreadable", part="it needs five fields")
    try:
        expressed = CronSim(cron, _ANY_MOMENT.astimezone(zone))
    except CronSimError as error:
        raise Problem("cron_unreadable", part=str(error)) from None
    if next(expressed, None) is None:  # cronsim searches 50 years ahead
        raise Problem("cron_never_comes")
