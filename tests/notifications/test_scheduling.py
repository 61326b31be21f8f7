from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from backends.recorded_statements import recorded_statements
from monitoring.notifications.announcing import announce
from monitoring.notifications.channels.sender import open_sender
from monitoring.notifications.claims import NO_ROOM_WAIT, claim_delivery
from monitoring.notifications.deliveries import queue_test
from monitoring.notifications.models import NotificationChannel, NotificationDelivery
from monitoring.notifications.scheduling import MOST_AT_ONCE_A_CHANNEL, MOST_AT_ONCE_A_TEAM, make_next_due
from monitoring.notifications.service import create_channel
from monitoring.notifications.tasks import nudge
from notifications.addressee import Addressee, announce_to, make_due, opening, register

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from uuid import UUID

    from monitoring.backends.assembly import Backends

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("backends")]

URL = "https://pager.example.com/hooks"


async def register_beside(webhook: NotificationChannel) -> NotificationChannel:
    """Register another webhook of the same team."""
    return await create_channel(webhook.team_id, {"type": "webhook", "url": URL})


async def queue_for(webhook: NotificationChannel, count: int) -> list[UUID]:
    return [(await queue_test(webhook.team_id, webhook.id)).id for _ in range(count)]


async def claim_all(delivery_ids: list[UUID]) -> list[UUID]:
    """Claim what may be sent now, and return it."""
    return [delivery_id for delivery_id in delivery_ids if await claim_delivery(delivery_id)]


class TestRoom:
    async def test_of_a_webhook_is_for_two(self) -> None:
        delivery_ids = await queue_for(await register(URL), 4)
        assert await claim_all(delivery_ids) == delivery_ids[:MOST_AT_ONCE_A_CHANNEL]

    async def test_of_a_webhook_is_for_two_of_twenty_claims_at_once(self) -> None:
        delivery_ids = await queue_for(await register(URL), 20)
        claims = await asyncio.gather(*map(claim_delivery, delivery_ids))
        assert len([claim for claim in claims if claim]) == MOST_AT_ONCE_A_CHANNEL

    async def test_of_a_team_is_for_five(self) -> None:
        webhook = await register(URL)
        webhooks = [webhook, *[await register_beside(webhook) for _ in range(6)]]
        delivery_ids = [delivery_id for each in webhooks for delivery_id in await queue_for(each, 1)]
        assert await claim_all(delivery_ids) == delivery_ids[:MOST_AT_ONCE_A_TEAM]

    async def test_of_another_team_is_its_own(self) -> None:
        await claim_all(await queue_for(await register(URL), 2))
        assert len(await claim_all(await queue_for(await register(URL), 2))) == 2

    async def test_comes_back_with_the_end_of_a_lease(self) -> None:
        first, second, third = await queue_for(await register(URL), 3)
        await claim_all([first, second])
        await make_due(first)
        assert await claim_all([third]) == [third]

    async def test_is_waited_for_some_seconds_which_is_no_attempt(self) -> None:
        webhook = await register(URL)
        await claim_all(await queue_for(webhook, 2))
        (waiting,) = await queue_for(webhook, 1)
        before = datetime.now(UTC)
        await claim_all([waiting])
        delivery = await NotificationDelivery.get(id=waiting)
        assert (delivery.status, delivery.attempts, delivery.claim) == ("pending", 0, None)
        assert delivery.due_at
        assert before + NO_ROOM_WAIT <= delivery.due_at <= datetime.now(UTC) + 2 * NO_ROOM_WAIT


