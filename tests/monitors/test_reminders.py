from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from backends.recorded_statements import recorded_statements
from incidents.breakdowns import open_incident, resolve
from monitoring.auth.service import create_team
from monitoring.monitors import reminders
from monitoring.monitors.reminders import remind
from monitoring.monitors.service import create_monitor
from monitoring.notifications.models import NotificationDelivery
from monitoring.notifications.service import create_channel
from temporary_backends import temporary_backends

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from monitoring.monitors.models import Monitor
    from monitoring.notifications.models import NotificationChannel

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("_backends")]

BEGAN_AT = datetime(2026, 11, 20, 9, 40, tzinfo=UTC)
EVENTS = ["incident.opened", "incident.reminder"]


@pytest.fixture
async def _backends(tmp_path: Path) -> AsyncIterator[None]:
    async with temporary_backends(tmp_path):
        yield


async def break_down(**routing: object) -> tuple[Monitor, NotificationChannel]:
    """Open an incident of a team with a channel that wants to be reminded every 10 minutes."""
    team = await create_team(f"Team {uuid4()}", "free", 10)
    given = {"reminder_interval_seconds": 600, **routing}
    channel = await create_channel(
        team.id,
        {"type": "webhook", "url": "https://pager.example.com/", "events": EVENTS, "routing": given},
    )
    monitor = await create_monitor(team.id, {"url": "https://shop.example.com/"})
    await open_incident(
        monitor, started_at=BEGAN_AT, confirmed_at=BEGAN_AT, error="timeout", error_message="No answer"
    )
    return monitor, channel


async def reminders_of(channel: NotificationChannel) -> list[datetime]:
    reminders = NotificationDelivery.filter(channel_id=channel.id, event="incident.reminder")
    return [each.created_at for each in await reminders.order_by("id")]


async def deliver_all() -> None:
    await NotificationDelivery.filter(status="pending").update(status="delivered")


async def test_come_as_often_as_the_channel_says() -> None:
    _, channel = await break_down()
    await deliver_all()
    moments = [BEGAN_AT + timedelta(minutes=minutes) for minutes in (9, 10, 15, 19, 20, 29, 31)]
    for now in moments:
        await remind(now)
        await remind(now)
        await deliver_all()
    assert await reminders_of(channel) == [moments[1], moments[4], moments[6]]


async def test_read_no_monitor_while_none_is_due() -> None:
    await break_down()
    with recorded_statements() as statements:
        await remind(BEGAN_AT + timedelta(minutes=9))
    assert [each.sql for each in statements if 'FROM "monitors"' in each.sql] == []


async def test_end_with_the_incident() -> None:
    monitor, channel = await break_down()
    await deliver_all()
    await resolve(monitor)
    await remind(BEGAN_AT + timedelta(hours=1))
    assert await reminders_of(channel) == []


async def test_do_not_overtake_the_opening() -> None:
    _, channel = await break_down(delay_seconds=7200)
    await remind(BEGAN_AT + timedelta(hours=1))
    assert await reminders_of(channel) == []


async def test_come_to_channels_that_were_not_told_of_the_opening() -> None:
    _, channel = await break_down()
    await NotificationDelivery.all().delete()
    await remind(BEGAN_AT + timedelta(hours=1))
    assert len(await reminders_of(channel)) == 1


async def test_come_only_to_channels_for_that_monitor() -> None:
    _, channel = await break_down(tags=["blog"])
    await remind(BEGAN_AT + timedelta(hours=1))
    assert await reminders_of(channel) == []


async def test_come_for_every_incident_although_one_round_has_not_room_for_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reminders, "INCIDENTS_AT_ONCE", 1)
    monitor, channel = await break_down()
    for name in ("Other", "Third"):
        other = await create_monitor(monitor.team_id, {"url": "https://shop.example.com/", "name": name})
        await open_incident(
            other, started_at=BEGAN_AT, confirmed_at=BEGAN_AT, error="timeout", error_message="No answer"
        )
    await deliver_all()
    for _ in range(4):
        await remind(BEGAN_AT + timedelta(hours=1))
    told = NotificationDelivery.filter(channel_id=channel.id, event="incident.reminder")
    assert len({each.subject_id for each in await told}) == await told.count() == 3
