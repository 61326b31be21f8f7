"""Describes in words the common recurrence rules (RFC 5545 §3.3.10) of maintenance. Has no side effects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

WEEKDAYS = {
    "MO": "Monday",
    "TU": "Tuesday",
    "WE": "Wednesday",
    "TH": "Thursday",
    "FR": "Friday",
    "SA": "Saturday",
    "SU": "Sunday",
}
_WORKING_DAYS = [*WEEKDAYS][:5]
_PLACES = {"1": "first", "2": "second", "3": "third", "4": "fourth", "-1": "last"}
_UNITS = {"DAILY": "day", "WEEKLY": "week", "MONTHLY": "month", "YEARLY": "year"}
_IN_WORDS = {"FREQ", "INTERVAL", "COUNT", "UNTIL", "BYDAY", "BYMONTHDAY", "BYHOUR", "BYMINUTE", "WKST"}


def describe_rule(recurrence: str, starts_at: datetime) -> str | None:
    """Describe a rule in words: "every Sunday at 03:00". `starts_at` is the first occurrence's local start.

    Returns None for a rule that no short phrase can describe, such as a rule with BYMONTH.
    """
    parts = dict(part.split("=", 1) for part in recurrence.split(";"))
    if not parts.keys() <= _IN_WORDS:
        return None
    days = _describe_days(parts, starts_at)
    return days and f"{days} at {_describe_time(parts, starts_at)}{_describe_end(parts)}"


def _describe_days(parts: Mapping[str, str], starts_at: datetime) -> str | None:
    frequency, interval = parts["FREQ"], int(parts.get("INTERVAL", "1"))
    unit = _UNITS[frequency]
    every = f"every {unit}" if interval == 1 else f"every {interval} {unit}s"
    by_day = parts["BYDAY"].split(",") if "BYDAY" in parts else []
    match frequency:
        case "DAILY" if not by_day:
            return every
        case "WEEKLY" | "DAILY" if interval == 1 or frequency == "WEEKLY":
            return _describe_weekdays(by_day or [f"{starts_at:%a}"[:2].upper()], interval)
        case "MONTHLY":
            on = _describe_day_of_month(parts, by_day, starts_at)
            return on and f"{every} on {on}"
        case "YEARLY" if not by_day and "BYMONTHDAY" not in parts:
            return f"{every} on {starts_at.day} {starts_at:%B}"
    return None


def _describe_weekdays(days: Sequence[str], weeks: int) -> str | None:
    if not set(days) <= WEEKDAYS.keys():
        return None
    days = sorted(set(days), key=list(WEEKDAYS).index)
    if days == _WORKING_DAYS:
        names = "Monday to Friday"
        return f"from {names}" if weeks == 1 else f"every {weeks} weeks from {names}"
    names = _join([WEEKDAYS[day] for day in days])
    return f"every {names}" if weeks == 1 else f"every {weeks} weeks on {names}"


def _describe_day_of_month(
    parts: Mapping[str, str], by_day: Sequence[str], starts_at: datetime
) -> str | None:
    if by_day:
        [*places] = [(_PLACES.get(day[:-2].removeprefix("+")), WEEKDAYS[day[-2:]]) for day in by_day]
        if any(place is None for place, _ in places):
            return None
        return _join([f"the {place} {weekday}" for place, weekday in places])
    days = parts.get("BYMONTHDAY", str(starts_at.day)).split(",")
    if any(day.startswith("-") and day != "-1" for day in days):
        return None
    numbers = [day for day in days if day != "-1"]
    named = [f"day {_join(numbers)}"] if numbers else []
    return _join([*named, *(["the last day"] if "-1" in days else [])])


def _describe_time(parts: Mapping[str, str], starts_at: datetime) -> str:
    minute = int(parts.get("BYMINUTE", starts_at.minute))
    hours = parts.get("BYHOUR", str(starts_at.hour)).split(",")
    return _join([f"{hour:02}:{minute:02}" for hour in sorted(set(map(int, hours)))])


def _describe_end(parts: Mapping[str, str]) -> str:
    if "COUNT" in parts:
        return ", once" if parts["COUNT"] == "1" else f", {parts['COUNT']} times"
    if "UNTIL" in parts:
        until = datetime.strptime(parts["UNTIL"][:8], "%Y%m%d")  # noqa: DTZ007 - a local day
        return f", until {until.day} {until:%b %Y}"
    return ""


def _join(words: Sequence[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last
