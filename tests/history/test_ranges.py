from __future__ import annotations

from datetime import timedelta

import pytest

from history.diary import DAY, HOUR, NOON
from monitoring.contract.timestamps import write_timestamp
from monitoring.history.ranges import Range, WindowName, read_limits, read_range

MICROSECOND = timedelta(microseconds=1)


def _read(
    from_: timedelta | None = None, to: timedelta | None = None, window: WindowName | None = None
) -> Range:
    """Ask about a range told from now on; an hour is the default."""
    start, end = (None if offset is None else write_timestamp(NOON + offset) for offset in (from_, to))
    return read_range(start, end, window, now=NOON, default=HOUR)


class TestRange:
    def test_is_the_default_until_now_unless_asked_otherwise(self) -> None:
        assert _read() == Range(NOON - HOUR, NOON)

    def test_is_the_default_until_its_end_when_only_that_is_told(self) -> None:
        assert _read(to=-DAY) == Range(NOON - DAY - HOUR, NOON - DAY)

    def test_is_read_in_utc(self) -> None:
        asked = read_range("2026-11-20T13:30:00+02:00", None, None, now=NOON, default=HOUR)
        assert asked.start.isoformat() == "2026-11-20T11:30:00+00:00"

    def test_ends_now_at_the_latest(self) -> None:
        assert _read(-DAY, 1000 * DAY) == Range(NOON - DAY, NOON)
        assert _read(to=DAY) == Range(NOON - HOUR, NOON)

    def test_is_empty_when_all_of_it_lies_ahead(self) -> None:
        assert _read(HOUR, DAY) == Range(NOON, NOON)

    def test_may_be_told_in_either_order(self) -> None:
        assert _read(-HOUR, -DAY) == Range(NOON - DAY, NOON - HOUR)
        assert _read(HOUR, -DAY) == Range(NOON - DAY, NOON)
        assert _read(-HOUR, -HOUR) == Range(NOON - HOUR, NOON - HOUR)

    @pytest.mark.parametrize(("from_", "to"), [(HOUR, None), (timedelta(0), None), (DAY, HOUR)])
    def test_that_lies_ahead_is_empty_in_either_order(self, from_: timedelta, to: timedelta | None) -> None:
        assert _read(from_, to) == Range(NOON, NOON)

    @pytest.mark.parametrize(("window", "max_days"), [("hour", 31), ("day", 400), (None, 400)])
    def test_that_is_longer_than_can_be_told_at_once_is_cut_to_its_end(
        self, window: WindowName | None, max_days: int
    ) -> None:
        longest = Range(NOON - max_days * DAY, NOON, window)
        assert _read(-max_days * DAY, window=window) == longest
        assert _read(-max_days * DAY - MICROSECOND, window=window) == longest


class TestLimits:
    def test_are_those_that_were_told_in_utc(self) -> None:
        earlier, later = "2026-11-20T11:00:00+02:00", "2026-11-20T12:00:00Z"
        assert read_limits(None, None) == (None, None)
        assert read_limits(earlier, None) == (NOON - 3 * HOUR, None)
        assert read_limits(None, later) == (None, NOON)
        assert read_limits(earlier, later) == (NOON - 3 * HOUR, NOON)

    def test_may_be_told_in_either_order(self) -> None:
        noon, hour_before = "2026-11-20T12:00:00Z", "2026-11-20T11:00:00Z"
        assert read_limits(noon, hour_before) == (NOON - HOUR, NOON)
        assert read_limits(noon, noon) == (NOON, NOON)
