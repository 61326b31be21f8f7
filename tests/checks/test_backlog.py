from __future__ import annotations

from datetime import UTC, datetime

import pytest

from checks.rounds import HOUR, make_due
from incidents.breakdowns import break_down, resolve
from metric_values import reading
from monitoring.checks.claims import claim_due
from monitoring.checks.upkeep import measure_incidents, measure_lateness, measure_monitors
from monitoring.monitors.models import Monitor

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("backends")]


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
