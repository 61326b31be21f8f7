"""Validates recurrence rules (RFC 5545 §3.3.10), and computes their occurrences. Has no side effects.

`dateutil` searches for the next start until the year 9999. If the rule has no next start, for example a rule
for 30 February, the search takes seconds. Combinations of parts that may match no day are therefore rejected
before `dateutil` reads the rule.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise
from typing import NamedTuple
from zoneinfo import ZoneInfo

from dateutil.relativedelta import relativedelta
from dateutil.rrule import rrulestr

from monitoring.contract.problems import Problem
from monitoring.contract.time_zones import find_time_zone

# A rule without a start within this time counts as never starting. The time exceeds four years, because a
# rule may start only on 29 February.
HORIZON = timedelta(days=5 * 366)
SHORTEST_GAP = timedelta(hours=1)

# How many starts are compared to find gaps that are too short. A daily rule has fewer starts in two years.
_STARTS_COMPARED = 800

_TIME = ("FREQ", "INTERVAL", "COUNT", "UNTIL", "BYHOUR", "BYMINUTE", "WKST")
_ALLOWED = {
    "DAILY": {*_TIME, "BYDAY", "BYMONTH"},
    "WEEKLY": {*_TIME, "BYDAY", "BYMONTH"},
    "MONTHLY": {*_TIME, "BYDAY", "BYMONTH", "BYMONTHDAY"},
    "YEARLY": {*_TIME, "BYDAY", "BYMONTH", "BYMONTHDAY"},
}
# Pairs of parts that may not be combined, because together they may match no day.
_EXCLUSIVE = (("BYDAY", "BYMONTHDAY"), ("INTERVAL", "BYMONTH"))
_LAST_DAY = 28  # the last day of the shortest month

_PARTS = {
    "FREQ": "DAILY|WEEKLY|MONTHLY|YEARLY",
    "INTERVAL": "[1-9][0-9]{0,2}",
    "COUNT": "[1-9][0-9]{0,2}",
    "UNTIL": "[0-9]{8}(T[0-9]{6}Z?)?",
    "BYMONTH": "LIST(1[0-2]|[1-9])",
    "BYMONTHDAY": "LIST(-?(2[0-8]|1[0-9]|[1-9]))",
    "BYDAY": "LIST(([+-]?[1-4])?(MO|TU|WE|TH|FR|SA|SU))",
    "BYHOUR": "LIST(2[0-3]|1[0-9]|0?[0-9])",
    "BYMINUTE": "[1-5][0-9]|0?[0-9]",
    "WKST": "MO|TU|WE|TH|FR|SA|SU",
}
_PATTERNS = {
    name: re.compile(re.sub(r"^LIST(\(.*\))$", r"\1(,\1)*", pattern)) for name, pattern in _PARTS.items()
}


class Plan(NamedTuple):
    """When occurrences start: once, or repeatedly by the rule `recurrence`, applied in `time_zone`."""

    starts_at: datetime
    duration: timedelta
    recurrence: str | None
    time_zone: str


class Occurrence(NamedTuple):
    """An occurrence of a plan. Its end is exclusive."""

    starts_at: datetime
    ends_at: datetime


def judge(plan: Plan, now: datetime) -> None:
    """Raise Problem for a plan that is invalid, starts too often, or has no occurrence left."""
    _zone_of(plan)
    if plan.recurrence:
        starts = islice(_local_starts(plan, plan.starts_at + HORIZON), _STARTS_COMPARED)
        if any(after - before < max(SHORTEST_GAP, plan.duration) for before, after in pairwise(starts)):
            raise Problem("recurrence_too_often")
    if next(occurrences(plan, now), None) is None:
        raise Problem("recurrence_over" if plan.recurrence else "maintenance_over")


def occurrences(plan: Plan, after: datetime) -> Iterator[Occurrence]:
    """Return the occurrences that end after `after` and start within `HORIZON` of it, in order.

    If a clock change skips a local time, the UTC offset before the change applies. If a clock change repeats
    a local time, the first of the two times counts (RFC 5545 §3.3.5). A plan in an unknown time zone has no
    occurrences.
    """
    if find_time_zone(plan.time_zone) is None:
        return
    for starts_at in _starts(plan, after):
        if starts_at + plan.duration > after:
            yield Occurrence(starts_at, starts_at + plan.duration)


def _starts(plan: Plan, after: datetime) -> Iterable[datetime]:
    if not plan.recurrence:
        return [plan.starts_at]
    zone = _zone_of(plan)
    local_starts = _local_starts(plan, after + HORIZON, after - plan.duration)
    return (local.replace(tzinfo=zone).astimezone(UTC) for local in local_starts)


def _local_starts(plan: Plan, until: datetime, after: datetime | None = None) -> Iterable[datetime]:
    """Return a plan's starts in local time. Starts up to `after` may be left out.

    `until` bounds the search, because some rules never start.
    """
    zone = _zone_of(plan)
    parts = _read_parts(plan.recurrence or "")
    count = parts.pop("COUNT", None)
    last = _in_local_time(until, zone)
    if "UNTIL" in parts:
        last = min(last, _read_until(parts.pop("UNTIL"), zone))
    first = _in_local_time(plan.starts_at, zone)
    is_by_day_of_month = parts["FREQ"] in ("MONTHLY", "YEARLY") and not parts.keys() & {"BYDAY", "BYMONTHDAY"}
    if "BYMONTH" in parts and is_by_day_of_month and first.day > _LAST_DAY:
        raise Problem("recurrence_unreadable", part="BYMONTH needs BYDAY or BYMONTHDAY after the 28th")
    if last < first:
        return []  # `dateutil` cannot read years before 1000
    if after and not count:
        first = _skip_to(_in_local_time(after, zone), first, parts)
    text = ";".join(f"{name}={value}" for name, value in parts.items())
    rule = rrulestr(f"{text};UNTIL={last:%Y%m%dT%H%M%S}", dtstart=first)
    return islice(rule, int(count)) if count else rule


def _skip_to(moment: datetime, first: datetime, parts: Mapping[str, str]) -> datetime:
    """Return a rule's first start, moved towards `moment` by a multiple of the rule's interval.

    The move does not change the starts after `moment`, and makes an old rule as fast to evaluate as a new
    one. The first start is not moved if the rule repeats its day of the month, because not all months have
    that day.
    """
    interval = int(parts.get("INTERVAL", "1"))
    if parts["FREQ"] in ("DAILY", "WEEKLY"):
        step = interval * timedelta(days=1 if parts["FREQ"] == "DAILY" else 7)
        return first + max(0, (moment - first) // step - 1) * step
    months = interval * (1 if parts["FREQ"] == "MONTHLY" else 12)
    passed = 12 * (moment.year - first.year) + moment.month - first.month
    steps = passed // months - 1
    if steps <= 0 or not parts.keys() & {"BYDAY", "BYMONTHDAY"}:
        return first
    return first.replace(day=1) + relativedelta(months=steps * months)


def _read_parts(text: str) -> dict[str, str]:
    parts: dict[str, str] = {}
    for part in text.split(";"):
        name, _, value = part.partition("=")
        if name in parts or name not in _PATTERNS or not _PATTERNS[name].fullmatch(value):
            raise Problem("recurrence_unreadable", part=part[:40] or "it has an empty part")
        parts[name] = value
    if "FREQ" not in parts:
        raise Problem("recurrence_unreadable", part="FREQ is missing")
    for name in parts.keys() - _ALLOWED[parts["FREQ"]]:
        raise Problem("recurrence_unreadable", part=f"{name} does not go with FREQ={parts['FREQ']}")
    exclusive = (*_EXCLUSIVE, *([("INTERVAL", "BYDAY")] if parts["FREQ"] == "DAILY" else []))
    for one, other in exclusive:
        if one in parts and other in parts:
            raise Problem("recurrence_unreadable", part=f"{one} does not go with {other}")
    return parts


def _read_until(text: str, zone: ZoneInfo) -> datetime:
    """Parse UNTIL, and return it in local time.

    `text` is a moment in UTC, a local time, or a day, which stands for the end of that day.
    """
    try:
        if len(text) == len("YYYYMMDD"):
            return datetime.strptime(f"{text}T235959", "%Y%m%dT%H%M%S")  # noqa: DTZ007 - it is local
        if text.endswith("Z"):
            moment = datetime.strptime(text, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
            return _in_local_time(moment, zone)
        return datetime.strptime(text, "%Y%m%dT%H%M%S")  # noqa: DTZ007
    except (ValueError, OverflowError) as error:
        raise Problem("recurrence_unreadable", part=f"UNTIL={text}") from error


def _in_local_time(moment: datetime, zone: ZoneInfo) -> datetime:
    return moment.astimezone(zone).replace(tzinfo=None, microsecond=0)


def _zone_of(plan: Plan) -> ZoneInfo:
    zone = find_time_zone(plan.time_zone)
    if zone is None:
        raise Problem("time_zone_unknown")
    return zone
