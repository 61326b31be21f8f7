"""Windows of minutes say what the results in them say, on both databases."""

from __future__ import annotations

import random
from datetime import timedelta
from math import ceil
from typing import TYPE_CHECKING

import pytest

from history.diary import DAY, HOUR, NOON, make_monitors, make_result, write_down
from monitoring.history.close_up import MAX_WINDOWS, choose_length, measure_closely
from monitoring.history.tallies import Phases, Summary

if TYPE_CHECKING:
    from monitoring.history.models import CheckResult

on_both_backends = pytest.mark.usefixtures("backends")
pytestmark = pytest.mark.anyio

SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)


def summarize(results: list[CheckResult]) -> Summary:
    """Add results up in another way than the database does."""
    seen = [each for each in results if each.outcome != "unknown"]
    answers = [each for each in seen if each.outcome != "down" and each.response_time_ms is not None]
    times = sorted(each.response_time_ms or 0 for each in answers)
    p50_ms, p95_ms = (times[ceil(p * len(times) / 100) - 1] if times else None for p in (50, 95))
    phases = Phases()
    for each in answers:
        if each.first_byte_ms is not None:
            parts = (each.dns_ms or 0, each.connect_ms or 0, each.tls_ms or 0, each.first_byte_ms)
            phases = phases.plus(Phases(1, *parts, (each.response_time_ms or 0) - sum(parts)))
    failed_count = sum(each.outcome == "down" for each in seen)
    return Summary(len(seen), failed_count, p50_ms, p95_ms, phases)


@pytest.mark.parametrize(
    ("span", "interval", "length"),
    [
        (5 * MINUTE, 30 * SECOND, MINUTE),
        (5 * MINUTE, 5 * MINUTE, 5 * MINUTE),
        (5 * MINUTE, 10 * MINUTE, 15 * MINUTE),
        (5 * MINUTE, 16 * MINUTE, None),
        (MAX_WINDOWS * MINUTE, MINUTE, MINUTE),
        (MAX_WINDOWS * MINUTE + SECOND, MINUTE, 5 * MINUTE),
        (8 * HOUR, MINUTE, 5 * MINUTE),
        (DAY, MINUTE, 15 * MINUTE),
        (DAY + SECOND, MINUTE, None),
    ],
)
def test_windows_are_as_short_as_a_phone_can_show_and_as_hold_a_check(
    span: timedelta, interval: timedelta, length: timedelta | None
) -> None:
    assert choose_length(span, interval) == length


@on_both_backends
@pytest.mark.parametrize(("span", "window_count"), [(90 * MINUTE, 91), (5 * HOUR, 61), (DAY, 97)])
async def test_each_window_adds_up_the_results_of_its_monitor_in_it(
    span: timedelta, window_count: int
) -> None:
    monitor, other = await make_monitors(2)
    monitor.interval_seconds = 30
    end = NOON + 7 * SECOND
    chance = random.Random(7)  # noqa: S311 - not for secrets
    results = [
        make_result(
            monitor.id,
            moment,
            chance.choice(("up", "up", "up", "degraded", "down", "unknown")),
            chance.choice((None, *(20 + round(chance.lognormvariate(5, 1)) for _ in range(9)))),
            # A redirect to an address has no name to resolve, and an old check no phases at all.
            **chance.choice(
                (
                    {},
                    {"connect_ms": 1, "first_byte_ms": 5},
                    {"dns_ms": 2, "connect_ms": 3, "tls_ms": 4, "first_byte_ms": 8},
                )
            ),
        )
        for n in range(-9, int(span / timedelta(seconds=43)))
        for moment in [end - span + n * timedelta(seconds=43, microseconds=1)]
        if not NOON - 40 * MINUTE < moment < NOON - 20 * MINUTE
    ]
    await write_down([*results, *(make_result(other.id, NOON - n * MINUTE, "down") for n in range(60))])
    told = await measure_closely(monitor, end - span, end, end + HOUR)
    assert len(told) == window_count
    assert told[0][0][0] <= end - span
    assert told[-1][0][1] >= end
    for (start, until), summary in told:
        assert summary == summarize([each for each in results if start <= each.checked_at < until])
    assert Summary() in [summary for _, summary in told]


@on_both_backends
async def test_a_window_begins_with_its_first_moment_and_ends_before_the_next() -> None:
    [monitor] = await make_monitors()
    monitor.interval_seconds = 300
    last = NOON + 5 * MINUTE - timedelta(microseconds=1)
    await write_down([make_result(monitor.id, moment) for moment in (NOON, last, NOON + 5 * MINUTE)])
    told = await measure_closely(monitor, NOON, NOON + 10 * MINUTE, NOON + HOUR)
    assert [(start, summary.check_count) for (start, _), summary in told] == [
        (NOON, 2),
        (NOON + 5 * MINUTE, 1),
    ]


@on_both_backends
async def test_a_window_that_has_not_ended_counts_from_its_first_check_on() -> None:
    [monitor] = await make_monitors()
    monitor.interval_seconds = 60
    now = NOON + 7 * SECOND
    assert len(await measure_closely(monitor, NOON - 5 * MINUTE, now, now)) == 5
    await write_down([make_result(monitor.id, NOON + SECOND)])
    assert len(await measure_closely(monitor, NOON - 5 * MINUTE, now, now)) == 6


@on_both_backends
async def test_nothing_is_told_of_a_time_whose_results_may_be_deleted() -> None:
    [monitor] = await make_monitors()
    await write_down([make_result(monitor.id)])
    assert await measure_closely(monitor, NOON - HOUR, NOON + HOUR, NOON + 14 * DAY - HOUR)
    assert await measure_closely(monitor, NOON - HOUR, NOON + HOUR, NOON + 14 * DAY) == []


@on_both_backends
async def test_nothing_is_told_of_a_monitor_that_is_rarely_checked() -> None:
    [monitor] = await make_monitors()
    monitor.interval_seconds = 3600
    assert await measure_closely(monitor, NOON - HOUR, NOON, NOON) == []
