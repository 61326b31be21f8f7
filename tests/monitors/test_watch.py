from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from incidents.breakdowns import open_incident
from monitoring.auth.service import create_team
from monitoring.checks.requests import request_check
from monitoring.incidents.models import Incident
from monitoring.monitors.models import Monitor, StateChange, Watch
from monitoring.monitors.queries import row_of
from monitoring.monitors.representations import represent_monitor
from monitoring.monitors.service import create_monitor, delete_monitor, get_monitor, update_monitor
from monitoring.monitors.watch import CHANGE_DELAY
from monitoring.notifications.models import NotificationDelivery
from monitoring.notifications.service import create_channel
from temporary_backends import temporary_backends

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from monitoring.auth.models import Team

pytestmark = pytest.mark.anyio

URL = "https://shop.example.com/health"


@pytest.fixture
async def team(tmp_path: Path) -> AsyncIterator[Team]:
    async with temporary_backends(tmp_path):
        yield await create_team("Alice's", "free", 10)


async def _states(monitor: Monitor) -> list[str]:
    changes = await StateChange.filter(monitor_id=monitor.id).order_by("changed_at")
    return [change.state for change in changes]


async def _break(monitor: Monitor) -> None:
    now = datetime.now(UTC)
    await Watch.filter(monitor_id=monitor.id).update(settled="down", claim=uuid4(), streak=1)
    await open_incident(monitor, started_at=now, confirmed_at=now, error="timeout", error_message="No answer")


class TestCreation:
    async def test_makes_a_monitor_due_at_once(self, team: Team) -> None:
        monitor = await create_monitor(team.id, {"url": URL})
        watch = (await get_monitor(team.id, monitor.id)).watch
        assert watch.due_at == watch.next_check_at == monitor.created_at
        assert (watch.settled, watch.claim) == ("pending", None)
        assert await _states(monitor) == ["pending"]

    async def test_of_a_paused_monitor_makes_nothing_due(self, team: Team) -> None:
        monitor = await create_monitor(team.id, {"url": URL, "paused": True})
        watch = (await get_monitor(team.id, monitor.id)).watch
        assert (watch.due_at, monitor.status) == (None, "paused")
        assert represent_monitor(row_of(monitor, None))["next_check_at"] is None
        assert await _states(monitor) == ["paused"]


class TestPausing:
    async def test_takes_the_claim_of_a_check_that_is_under_way(self, team: Team) -> None:
        monitor = await create_monitor(team.id, {"url": URL})
        await Watch.filter(monitor_id=monitor.id).update(claim=(claim := uuid4()))
        paused = await update_monitor(team.id, monitor.id, {"paused": True})
        watch = (await get_monitor(team.id, monitor.id)).watch
        assert watch.claim != claim
        assert (watch.due_at, paused.status) == (None, "paused")

    async def test_ends_an_open_incident_and_tells_it(self, team: Team) -> None:
        await create_channel(team.id, {"type": "webhook", "url": "https://pager.example.com/"})
        monitor = await create_monitor(team.id, {"url": URL})
        await _break(monitor)
        await update_monitor(team.id, monitor.id, {"paused": True})
        incident = await Incident.get(monitor_id=monitor.id)
        assert incident.resolution == "paused"
        assert incident.resolved_at is not None
        assert await NotificationDelivery.filter(event="incident.resolved").count() == 1

    async def test_and_resuming_forgets_what_was_known_and_checks_at_once(self, team: Team) -> None:
        monitor = await create_monitor(team.id, {"url": URL})
        await _break(monitor)
        await update_monitor(team.id, monitor.id, {"paused": True})
        resumed = await update_monitor(team.id, monitor.id, {"paused": False})
        watch = (await get_monitor(team.id, monitor.id)).watch
        assert (watch.settled, watch.streak, resumed.status) == ("pending", 0, "pending")
        assert (watch.due_at, watch.claim) == (resumed.status_changed_at, None)
        assert await _states(monitor) == ["pending", "paused", "pending"]

    @pytest.mark.parametrize("times", [1, 2])
    async def test_and_resuming_waits_until_a_check_that_is_under_way_has_ended(
        self, team: Team, times: int
    ) -> None:
        monitor = await create_monitor(team.id, {"url": URL})
        lease_end = monitor.created_at + timedelta(seconds=75)
        await Watch.filter(monitor_id=monitor.id).update(claim=uuid4(), due_at=lease_end)
        for _ in range(times):
            await update_monitor(team.id, monitor.id, {"paused": True, "timeout_seconds": 1})
            await update_monitor(team.id, monitor.id, {"paused": False})
        watch = (await get_monitor(team.id, monitor.id)).watch
        assert watch.due_at == watch.next_check_at == lease_end

    async def test_comes_after_whatever_a_checker_with_a_faster_clock_has_seen(self, team: Team) -> None:
        monitor = await create_monitor(team.id, {"url": URL})
        ahead = datetime.now(UTC) + timedelta(seconds=2)
        await StateChange.create(monitor_id=monitor.id, changed_at=ahead, state="up")
        await update_monitor(team.id, monitor.id, {"paused": True})
        assert await _states(monitor) == ["pending", "up", "paused"]

    async def test_after_a_time_in_which_nobody_looked_leaves_it_unknown(self, team: Team) -> None:
        monitor = await create_monitor(team.id, {"url": URL})
        looked_until = monitor.created_at + timedelta(microseconds=1)
        await Watch.filter(monitor_id=monitor.id).update(settled="up", seen_until=looked_until)
        await update_monitor(team.id, monitor.id, {"paused": True})
        assert await _states(monitor) == ["pending", "unknown", "paused"]
        assert await StateChange.exists(state="unknown", changed_at=looked_until)


