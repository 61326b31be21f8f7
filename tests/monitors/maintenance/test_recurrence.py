from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING

import pytest
from dateutil.rrule import rrulestr
from hypothesis import example, given
from hypothesis.strategies import datetimes, integers, sampled_from

from monitoring.contract.problems import Problem
from monitoring.monitors.maintenance import recurrence
from monitoring.monitors.maintenance.recurrence import Plan, judge, occurrences

if TYPE_CHECKING:
    from collections.abc import Iterator

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)

OLD_RULES = [
    "FREQ=DAILY",
    "FREQ=WEEKLY",
    "FREQ=WEEKLY;BYDAY=MO,SU",
    *(
        f"FREQ={frequency}{part}"
        for frequency in ("MONTHLY", "YEARLY")
        for part in ("", ";BYDAY=MO,SU", ";BYMONTHDAY=1,28", ";BYDAY=1SU", ";BYDAY=-1FR;BYHOUR=2,23")
    ),
]


def plan(rule: str | None, starts_at: datetime = NOW, duration: timedelta = HOUR, zone: str = "UTC") -> Plan:
    return Plan(starts_at, duration, rule, zone)


def starts(wanted: Plan, count: int, after: datetime = NOW) -> list[str]:
    return [f"{each.starts_at:%Y-%m-%d %H:%M}" for each in islice(occurrences(wanted, after), count)]


def refusal(wanted: Plan) -> str:
    with pytest.raises(Problem) as refused:
        judge(wanted, NOW)
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
        counted = plan("FREQ=DAILY;COUNT=3", first, zone="Europe/Berlin")
        assert starts(counted, 3) == ["2027-03-27 01:30", "2027-03-28 01:30", "2027-03-29 00:30"]

    def test_that_are_over_are_left_out_and_the_present_one_is_not(self) -> None:
        after = NOW + timedelta(days=3, minutes=30)
        assert starts(plan("FREQ=DAILY"), 1, after) == ["2026-11-23 12:00"]
        assert starts(plan("FREQ=DAILY"), 1, after + HOUR) == ["2026-11-24 12:00"]

    def test_in_a_time_zone_that_is_gone_are_none(self) -> None:
        assert starts(plan("FREQ=DAILY", zone="Europe/Atlantis"), 1) == []

    @given(
        rule=sampled_from(OLD_RULES),
        interval=integers(1, 5),
        first=datetimes(datetime(2025, 1, 1), datetime(2026, 1, 31, 23, 59)),  # noqa: DTZ001 - strategies want it
        days=integers(0, 900),
        zone=sampled_from(["UTC", "Europe/Berlin", "America/St_Johns"]),
    )
    @example("FREQ=MONTHLY;BYDAY=MO,SU", 1, datetime(2025, 1, 15), 900, "UTC")  # noqa: DTZ001
    @example("FREQ=MONTHLY;BYMONTHDAY=1;BYHOUR=19;BYMINUTE=30", 1, datetime(2025, 1, 15, 20), 685, "UTC")  # noqa: DTZ001
    def test_of_an_old_rule_are_those_that_its_first_start_leads_to(
        self, rule: str, interval: int, first: datetime, days: int, zone: str
    ) -> None:
        starts_at = first.replace(tzinfo=UTC, microsecond=0)
        old = plan(f"{rule};INTERVAL={interval}", starts_at, zone=zone)
        counted = old._replace(recurrence=f"{old.recurrence};COUNT=999")  # followed from its first start on
        after = starts_at + timedelta(days=days)
        assert starts(old, 3, after) == starts(counted, 3, after)

    def test_of_an_old_rule_cost_no_more_than_those_of_a_new_one(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        read: list[datetime] = []

        def follow(text: str, dtstart: datetime) -> Iterator[datetime]:
            for each in rrulestr(text, dtstart=dtstart):
                read.append(each)
                yield each

        monkeypatch.setattr(recurrence, "rrulestr", follow)
        old = plan("FREQ=DAILY;BYHOUR=0,6,12,18", NOW - timedelta(days=3650))
        assert starts(old, 1) == ["2026-11-20 12:00"]
        assert len(read) < 20


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
            "FREQ=DAILY;UNTIL=00000101",
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
            "FREQ=DAILY;UNTIL=00010101",
            "FREQ=WEEKLY;UNTIL=00010102T000000Z",
            "FREQ=MONTHLY;UNTIL=09991231T235959",
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
