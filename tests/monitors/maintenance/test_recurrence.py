from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import islice

import pytest

from monitoring.contract.problems import Problem
from monitoring.monitors.maintenance.recurrence import Plan, judge, occurrences

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)


def plan(rule: str | None, starts_at: datetime = NOW, duration: timedelta = HOUR, zone: str = "UTC") -> Plan:
    return Plan(starts_at, duration, rule, zone)


def starts(given: Plan, count: int, after: datetime = NOW) -> list[str]:
    return [f"{each.starts_at:%Y-%m-%d %H:%M}" for each in islice(occurrences(given, after), count)]


def refusal(given: Plan) -> str:
    with pytest.raises(Problem) as refused:
        judge(given, NOW)
    return refused.value.name


class TestOccurrences:
    def test_of_no_rule_are_one_until_it_ends(self) -> None:
        assert starts(plan(None), 2) == ["2026-11-20 12:00"]
        assert starts(plan(None), 2, NOW + HOUR) == []

    @pytest.mark.parametrize(
        ("rule", "expected"),
        [
            ("FREQ=DAILY", ["2026-11-20 12:00", "2026-11-21 12:00"]),
            ("FREQ=WEEKLY;BYDAY=SU;BYHOUR=3;BYMINUTE=0", ["2026-11-22 03:00", "2026-11-29 03:00"]),
            ("FREQ=DAILY;COUNT=1", ["2026-11-20 12:00"]),
            ("FREQ=DAILY;UNTIL=20261120", ["2026-11-20 12:00"]),
            ("FREQ=DAILY;UNTIL=20261121T120000Z", ["2026-11-20 12:00", "2026-11-21 12:00"]),
            ("FREQ=MONTHLY;BYDAY=-1FR", ["2026-11-27 12:00", "2026-12-25 12:00"]),
            ("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=28", ["2027-02-28 12:00", "2028-02-28 12:00"]),
        ],
    )
    def test_of_a_rule_are_those_it_gives(self, rule: str, expected: list[str]) -> None:
        assert starts(plan(rule), 2) == expected

    def test_keep_their_local_time_when_the_clocks_change(self) -> None:
        first = datetime(2027, 3, 27, 1, 30, tzinfo=UTC)  # 02:30 in Berlin; the next day has no 02:30
        given = plan("FREQ=DAILY;COUNT=3", first, zone="Europe/Berlin")
        assert starts(given, 3) == ["2027-03-27 01:30", "2027-03-28 01:30", "2027-03-29 00:30"]

    def test_that_are_over_are_left_out_and_the_present_one_is_not(self) -> None:
        after = NOW + timedelta(days=3, minutes=30)
        assert starts(plan("FREQ=DAILY"), 1, after) == ["2026-11-23 12:00"]
        assert starts(plan("FREQ=DAILY"), 1, after + HOUR) == ["2026-11-24 12:00"]


class TestRefusal:
    @pytest.mark.parametrize(
        "rule",
        [
            "NONSENSE",
            "FREQ=SECONDLY",
            "FREQ=MINUTELY",
            "FREQ=HOURLY",
            "INTERVAL=2",
            "FREQ=DAILY;",
            "FREQ=DAILY;FREQ=WEEKLY",
            "FREQ=DAILY;INTERVAL=0",
            "FREQ=DAILY;COUNT=0",
            "FREQ=DAILY;BYHOUR=24",
            "FREQ=DAILY;BYSECOND=1",
            "FREQ=DAILY;BYMINUTE=0,30",
            "FREQ=DAILY;UNTIL=20261399",
            "FREQ=YEARLY;BYEASTER=0",
            "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30",
            "FREQ=MONTHLY;BYMONTH=2;BYMONTHDAY=30",
            "FREQ=YEARLY;BYWEEKNO=53;BYMONTH=6",
            "FREQ=DAILY;INTERVAL=7;BYDAY=MO",
            "FREQ=MONTHLY;INTERVAL=2;BYMONTH=1",
            "FREQ=MONTHLY;BYDAY=1FR;BYMONTHDAY=13",
            "FREQ=DAILY;BYHOUR=1;BYSETPOS=5",
            "FREQ=MONTHLY;BYDAY=5MO",
            "FREQ=DAILY\nEXDATE:20261121T120000",
            "DTSTART=19700101T000000;FREQ=DAILY",
        ],
    )
    def test_of_what_cannot_be_read(self, rule: str) -> None:

        assert refusal(plan(rule)) == "recurrence_unreadable"

    @pytest.mark.parametrize(
        "rule",
        [
            "FREQ=DAILY;UNTIL=20261119",
            "FREQ=YEARLY;INTERVAL=999;BYMONTHDAY=1;COUNT=1;UNTIL=20261121",
        ],
    )
    def test_of_what_starts_nothing(self, rule: str) -> None:
        assert refusal(plan(rule)) == "recurrence_over"

    def test_of_a_day_that_the_month_may_not_have(self) -> None:
        assert refusal(plan("FREQ=MONTHLY;BYMONTH=2", NOW + timedelta(days=10))) == "recurrence_unreadable"

    def test_of_what_was_counted_out_before(self) -> None:
        assert refusal(plan("FREQ=DAILY;COUNT=3", NOW - timedelta(days=4))) == "recurrence_over"

    def test_of_what_is_over(self) -> None:
        assert refusal(plan(None, NOW - HOUR)) == "maintenance_over"

    @pytest.mark.parametrize(
        ("rule", "duration"),
        [("FREQ=DAILY", timedelta(days=2)), ("FREQ=WEEKLY;BYDAY=SU,MO", timedelta(hours=25))],
    )
    def test_of_what_would_overlap(self, rule: str, duration: timedelta) -> None:
        assert refusal(plan(rule, duration=duration)) == "recurrence_too_often"
        judge(plan(rule, duration=timedelta(days=1)), NOW)

    @pytest.mark.parametrize("zone", ["Mars/Olympus", "Europe", "../etc/passwd", "/etc/passwd", "Europe/"])
    def test_of_an_unknown_time_zone(self, zone: str) -> None:
        assert refusal(plan(None, zone=zone)) == "time_zone_unknown"
