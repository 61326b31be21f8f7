from __future__ import annotations

import asyncio
from contextvars import copy_context
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from intercepted_messages import intercept_messages
from monitoring.backends.current import current_backends
from monitoring.backends.database import transaction
from monitoring.backends.leases import NUDGE_INTERVAL
from monitoring.notifications import sweeping
from monitoring.notifications.claims import claim_delivery
from monitoring.notifications.models import NotificationDelivery
from monitoring.notifications.scheduling import MOST_AT_ONCE_A_CHANNEL
from monitoring.notifications.sweeping import delete_old_deliveries, sweep_notifications
from notifications.addressee import HAPPENED_AT, announce_to, deliver, make_due, register

if TYPE_CHECKING:
    from notifications.addressee import Addressee

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("backends")]

URL = "https://pager.example.com/hooks"


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Collect messages instead of sending them."""
    delivery_ids: list[str] = []
    intercept_messages(monkeypatch, lambda delivery_id, _: delivery_ids.append(delivery_id))
    return delivery_ids


async def let_time_pass() -> None:
    """Let the time pass after which a message counts as lost."""
    long_ago = datetime.now(UTC) - NUDGE_INTERVAL
    await NotificationDelivery.filter(nudged_at__isnull=False).update(nudged_at=long_ago)


class TestSweep:
    async def test_sends_a_message_for_a_delivery_whose_message_was_lost(self, sent: list[str]) -> None:
        delivery = await announce_to(await register(URL))
        assert await sweep_notifications() == 1
        assert sent == [str(delivery.id)]

    async def test_repeats_itself_only_when_its_message_was_lost_too(self, sent: list[str]) -> None:
        await announce_to(await register(URL))
        assert [await sweep_notifications(), await sweep_notifications()] == [1, 0]
        await let_time_pass()
        assert await sweep_notifications() == 1
        assert len(sent) == 2

    async def test_finds_a_retry_when_its_time_has_come(self, addressee: Addressee, sent: list[str]) -> None:
        addressee.answers.append(500)
        delivery = await announce_to(await register(addressee.url))
        await sweep_notifications()
        await deliver(delivery)
        assert await sweep_notifications() == 0
        await make_due(delivery.id)
        assert await sweep_notifications() == 1
        assert sent == [str(delivery.id)] * 2

    async def test_finds_the_work_of_a_worker_that_died(self, sent: list[str]) -> None:
        delivery = await announce_to(await register(URL))
        await claim_delivery(delivery.id)
        assert await sweep_notifications() == 0
        await make_due(delivery.id)
        assert await sweep_notifications() == 1
        assert sent == [str(delivery.id)]

    async def test_leaves_what_is_delivered(self, addressee: Addressee, sent: list[str]) -> None:
        await deliver(await announce_to(await register(addressee.url)))
        assert await sweep_notifications() == 0
        assert sent == []

    async def test_of_ten_workers_at_once_sends_one_message_a_delivery(self, sent: list[str]) -> None:
        delivery_ids = {str((await announce_to(await register(URL))).id) for _ in range(20)}
        await asyncio.gather(*[sweep_notifications() for _ in range(10)])
        assert sorted(sent) == sorted(delivery_ids)

    @pytest.mark.production("SQLite lets one transaction in at a time")
    async def test_passes_over_what_another_one_is_about_to_send(self, sent: list[str]) -> None:
        await announce_to(await register(URL))
        outside = copy_context()
        async with transaction():
            assert await sweep_notifications() == 1
            other = asyncio.create_task(sweep_notifications(), context=outside)
            assert await asyncio.wait_for(other, timeout=5) == 0
        assert len(sent) == 1

    async def test_lets_no_webhook_stand_before_the_others(self, sent: list[str]) -> None:
        crowded, other = await register(URL), await register(URL)
        waiting = [await announce_to(crowded) for _ in range(10)]
        last = await announce_to(other)
        assert await sweep_notifications() == MOST_AT_ONCE_A_CHANNEL + 1
        assert set(sent) == {str(each.id) for each in [*waiting[:MOST_AT_ONCE_A_CHANNEL], last]}

    async def test_takes_the_longest_waiting_first_and_waits_while_workers_have_enough_to_do(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sweeping, "MAX_NOTIFICATIONS_A_SWEEP", 2)
        webhook = await register(URL)
        deliveries = [await announce_to(webhook) for _ in range(4)]
        for age, delivery in enumerate(deliveries):
            due_at = HAPPENED_AT - timedelta(hours=age)
            await NotificationDelivery.filter(id=delivery.id).update(due_at=due_at)
        assert [await sweep_notifications(), await sweep_notifications()] == [2, 0]
        assert (await current_backends().queue.depths())["notifications"] == 2
        nudged = await NotificationDelivery.filter(nudged_at__isnull=False)
        assert {delivery.id for delivery in nudged} == {delivery.id for delivery in deliveries[2:]}


class TestOldDeliveries:
    async def test_are_forgotten_after_30_days_whatever_their_number(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sweeping, "DELETED_AT_ONCE", 2)
        webhook = await register(URL)
        old = [await announce_to(webhook) for _ in range(5)]
        fresh = await announce_to(webhook)
        after_30_days = HAPPENED_AT + timedelta(days=30)
        assert await delete_old_deliveries(after_30_days) == 0
        await NotificationDelivery.filter(id=fresh.id).update(created_at=HAPPENED_AT + timedelta(seconds=1))
        assert await delete_old_deliveries(after_30_days + timedelta(seconds=1)) == len(old)
        assert [delivery.id for delivery in await NotificationDelivery.filter(channel_id=webhook.id)] == [
            fresh.id
        ]
