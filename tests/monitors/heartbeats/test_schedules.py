from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis.strategies import datetimes, lists, sampled_from, text

from monitoring.contract.problems import Problem
from monitoring.monitors.heartbeats.schedules import Schedule, judge_schedule

if TYPE_CHECKING:
    from monitoring.contract.document import Json

NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)


def settings(**given: Json) -> dict[str, Json]:
    return {"period_seconds": None, "cron": None, "time_zone": "UTC", "grace_seconds": 300} | given


def expected(cron: str, zone: str, after: str) -> str:
    schedule = Schedule.read(settings(cron=cron, time_zone=zone))
    return f"{schedule.expected_after(datetime.fromisoformat(after)):%Y-%m-%d %H:%M}"


def refusal(**given: Json) -> Problem:
    with pytest.raises(Problem) as refused:
        judge_schedule(settings(**given))
    return refused.value


# Fields of which many can be read, and many cannot.
cron_like = lists(text("0123456789*/-,#LWMON", min_size=1, max_size=6), min_size=5, max_size=5).map(" ".join)


class TestSchedule:
    def test_a_period_counts_from_the_last_ping(self) -> None:
        schedule = Schedule.read(settings(period_seconds=3600))
        assert schedule.expected_after(NOW) == NOW + timedelta(hours=1)
        assert schedule.deadline_after(NOW) == NOW + timedelta(hours=1, minutes=5)

    @pytest.mark.parametrize(
        ("cron", "zone", "after", "then"),
        [
            ("0 3 * * *", "UTC", "2026-11-20T02:59:59.999999Z", "2026-11-20 03:00"),
            ("0 3 * * *", "UTC", "2026-11-20T03:00:00Z", "2026-11-21 03:00"),
            ("0 3 * * *", "Europe/Berlin", "2026-11-20T01:00:00Z", "2026-11-20 02:00"),
            ("0 9 * * MON-FRI", "America/New_York", "2026-11-20T20:00:00Z", "2026-11-23 14:00"),
            ("0 0 29 2 *", "UTC", "2026-11-20T09:30:00Z", "2028-02-29 00:00"),
            ("*/15 * * * *", "UTC", "2026-11-20T09:31:00Z", "2026-11-20 09:45"),
        ],
    )
    def test_a_cron_expression_is_read_in_its_time_zone(
        self, cron: str, zone: str, after: str, then: str
    ) -> None:
        assert expected(cron, zone, after) == then

    @pytest.mark.parametrize(
        ("cron", "after", "then"),
        [
            # 2026-03-29: 02:00 becomes 03:00, which is 01:00 UTC.
            ("30 2 * * *", "2026-03-28T12:00:00Z", "2026-03-29 01:00"),
            ("30 * * * *", "2026-03-29T00:31:00Z", "2026-03-29 01:30"),
            # 2026-10-25: 03:00 becomes 02:00, which is 01:00 UTC.
            ("30 2 * * *", "2026-10-24T12:00:00Z", "2026-10-25 00:30"),
            ("30 2 * * *", "2026-10-25T00:30:00Z", "2026-10-26 01:30"),
            ("30 2 * * *", "2026-10-25T01:10:00Z", "2026-10-26 01:30"),
            ("*/30 * * * *", "2026-10-25T00:31:00Z", "2026-10-25 01:00"),
        ],
    )
    def test_clock_changes_count_as_in_cron(self, cron: str, after: str, then: str) -> None:
        assert expected(cron, "Europe/Berlin", after) == then

    @given(
        datetimes(datetime(2026, 1, 1), datetime(2027, 12, 31)),  # noqa: DTZ001 - in UTC below
        sampled_from(
            ["30 2 * * *", "0 0 * * *", "*/5 * * * *", "15 1,2,3 * * SUN", "0 3 L * *", "59 23 * * *"]
        ),
        sampled_from(["UTC", "Europe/Berlin", "America/Sao_Paulo", "Australia/Lord_Howe", "Asia/Gaza"]),
    )
    def test_a_ping_is_never_expected_in_the_past(self, moment: datetime, cron: str, zone: str) -> None:
        after = moment.replace(tzinfo=UTC)
        assert Schedule.read(settings(cron=cron, time_zone=zone)).expected_after(after) > after

    def test_a_zone_that_was_lost_since_is_read_as_utc(self) -> None:
        assert Schedule.read(settings(period_seconds=60, time_zone="Mars/Phobos")).zone is UTC


class TestJudgeSchedule:
    @pytest.mark.parametrize(
        "cron", ["0 3 * * *", "*/5 * * * *", "0 0 29 2 *", "0 9 * JAN-MAR mon#1", "0 0 LW * *"]
    )
    def test_what_crontab_takes_is_taken(self, cron: str) -> None:
        judge_schedule(settings(cron=cron, time_zone="Europe/Berlin"))

    def test_a_period_is_taken(self) -> None:
        judge_schedule(settings(period_seconds=60))

    @pytest.mark.parametrize(
        ("cron", "part"),
        [
            ("60 * * * *", "Bad minute"),
            ("0 0 31 2 *", "Bad day-of-month"),
            ("0 0 * * FRIDAY", "Bad day-of-week"),
            ("@daily", "it needs five fields"),
            ("* * * * * *", "it needs five fields"),
            ("", "it needs five fields"),
        ],
    )
    def test_what_cannot_be_read_is_refused_with_its_part(self, cron: str, part: str) -> None:
        problem = refusal(cron=cron)
        assert (problem.name, problem.values["part"]) == ("cron_unreadable", part)

    def test_an_expression_that_never_comes_is_refused(self) -> None:
        # Only the 1st, 9th, 17th and 25th; the fifth Monday is the 29th at the earliest.
        assert refusal(cron="0 0 */8 2 MON#5").name == "cron_never_comes"

    @pytest.mark.parametrize("zone", ["Mars/Phobos", "", "../etc/passwd", "Europe"])
    def test_an_unknown_time_zone_is_refused(self, zone: str) -> None:
        assert refusal(period_seconds=60, time_zone=zone).name == "heartbeat_time_zone_unknown"

    @given(text(max_size=100) | cron_like)
    def test_no_text_breaks_it(self, cron: str) -> None:
        try:
            judge_schedule(settings(cron=cron))
        except Problem:
            return
        assert Schedule.read(settings(cron=cron)).expected_after(NOW) > NOW
