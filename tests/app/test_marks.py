"""The marks of what live pages show move with every change of it, and with no other team's."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from checks.rounds import UP, found, make_due
from incidents.breakdowns import break_down, resolve
from monitoring.app.marks import Shown, Source, read_marks
from monitoring.audit.actors import Actor
from monitoring.checks.claims import claim_due
from monitoring.checks.requests import request_check
from monitoring.checks.storing import store
from monitoring.incidents.models import Incident
from monitoring.incidents.responding import acknowledge, write_note
from monitoring.monitors.maintenance.service import create_window
from monitoring.monitors.service import delete_monitor, update_monitor
from monitoring.notifications.claims import claim_delivery
from monitoring.notifications.models import DeliveryStatus, NotificationDelivery
from monitoring.notifications.service import create_channel, list_channels, update_channel
from temporary_backends import temporary_backends

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

    from monitoring.monitors.models import Monitor

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("_backends")]

ALICE = Actor("alice@example.com")


@pytest.fixture
async def _backends(tmp_path: Path) -> AsyncIterator[None]:
    async with temporary_backends(tmp_path):
        yield


async def watch() -> Monitor:
    """Make a team with a channel and a monitor that is down and was never checked."""
    [monitor] = await make_due(since=datetime.now(UTC))
    await create_channel(monitor.team_id, {"type": "webhook", "url": "https://pager.example.com/"})
    await break_down(monitor)
    return monitor


async def incident_of(monitor: Monitor) -> Incident:
    return await Incident.get(monitor_id=monitor.id, resolved_at=None)


async def check(monitor: Monitor) -> None:
    now = datetime.now(UTC)
    await store(
        found([each for each in await claim_due(now, 9) if each.monitor_id == monitor.id], UP, now), now
    )


async def check_now(monitor: Monitor) -> None:
    await request_check(monitor.id, datetime.now(UTC))


async def recover(monitor: Monitor) -> None:
    await resolve(monitor)


async def acknowledge_it(monitor: Monitor) -> None:
    await acknowledge(monitor.team_id, (await incident_of(monitor)).id, ALICE)


async def note(monitor: Monitor) -> None:
    await write_note(monitor.team_id, (await incident_of(monitor)).id, ALICE, "I am on it")


async def deliver(monitor: Monitor) -> None:
    delivery = await NotificationDelivery.get(subject_id=(await incident_of(monitor)).id)
    claim = await claim_delivery(delivery.id)
    assert claim
    await claim.end(status=DeliveryStatus.DELIVERED, delivered_at=datetime.now(UTC), due_at=None)


async def rename(monitor: Monitor) -> None:
    await update_monitor(monitor.team_id, monitor.id, {"name": "Another"})


async def pause(monitor: Monitor) -> None:
    await update_monitor(monitor.team_id, monitor.id, {"paused": True})


async def delete(monitor: Monitor) -> None:
    await delete_monitor(monitor.team_id, monitor.id)


async def begin_maintenance(monitor: Monitor) -> None:
    given = {"name": "Deployment", "duration_seconds": 3600, "monitor_ids": [str(monitor.id)]}
    await create_window(monitor.team_id, given)


async def disable_channel(monitor: Monitor) -> None:
    [channel] = (await list_channels(monitor.team_id, 1, None)).rows
    await update_channel(monitor.team_id, channel.id, {"type": "webhook", "enabled": False})


T, C, M, I = Source.TEAM, Source.CHECKS, Source.MONITOR, Source.INCIDENT  # noqa: E741


@pytest.mark.parametrize(
    ("change", "least"),
    [
        (check, {C, M}),
        (check_now, {M}),
        (recover, {T}),
        (acknowledge_it, {T}),
        (note, {I}),
        (deliver, {I}),
        (rename, {T}),
        (pause, {T, M}),
        (delete, {T}),
        (begin_maintenance, {T, M}),
        (disable_channel, {T}),
    ],
)
async def test_a_change_moves_the_marks_of_its_team_and_of_no_other(
    change: Callable[[Monitor], Awaitable[None]], least: set[Source]
) -> None:
    async def shown_of(monitor: Monitor) -> list[Shown]:
        incident = await incident_of(monitor)
        ids = {T: monitor.team_id, C: monitor.team_id, M: monitor.id, I: incident.id}
        return [Shown(source, id_) for source, id_ in ids.items()]

    mine, others = await watch(), await watch()
    my_marks, their_marks = await shown_of(mine), await shown_of(others)
    before = await read_marks(my_marks + their_marks)
    assert before == await read_marks(my_marks + their_marks)
    await change(mine)
    after = await read_marks(my_marks + their_marks)
    assert least <= {each.source for each in my_marks if after[each] != before[each]}
    assert [each for each in their_marks if after[each] != before[each]] == []
