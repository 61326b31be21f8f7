from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import UUID, uuid4

import orjson
import pytest

from cast import form_team
from incidents.breakdowns import CONFIRMED_AT, RESOLVED_AT, SENTENCE, STARTED_AT, break_down, resolve
from monitoring.auth.models import Team
from monitoring.auth.service import create_team
from monitoring.backends.database import transaction
from monitoring.incidents.models import Incident, Resolution
from monitoring.incidents.service import Opening, open_incidents, resolve_incidents
from monitoring.monitors.service import create_monitor, delete_monitor
from monitoring.notifications.models import NotificationDelivery
from monitoring.notifications.monitor_subjects import KnownMonitor
from monitoring.notifications.service import create_channel
from temporary_backends import temporary_backends

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from running_service import RunningService

pytestmark = pytest.mark.anyio


@pytest.fixture
async def _backends(tmp_path: Path) -> AsyncIterator[None]:
    async with temporary_backends(tmp_path):
        yield


async def watch(team_id: UUID | None = None) -> KnownMonitor:
    """Create a monitor. Without `team_id`, its team is new and has one webhook."""
    if team_id is None:
        team_id = (await create_team(f"Team {uuid4()}", "free", 10)).id
        await create_channel(team_id, {"type": "webhook", "url": "https://pager.example.com/"})
    url = "https://shop.example.com/health"
    monitor = await create_monitor(team_id, {"name": "Storefront", "url": url})
    return KnownMonitor(monitor.id, monitor.team_id, monitor.name, monitor.url, monitor.tags)


async def messages_of(delivery_ids: list[UUID]) -> list[dict[str, object]]:
    deliveries = await NotificationDelivery.filter(id__in=delivery_ids)
    return [orjson.loads(delivery.payload) for delivery in deliveries]


@pytest.mark.usefixtures("_backends")
class TestOpening:
    async def test_stores_the_incident(self) -> None:
        monitor = await watch()
        await break_down(monitor)
        incident = await Incident.get(monitor_id=monitor.id)
        assert (incident.team_id, incident.started_at, incident.confirmed_at) == (
            monitor.team_id,
            STARTED_AT,
            CONFIRMED_AT,
        )
        assert (incident.error, incident.error_message) == ("unexpected_status", SENTENCE)
        assert (incident.resolved_at, incident.resolution) == (None, None)

    async def test_tells_the_webhooks_what_broke_and_when(self) -> None:
        monitor = await watch()
        (message,) = await messages_of(await break_down(monitor))
        assert message == {
            "type": "incident.opened",
            "timestamp": "2026-11-20T09:40:00.183000Z",
            "data": {
                "incident": {
                    "id": str((await Incident.get(monitor_id=monitor.id)).id),
                    "monitor_id": str(monitor.id),
                    "state": "open",
                    "started_at": "2026-11-20T09:39:50.003000Z",
                    "confirmed_at": "2026-11-20T09:40:00.183000Z",
                    "acknowledged_at": None,
                    "acknowledged_by": None,
                    "resolved_at": None,
                    "resolution": None,
                    "error": "unexpected_status",
                    "error_message": SENTENCE,
                },
                "monitor": {
                    "id": str(monitor.id),
                    "name": "Storefront",
                    "url": "https://shop.example.com/health",
                    "tags": [],
                },
                "recent_incidents": 1,
                "team": (await Team.get(id=monitor.team_id)).name,
            },
        }

    async def test_is_undone_with_the_callers_transaction(self) -> None:
        monitor = await watch()
        with suppress(ZeroDivisionError):
            async with transaction():
                await break_down(monitor)
                raise ZeroDivisionError
        assert await Incident.filter(monitor_id=monitor.id).count() == 0
        assert await NotificationDelivery.filter(channel__team_id=monitor.team_id).count() == 0


