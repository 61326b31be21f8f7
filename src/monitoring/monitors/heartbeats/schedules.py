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

# Minute, hour, day of month, month, day of week. A sixth field would be seconds, which crontab lacks.
CRON_FIELDS = 5

# Where the search for a match starts. A cron expression that ever matches does so within 28 years of any
# moment.
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

        A zone since removed from the time zone database is read as UTC.
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

        Clock changes are handled as in Debian's cron: a ping in a skipped hour is expected right after the
        change, and a ping in a repeated hour once. Expressions with `*` as minute or hour follow elapsed
        time.
        """
        if self.period is not None:
            return moment + self.period
        assert self.cron is not None  # noqa: S101 - one of the two is set
        times = (each.astimezone(UTC) for each in CronSim(self.cron, moment.astimezone(self.zone)))
        # In an hour that a clock change repeats, cronsim returns only the first time, which may have passed.
        return next(each for each in times if each > moment)

    def deadline_after(self, moment: datetime) -> datetime:
        """Return when the first ping after a moment is late, in UTC."""
        return self.expected_after(moment) + self.grace

    def deadline(self, counted_from: datetime | None, started_at: datetime | None) -> datetime | None:
        """Return when the next ping is late, in UTC; None before the first ping.

        A started run must end within the grace time, but no later than if its start had not been reported.
        """
        deadlines = [
            *([] if counted_from is None else [self.deadline_after(counted_from)]),
            *([] if started_at is None else [started_at + self.grace]),
        ]
        return min(deadlines, default=None)


def judge_schedule(settings: Mapping[str, Json]) -> None:
    """Raise Problem for a cron expression that is invalid or never matches, or an unknown time zone."""
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
    if next(expressed, None) is None:  # it searches 50 years ahead
        raise Problem("cron_never_comes")
