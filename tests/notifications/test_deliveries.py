from __future__ import annotations

import asyncio
from contextlib import suppress
from contextvars import copy_context
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import orjson
import pytest

from monitoring.auth.models import Team
from monitoring.auth.service import create_team
from monitoring.backends.database import transaction
from monitoring.notifications import deliveries
from monitoring.notifications.announcing import announce
from monitoring.notifications.deliveries import wait_for_attempt
from monitoring.notifications.models import NotificationChannel, NotificationDelivery
from monitoring.notifications.service import create_channel, delete_channel, update_channel
from notifications.addressee import HAPPENED_AT, announce_to, opening, register

if TYPE_CHECKING:
    from uuid import UUID

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("backends")]

URL = "https://pager.example.com/hooks"
SUBJECT = {"incident": {"id": "1"}, "monitor": {"name": "Bücher"}}


async def team_with(*webhooks: dict[str, Any]) -> tuple[UUID, list[NotificationChannel]]:
    team = await create_team(f"Team {uuid4()}", "free", 10)
    return team.id, [
        await create_channel(team.id, {"type": "webhook", "url": URL, **fields}) for fields in webhooks
    ]


async def addressees_of(delivery_ids: list[UUID]) -> set[UUID]:
    deliveries = await NotificationDelivery.filter(id__in=delivery_ids)
    return {delivery.channel_id for delivery in deliveries}


class TestAnnouncement:
    async def test_goes_to_every_enabled_webhook_of_the_team_that_wants_the_event(self) -> None:
        await register(URL)
        team_id, (everything, openings, endings, off) = await team_with(
            {}, {"events": ["incident.opened"]}, {"events": ["incident.resolved"]}, {"enabled": False}
        )
        opened = await announce([opening(team_id, SUBJECT)])
        resolved = await announce([replace(opening(team_id), event="incident.resolved")])
        assert await addressees_of(opened) == {everything.id, openings.id}
        assert await addressees_of(resolved) == {everything.id, endings.id}
        assert await NotificationDelivery.filter(channel_id=off.id).count() == 0

    async def test_of_a_team_without_webhooks_is_made_to_nobody(self) -> None:
        team_id, _ = await team_with()
        assert await announce([opening(team_id, SUBJECT)]) == []

    async def test_is_due_at_once_and_says_what_happened_when(self) -> None:
        webhook = await register(URL)
        delivery = await announce_to(webhook, SUBJECT)
        team = await Team.get(id=webhook.team_id)
        assert (delivery.status, delivery.attempts, delivery.claim) == ("pending", 0, None)
        assert delivery.due_at == delivery.created_at == HAPPENED_AT
        assert orjson.loads(delivery.payload) == {
            "type": "incident.opened",
            "timestamp": "2026-11-20T09:40:00.183000Z",
            "data": {**SUBJECT, "team": team.name},
        }

    async def test_is_undone_with_the_callers_transaction(self) -> None:
        webhook = await register(URL)
        with suppress(ZeroDivisionError):
            async with transaction():
                await announce([opening(webhook.team_id, SUBJECT)])
                raise ZeroDivisionError
        assert await NotificationDelivery.filter(channel_id=webhook.id).count() == 0

    async def test_survives_that_webhooks_are_deleted_meanwhile(self) -> None:
        team_id, webhooks = await team_with(*[{}] * 10)
        announcing = [announce([opening(team_id, SUBJECT)]) for _ in range(10)]
        deleting = [delete_channel(team_id, webhook.id) for webhook in webhooks]
        pairs = zip(announcing, deleting, strict=True)
        await asyncio.gather(*[work for pair in pairs for work in pair])
        assert await NotificationDelivery.filter(channel__team_id=team_id).count() == 0


class TestDisabling:
    async def test_ends_what_waits(self) -> None:
        webhook = await register(URL)
        delivery = await announce_to(webhook)
        await update_channel(webhook.team_id, webhook.id, {"type": "webhook", "enabled": False})
        ended = await NotificationDelivery.get(id=delivery.id)
        assert (ended.status, ended.due_at, ended.error_message) == (
            "failed",
            None,
            "The channel was disabled",
        )

    async def test_leaves_what_waits_for_others(self) -> None:
        webhook, other = await register(URL), await register(URL)
        delivery = await announce_to(other)
        await update_channel(webhook.team_id, webhook.id, {"type": "webhook", "enabled": False})
        assert (await NotificationDelivery.get(id=delivery.id)).status == "pending"


@pytest.mark.production("SQLite lets one transaction in at a time")
async def test_announcements_of_a_team_do_not_wait_for_each_other() -> None:
    webhook = await register(URL)
    outside = copy_context()
    async with transaction():
        await announce([opening(webhook.team_id, SUBJECT)])
        announcing = announce([opening(webhook.team_id, SUBJECT)])
        assert await asyncio.wait_for(asyncio.create_task(announcing, context=outside), timeout=5)


class TestWaitForAttempt:
    async def test_ends_with_patience_if_nobody_makes_the_attempt(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        waiting = await announce_to(await register(URL))
        monkeypatch.setattr(deliveries, "TEST_PATIENCE", timedelta(0))
        found = await wait_for_attempt(waiting.id)
        assert found
        assert (found.id, found.status, found.attempts) == (waiting.id, "pending", 0)

    async def test_ends_if_the_delivery_is_deleted(self) -> None:
        assert await wait_for_attempt(uuid4()) is None