@pytest.mark.usefixtures("_backends")
class TestOpeningMany:
    async def test_opens_one_a_monitor_however_often_it_is_asked_for(self) -> None:
        monitor = await watch()
        assert len(await break_down(monitor)) == 1
        assert await break_down(monitor) == []
        assert await Incident.filter(monitor_id=monitor.id).count() == 1
        assert await NotificationDelivery.filter(channel__team_id=monitor.team_id).count() == 1

    async def test_opens_and_announces_what_is_not_open_yet(self) -> None:
        broken, breaking = await watch(), await watch()
        await break_down(broken)
        openings = [
            Opening(
                monitor=monitor,
                started_at=STARTED_AT,
                confirmed_at=CONFIRMED_AT,
                error="timeout",
                error_message=SENTENCE,
            )
            for monitor in (broken, breaking)
        ]
        (message,) = await messages_of(await open_incidents(openings))
        data = message["data"]
        assert isinstance(data, dict)
        assert data["monitor"]["id"] == str(breaking.id)
        assert data["incident"]["id"] == str((await Incident.get(monitor_id=breaking.id)).id)
        assert (await Incident.get(monitor_id=broken.id)).error == "unexpected_status"

    async def test_of_no_monitor_is_nothing(self) -> None:
        assert await open_incidents([]) == await resolve_incidents([]) == []


def test_an_incident_may_follow_one_that_is_resolved(service: RunningService) -> None:
    team_id = form_team(service).id

    async def break_twice() -> int:
        monitor = await watch(team_id)
        for _ in range(2):
            await break_down(monitor)
            await resolve(monitor)
        return await Incident.filter(monitor_id=monitor.id, resolution="recovered").count()

    assert service.run(break_twice()) == 2


@pytest.mark.usefixtures("_backends")
class TestResolving:
    @pytest.mark.parametrize("resolution", list(Resolution))
    async def test_ends_the_open_incident_and_tells_the_webhooks_how(self, resolution: Resolution) -> None:
        monitor = await watch()
        await break_down(monitor)
        (message,) = await messages_of(await resolve(replace(monitor, name="Shop"), resolution))
        incident = await Incident.get(monitor_id=monitor.id)
        assert (incident.resolved_at, incident.resolution) == (RESOLVED_AT, resolution)
        assert (message["type"], message["timestamp"]) == (
            "incident.resolved",
            "2026-11-20T09:45:00.183000Z",
        )
        data = message["data"]
        assert isinstance(data, dict)
        assert data["incident"]["state"] == "resolved"
        assert data["incident"]["resolution"] == resolution
        assert data["incident"]["started_at"] == "2026-11-20T09:39:50.003000Z"
        assert data["monitor"]["name"] == "Shop"

    async def test_of_nothing_changes_and_tells_nothing(self) -> None:
        monitor = await watch()
        await break_down(monitor)
        await resolve(monitor)
        assert await resolve(monitor, Resolution.PAUSED) == []
        assert (await Incident.get(monitor_id=monitor.id)).resolution == "recovered"

    async def test_leaves_other_monitors_alone(self) -> None:
        monitor = await watch()
        other = await watch(monitor.team_id)
        await break_down(other)
        assert await resolve(monitor) == []
        assert (await Incident.get(monitor_id=other.id)).resolved_at is None


@pytest.mark.usefixtures("_backends")
class TestLog:
    async def test_has_one_line_when_an_incident_opens_and_one_when_it_ends(
        self, own_log: pytest.LogCaptureFixture
    ) -> None:
        own_log.set_level("INFO", "monitoring.incidents")
        monitor = await watch()
        await break_down(monitor)
        await break_down(monitor)
        await resolve(monitor)
        await resolve(monitor)
        incident = await Incident.get(monitor_id=monitor.id)
        named = f"the monitor Storefront ({monitor.id})"
        assert own_log.messages == [
            f"Incident {incident.id} opened: {named} is down (unexpected_status: {SENTENCE})",
            f"Incident {incident.id} resolved: {named} recovered",
        ]
        assert {each.levelname for each in own_log.records} == {"INFO"}

    async def test_says_that_somebody_ended_it(self, own_log: pytest.LogCaptureFixture) -> None:
        own_log.set_level("INFO", "monitoring.incidents")
        monitor = await watch()
        await break_down(monitor)
        await delete_monitor(monitor.team_id, monitor.id)
        assert own_log.messages[-1].endswith(f"the monitor Storefront ({monitor.id}) was deleted")

    async def test_has_nothing_of_an_incident_that_was_not_stored(
        self, own_log: pytest.LogCaptureFixture
    ) -> None:
        own_log.set_level("INFO", "monitoring.incidents")
        monitor = await watch()
        with suppress(RuntimeError):
            async with transaction():
                await break_down(monitor)
                raise RuntimeError("the database went away")
        assert own_log.messages == []
