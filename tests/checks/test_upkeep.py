from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from checks.rounds import HOUR, MINUTE, NOON, SECOND, UP, claim_one, found, make_due
from incidents.breakdowns import break_down, resolve
from metric_values import reading
from monitoring.checks.claims import claim_due
from monitoring.checks.storing import store
from monitoring.checks.upkeep import measure_incidents, measure_lateness, measure_monitors, tell_unwatched
from monitoring.monitors.health import GRACE
from monitoring.monitors.models import CheckState, Monitor

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("backends")]

INTERVAL = timedelta(seconds=300)


async def _look(now: datetime = NOON) -> None:
    await store(found([await claim_one(now)], UP, now), now)


async def test_a_monitor_that_is_not_checked_any_more_becomes_unknown_since_its_last_check_vouches() -> None:
    [monitor] = await make_due()
    await _look()
    assert await tell_unwatched(NOON + INTERVAL + GRACE) == 0
    assert await tell_unwatched(NOON + 2 * INTERVAL + GRACE) == 1
    told = await Monitor.get(id=monitor.id)
    assert (told.status, told.status_changed_at) == ("unknown", NOON + INTERVAL + GRACE)
    assert await tell_unwatched(NOON + 3 * INTERVAL + GRACE) == 0


async def test_the_next_check_says_again_what_it_sees() -> None:
    [monitor] = await make_due()
    await _look()
    later = NOON + timedelta(hours=1)
    await tell_unwatched(later)
    await _look(later + SECOND)
    assert (await Monitor.get(id=monitor.id)).status == "up"


async def test_what_was_never_checked_is_still_pending_and_what_rests_still_paused() -> None:
    pending, paused = await make_due(2)
    await CheckState.filter(monitor_id=paused.id).update(due_at=None, seen_until=NOON)
    await Monitor.filter(id=paused.id).update(status="paused")
    assert await tell_unwatched(NOON + 60 * MINUTE) == 0
    assert (await Monitor.get(id=pending.id)).status == "pending"


class TestMonitors:
    async def test_are_counted_by_status_of_all_teams(self) -> None:
        first, *_ = [*await make_due(2), *await make_due(1)]
        await Monitor.filter(id=first.id).update(status="down")
        await measure_monitors()
        assert (reading("monitors", status="pending"), reading("monitors", status="down")) == (2, 1)

    async def test_are_none_of_a_status_that_the_last_one_left(self) -> None:
        await make_due()
        await measure_monitors()
        await Monitor.all().update(status="up")
        await measure_monitors()
        assert (reading("monitors", status="pending"), reading("monitors", status="up")) == (0, 1)


class TestIncidents:
    async def test_count_until_they_are_over(self) -> None:
        first, second = await make_due(2)
        await break_down(first)
        await break_down(second)
        await resolve(second)
        await measure_incidents()
        assert reading("open_incidents") == 1


class TestLateness:
    async def test_is_that_of_the_check_that_has_waited_the_longest(self) -> None:
        now = datetime.now(UTC)
        for hours in (1, 2):
            await make_due(since=now - hours * HOUR)
        await measure_lateness()
        assert 7200 <= reading("checks_overdue_seconds") < 10_000

    async def test_is_none_while_all_that_is_due_is_claimed(self) -> None:
        now = datetime.now(UTC)
        await make_due(2, since=now - HOUR)
        await claim_due(now, 2)
        await measure_lateness()
        assert reading("checks_overdue_seconds") == 0
