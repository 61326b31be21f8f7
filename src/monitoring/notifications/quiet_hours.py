"""Daily quiet hours, during which a channel receives nothing. Has no side effects."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, time, timedelta

from monitoring.contract.document import Json
from monitoring.contract.problems import Problem
from monitoring.contract.time_zones import find_time_zone


def check_quiet_hours(routing: Mapping[str, Json]) -> None:
    """Raise Problem if the time zone of the quiet hours does not exist."""
    quiet_hours = routing["quiet_hours"]
    if quiet_hours and find_time_zone(quiet_hours["time_zone"]) is None:
        raise Problem("quiet_hours_time_zone_unknown")


def find_quiet_end(routing: Mapping[str, Json], moment: datetime) -> datetime | None:
    """Return the end of the quiet hours that contain `moment`, or None if `moment` is outside quiet hours.

    Quiet hours end at the configured local time, even if daylight saving time begins or ends during them.
    Quiet hours with equal start and end last all day.
    """
    quiet_hours = routing["quiet_hours"]
    # If an update of the time zone database has removed the time zone, there are no quiet hours.
    if not quiet_hours or (zone := find_time_zone(quiet_hours["time_zone"])) is None:
        return None
    starts_at, ends_at = (time.fromisoformat(quiet_hours[name]) for name in ("starts_at", "ends_at"))
    local = moment.astimezone(zone)
    is_before_end, is_after_start = local.time() < ends_at, local.time() >= starts_at
    goes_past_midnight = starts_at >= ends_at
    if not (any if goes_past_midnight else all)((is_before_end, is_after_start)):
        return None
    day = local.date() if is_before_end else local.date() + timedelta(days=1)
    return datetime.combine(day, ends_at, zone).astimezone(UTC)
