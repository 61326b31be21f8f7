"""Teams hear that this service was offline itself, once, however many monitors and checkers notice it."""

from __future__ import annotations

import asyncio
from contextvars import copy_context
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

import orjson
import pytest

from checks.rounds import DOWN, HOUR, MINUTE, NOON, UNKNOWN, UP, found, make_due
from monitoring.auth.models import Team
from monitoring.auth.service import create_team
from monitoring.backends.database import transaction
from monitoring.checks.claims import claim_due
from monitoring.checks.interruptions import Interrupted, announce_interruptions
from monitoring.checks.storing import store
from monitoring.incidents.models import Incident
from monitoring.monitors.models import CheckState, Monitor
from monitoring.notifications.models import NotificationDelivery
from monitoring.notifications.muting import store_mutes
from monitoring.notifications.service import create_channel

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from tortoise.backends.base.client import BaseDBAsyncClient

    from monitoring.checks.probes.protocol import Finding
    from monitoring.notifications.models import NotificationChannel

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("backends")]

CHAT = {"type": "slack", "url": "https://hooks.slack.com/services/T0000/B0000/a-secret"}
HOOK = {"type": "webhook", "url": "https://pager.example.com/hooks"}


async def make_team(*channels: dict[str, Any]) -> tuple[UUID, list[NotificationChannel]]:
    team = await create_team(f"Team {uuid4()}", "free", 10)
    return team.id, [await create_channel(team.id, dict(each)) for each in channels]


async def check(monitors: Sequence[Monitor], finding: Finding, now: datetime) -> None:
    """Check these monitors, all at once."""
    ids = [monitor.id for monitor in monitors]
    await CheckState.all().update(due_at=None)
    await CheckState.filter(monitor_id__in=ids).update(due_at=now, next_check_at=now)
    await store(found(await claim_due(now, len(ids)), finding, now), now)


async def list_told(channel: NotificationChannel) -> list[tuple[str, datetime]]:
    told = await NotificationDelivery.filter(channel_id=channel.id).order_by("created_at")
    return [(each.event, each.created_at) for each in told]


async def test_every_channel_gets_one_message_however_many_monitors_there_are() -> None:
    team_id, channels = await make_team(CHAT, HOOK)
    monitors = await make_due(7, team_id=team_id)
    await check(monitors[:3], UNKNOWN, NOON)
    await check(monitors[3:], UNKNOWN, NOON + MINUTE)
    for channel in channels:
        assert await list_told(channel) == [("checks.interrupted", NOON)]
        told = await NotificationDelivery.get(channel_id=channel.id)
        team = await Team.get(id=team_id)
        assert orjson.loads(told.payload)["data"] == {"team": team.name}
    assert not await Incident.exists()


async def test_every_team_gets_its_own() -> None:
    teams = [await make_team(CHAT) for _ in range(2)]
    monitors = [monitor for team_id, _ in teams for monitor in await make_due(2, team_id=team_id)]
    await check(monitors, UNKNOWN, NOON)
    for _, [channel] in teams:
        assert await list_told(channel) == [("checks.interrupted", NOON)]


@pytest.mark.production("on SQLite, transactions take turns")
async def test_two_checkers_that_notice_it_at_the_same_moment_tell_it_once() -> None:
    team_id, [channel] = await make_team(CHAT)
    first, second = [Interrupted(monitor, NOON, None) for monitor in await make_due(2, team_id=team_id)]
    outside = copy_context()
    async with transaction() as connection:
        await announce_interruptions([first])
        other = asyncio.create_task(announce_alone(second), context=outside)
        while not other.done() and not await is_anybody_waiting(connection):  # noqa: ASYNC110 - a lock has no event
            await asyncio.sleep(0)
    await other
    assert await list_told(channel) == [("checks.interrupted", NOON)]


async def announce_alone(interrupted: Interrupted) -> None:
    async with transaction():
        await announce_interruptions([interrupted])


async def is_anybody_waiting(connection: BaseDBAsyncClient) -> bool:
    """Say whether a transaction waits for another one's lock."""
    waiting = "SELECT 1 FROM pg_locks WHERE NOT granted"
    return bool(await connection.execute_query_dict(waiting))


async def test_it_is_told_once_as_long_as_it_lasts() -> None:
    team_id, [channel] = await make_team(CHAT)
    frequent, *seldom = await make_due(3, team_id=team_id)
    await check([frequent], UNKNOWN, NOON)
    for hours, monitor in enumerate(seldom, start=2):
        await check([frequent], UNKNOWN, NOON + hours * HOUR)
        await check([monitor], UNKNOWN, NOON + hours * HOUR + MINUTE)
    assert await list_told(channel) == [("checks.interrupted", NOON)]


@pytest.mark.parametrize(("distance", "count"), [(HOUR - MINUTE, 1), (HOUR + MINUTE, 2)])
async def test_the_next_time_is_told_again_unless_it_is_within_an_hour(
    distance: timedelta, count: int
) -> None:
    team_id, [channel] = await make_team(CHAT)
    monitors = await make_due(2, team_id=team_id)
    await check(monitors, UNKNOWN, NOON)
    await check(monitors, UP, NOON + MINUTE)
    await check(monitors, UNKNOWN, NOON + distance)
    assert await list_told(channel) == [("checks.interrupted", NOON + n * distance) for n in range(count)]


async def test_channels_hear_it_that_hear_of_incidents_but_no_pager_which_nothing_would_close() -> None:
    pagers = [
        {"type": "pagerduty", "routing_key": "R" * 32},
        {"type": "opsgenie", "api_key": "e" * 36},
    ]
    team_id, channels = await make_team(
        {**CHAT, "events": ["incident.opened"]},
        {**HOOK, "routing": {"tags": ["shop"]}},
        {**CHAT, "events": ["article.failed", "channel.disabled"]},
        *pagers,
    )
    await check(await make_due(team_id=team_id), UNKNOWN, NOON)
    assert [len(await list_told(channel)) for channel in channels] == [1, 1, 0, 0, 0]


async def test_nobody_hears_of_monitors_that_are_all_muted() -> None:
    team_id, [channel] = await make_team(CHAT)
    muted, other = await make_due(2, team_id=team_id)
    await store_mutes(team_id, [muted.id], None, "Ana")
    await check([muted], UNKNOWN, NOON)
    assert await list_told(channel) == []
    await check([muted, other], UNKNOWN, NOON + MINUTE)
    assert await list_told(channel) == [("checks.interrupted", NOON + MINUTE)]


async def test_a_failure_in_maintenance_is_no_interruption_and_neither_is_blindness_in_it() -> None:
    team_id, [channel] = await make_team(CHAT)
    [monitor] = await make_due(team_id=team_id)
    await CheckState.all().update(maintenance_from=NOON - HOUR, maintenance_until=NOON + HOUR)
    for number, finding in enumerate([UNKNOWN, UP, DOWN, UNKNOWN]):
        await check([monitor], finding, NOON + number * MINUTE)
    assert await list_told(channel) == []
