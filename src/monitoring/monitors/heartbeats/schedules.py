"""When a heartbeat's next ping is expected: after a period, or when a cron expression says. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, tzinfo
from typing import NamedTuple, Self

from cronsim import CronSim, CronSimError

from monitoring.contract.document import Json
from monitoring.contract.problems import Problem
from monitoring.contract.time_zones import find_time_zone

# Minute, hour, day of month, month, day of week. Six fields would begin with seconds, which crontab lacks.
CRON_FIELDS = 5

# A time that comes does so within 28 years of any moment.
_ANY_MOMENT = datetime(2026, 1, 1, tzinfo=UTC)


class Schedule(NamedTuple):
    """When pings are expected, and how late one may come.

    Exactly one of `period` and `cron` is set. `zone` is where the cron expression is read.
    """

    period: timedelta | None
    cron: str | None
    zone: tzinfo
    grace: timedelta

    @classmethod
    def read(cls, settings: Mapping[str, Json]) -> Self:
        """Read a heartbeat's settings, which were judged when they were stored.

        A zone that the time zone database has lost since is read as UTC.
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

        Clock changes count as in Debian's cron: what they skip is expected right after the change, and what
        they repeat is expected once. Expressions with `*` as minute or hour go by the time that passes.
        """
        if self.period is not None:
            return moment + self.period
        assert self.cron is not None  # noqa: S101 - one of the two is set
        times = (each.astimezone(UTC) for each in CronSim(self.cron, moment.astimezone(self.zone)))
        # Of an hour that a clock change repeats, cronsim knows only the first, which may have passed.
        return next(each for each in times if each > moment)

    def deadline_after(self, moment: datetime) -> datetime:
        """Return when the first ping after a moment is late, in UTC."""
        return self.expected_after(moment) + self.grace

    def deadline(self, counted_from: datetime | None, started_at: datetime | None) -> datetime | None:
        """Return when the next ping is late, in UTC; None before the first ping.

        A run that was started must end within the grace time, and no later than it would without a start.
        """
        deadlines = [
            *([] if counted_from is None else [self.deadline_after(counted_from)]),
            *([] if started_at is None else [started_at + self.grace]),
        ]
        return min(deadlines, default=None)


def judge_schedule(settings: Mapping[str, Json]) -> None:
    """Raise a Problem for a cron expression that cannot be read or never comes, or an unknown time zone."""
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
    if next(expressed, None) is None:  # it looks 50 years ahead
        raise Problem("cron_never_comes")