class TestChange:
    @pytest.mark.parametrize(("next_in_seconds", "expected"), [(3000, "soon"), (3, "as planned")])
    async def test_brings_the_next_check_forward_and_never_puts_it_off(
        self, team: Team, next_in_seconds: int, expected: str
    ) -> None:
        monitor = await create_monitor(team.id, {"url": URL, "interval_seconds": 3600})
        due_at = monitor.created_at + timedelta(seconds=next_in_seconds)
        await Watch.filter(monitor_id=monitor.id).update(due_at=due_at, next_check_at=due_at)
        changed = await update_monitor(team.id, monitor.id, {"url": "https://blog.example.com/"})
        assert changed.watch.due_at == (changed.updated_at + CHANGE_DELAY if expected == "soon" else due_at)

    async def test_of_what_people_call_it_leaves_the_next_check_alone(self, team: Team) -> None:
        monitor = await create_monitor(team.id, {"url": URL})
        due_at = monitor.created_at + timedelta(hours=1)
        await Watch.filter(monitor_id=monitor.id).update(claim=(claim := uuid4()), due_at=due_at)
        changed = await update_monitor(team.id, monitor.id, {"name": "Shop", "tags": ["shop"]})
        assert (changed.watch.due_at, changed.watch.claim) == (due_at, claim)

    async def test_while_a_check_is_under_way_drops_its_result_and_checks_again_when_its_lease_ends(
        self, team: Team
    ) -> None:
        monitor = await create_monitor(team.id, {"url": URL})
        lease_end = monitor.created_at + timedelta(seconds=30)
        await Watch.filter(monitor_id=monitor.id).update(claim=(claim := uuid4()), due_at=lease_end)
        for url in ("https://shop.example.com/1", "https://shop.example.com/2"):
            await update_monitor(team.id, monitor.id, {"url": url})
            await request_check(monitor.id, datetime.now(UTC))
        watch = (await get_monitor(team.id, monitor.id)).watch
        assert watch.claim not in (claim, None)
        assert watch.due_at == lease_end


class TestDeletion:
    async def test_ends_an_open_incident_first_and_tells_it(self, team: Team) -> None:
        await create_channel(team.id, {"type": "webhook", "url": "https://pager.example.com/"})
        monitor = await create_monitor(team.id, {"url": URL})
        await _break(monitor)
        await delete_monitor(team.id, monitor.id)
        told = await NotificationDelivery.get(event="incident.resolved")
        assert '"deleted"' in told.payload
        assert not any([await model.exists() for model in (Monitor, Watch, StateChange)])
        incident = await Incident.get(monitor_id=monitor.id)
        assert (incident.resolution, incident.resolved_at is None) == ("deleted", False)
