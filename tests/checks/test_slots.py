from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitoring.backends.fields import uuid7
from monitoring.checks.slots import next_check_at, next_slot

MONITOR_ID = UUID("019a9f4e-7c00-7000-8000-000000000001")
NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)

moments = st.datetimes(datetime(2020, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001
intervals = st.integers(30, 86_400)


class TestNextSlot:
    @given(st.uuids(), intervals, moments)
    def test_comes_after_the_moment_and_within_an_interval(
        self, monitor_id: UUID, interval_seconds: int, after: datetime
    ) -> None:
        wait = next_slot(monitor_id, interval_seconds, after) - after
        assert timedelta(0) < wait <= timedelta(seconds=interval_seconds)

    @given(st.uuids(), intervals, moments)
    def test_is_followed_by_the_next_exactly_an_interval_later(
        self, monitor_id: UUID, interval_seconds: int, after: datetime
    ) -> None:
        slot = next_slot(monitor_id, interval_seconds, after)
        assert next_slot(monitor_id, interval_seconds, slot) - slot == timedelta(seconds=interval_seconds)

    @given(st.uuids(), intervals, moments, st.integers(0, 10_000))
    def test_stays_on_the_grid_however_many_were_missed(
        self, monitor_id: UUID, interval_seconds: int, after: datetime, missed_slots: int
    ) -> None:
        interval = timedelta(seconds=interval_seconds)
        slot = next_slot(monitor_id, interval_seconds, after)
        assert next_slot(monitor_id, interval_seconds, after + missed_slots * interval) == (
            slot + missed_slots * interval
        )

    @given(st.uuids(), intervals, moments)
    def test_is_the_same_for_every_moment_before_it_since_the_last(
        self, monitor_id: UUID, interval_seconds: int, after: datetime
    ) -> None:
        slot = next_slot(monitor_id, interval_seconds, after)
        a_moment_before = slot - timedelta(microseconds=1)
        assert next_slot(monitor_id, interval_seconds, a_moment_before) == slot

    def test_is_the_same_in_every_process(self) -> None:
        assert next_slot(MONITOR_ID, 300, NOON) == NOON + timedelta(seconds=117, microseconds=883_900)

    def test_is_told_in_utc_whatever_the_zone_of_the_moment(self) -> None:
        elsewhere = NOON.astimezone(timezone(timedelta(hours=5, minutes=45)))
        slot = next_slot(MONITOR_ID, 300, elsewhere)
        assert slot == next_slot(MONITOR_ID, 300, NOON)
        assert slot.tzinfo is UTC

    @pytest.mark.parametrize("interval_seconds", [30, 300, 3600, 86_400])
    def test_of_monitors_made_together_is_spread_over_the_interval(self, interval_seconds: int) -> None:
        slots = [next_slot(uuid7(), interval_seconds, NOON) for _ in range(1000)]
        buckets = {(slot - NOON) * 100 // timedelta(seconds=interval_seconds) for slot in slots}
        assert len(buckets) >= 90


class TestNextCheck:
    @given(st.uuids(), intervals, moments)
    def test_of_a_settled_monitor_is_its_next_slot(
        self, monitor_id: UUID, interval_seconds: int, now: datetime
    ) -> None:
        assert next_check_at(
            monitor_id,
            is_settling=False,
            interval_seconds=interval_seconds,
            retry_interval_seconds=10,
            now=now,
        ) == next_slot(monitor_id, interval_seconds, now)

    @given(st.uuids(), intervals, st.integers(5, 3600), moments)
    def test_that_settles_a_streak_comes_after_the_retry_interval_wherever_the_slots_are(
        self, monitor_id: UUID, interval_seconds: int, retry_interval_seconds: int, now: datetime
    ) -> None:
        check_at = next_check_at(
            monitor_id,
            is_settling=True,
            interval_seconds=interval_seconds,
            retry_interval_seconds=retry_interval_seconds,
            now=now,
        )
        assert check_at == now + timedelta(seconds=min(interval_seconds, retry_interval_seconds))