class TestNext:
    async def test_is_what_waits_longest_where_there_is_room(self) -> None:
        full = await register(URL)
        free = await register_beside(full)
        full_ids, (first, second) = await queue_for(full, 3), await queue_for(free, 2)
        await claim_all(full_ids)
        assert await make_next_due(full.team_id) == [first]
        assert await make_next_due(full.team_id) == [second]
        assert await make_next_due(full.team_id) == []
        assert await claim_all([first, second]) == [first, second]

    async def test_need_not_wait_for_its_time_if_it_was_only_refused_for_want_of_room(self) -> None:
        first, second, third = await queue_for(webhook := await register(URL), 3)
        await claim_all([first, second, third])
        await NotificationDelivery.filter(id=first).update(due_at=None, claim=None, status="delivered")
        assert await make_next_due(webhook.team_id) == [third]
        assert await claim_all([third]) == [third]

    async def test_is_no_retry_before_its_time(self) -> None:
        webhook = await register(URL)
        (delivery_id,) = await queue_for(webhook, 1)
        later = datetime.now(UTC) + timedelta(minutes=5)
        await NotificationDelivery.filter(id=delivery_id).update(attempts=1, due_at=later)
        assert await make_next_due(webhook.team_id) == []
        await make_due(delivery_id)
        assert await make_next_due(webhook.team_id) == [delivery_id]

    async def test_is_nothing_of_another_team_and_nothing_that_is_over(self) -> None:
        webhook = await register(URL)
        (delivery_id,) = await queue_for(webhook, 1)
        await NotificationDelivery.filter(id=delivery_id).update(status="failed", due_at=None)
        await queue_for(await register(URL), 1)
        assert await make_next_due(webhook.team_id) == []

    async def test_is_looked_for_without_a_write_where_there_is_none(self) -> None:
        webhook = await register(URL)
        with recorded_statements() as statements:
            assert await make_next_due(webhook.team_id) == []
        assert [each.sql for each in statements if each.sql.startswith("UPDATE")] == []

    async def test_is_another_one_for_each_who_calls_at_once(self) -> None:
        webhook = await register(URL)
        delivery_ids = await queue_for(webhook, 5)
        called = [
            each
            for share in await asyncio.gather(*[make_next_due(webhook.team_id) for _ in range(5)])
            for each in share
        ]
        assert len(called) == len(set(called))
        assert set(called) <= set(delivery_ids)


async def test_of_many_announcements_as_many_are_nudged_as_may_be_sent_at_once() -> None:
    webhook = await register(URL)
    other = await register_beside(webhook)
    nudged = await announce([opening(webhook.team_id)] * 10)
    channel_ids = [each.channel_id for each in await NotificationDelivery.filter(id__in=nudged)]
    assert len(channel_ids) == 2 * MOST_AT_ONCE_A_CHANNEL
    assert channel_ids.count(webhook.id) == channel_ids.count(other.id)
    assert await NotificationDelivery.filter(channel_id=webhook.id).count() == 10


@asynccontextmanager
async def working(backends: Backends) -> AsyncIterator[None]:
    """Run tasks, and no sweep."""
    async with open_sender(backends.settings):
        backends.start_worker()
        try:
            yield
        finally:
            await backends.stop_worker()


class TestWorker:
    async def test_reaches_others_while_a_server_never_answers(
        self, backends: Backends, addressee: Addressee
    ) -> None:
        addressee.may_answer.clear()
        hanging = await register(addressee.url)
        for _ in range(40):
            await queue_test(hanging.team_id, hanging.id)
        waiting = await NotificationDelivery.filter(channel_id=hanging.id)
        with Addressee() as healthy:
            async with working(backends):
                await nudge([each.id for each in waiting])
                await nudge([(await announce_to(await register(healthy.url))).id])
                assert await asyncio.to_thread(healthy.has_received.wait, 10)
        assert 1 <= len(addressee.received) <= MOST_AT_ONCE_A_CHANNEL

    async def test_sends_all_of_a_large_outage_without_a_sweep(
        self, backends: Backends, addressee: Addressee
    ) -> None:
        webhook = await register(addressee.url)
        async with working(backends):
            await nudge(await announce([opening(webhook.team_id)] * 20))
            async with asyncio.timeout(30):
                while await NotificationDelivery.filter(status="delivered").count() < 20:  # noqa: ASYNC110
                    await asyncio.sleep(0.01)
        assert (
            len(addressee.received) == len({each.headers["webhook-id"] for each in addressee.received}) == 20
        )
