"""Alarms and letters come in time though the clock of a machine is wrong, or was ahead and is set back."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
import time_machine

from intercepted_messages import intercept_messages
from moments import a_second_ago
from monitoring.backends.clock import TOLERANCE, Clock
from monitoring.backends.current import current_backends
from monitoring.notifications.announcing import announce
from monitoring.notifications.claims import claim_delivery
from monitoring.notifications.models import NotificationDelivery
from monitoring.notifications.scheduling import LEASE, LONGEST_WAIT
from monitoring.notifications.sweeping import sweep_misdated_notifications, sweep_notifications
from notifications.addressee import announce_to, deliver, opening, register

if TYPE_CHECKING:
    from monitoring.backends.assembly import Backends
    from notifications.addressee import Addressee

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("backends")]

URL = "https://pager.example.com/hooks"
HOUR = timedelta(hours=1)
AHEAD = [pytest.param(ahead, id=str(ahead)) for ahead in (HOUR, 24 * HOUR, 3650 * 24 * HOUR)]


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Collect messages instead of sending them."""
    delivery_ids: list[str] = []
    intercept_messages(monkeypatch, lambda delivery_id, _: delivery_ids.append(delivery_id))
    return delivery_ids


def shifted(backends: Backends, by: timedelta) -> Backends:
    """Return the backends of a process that believes in a clock which is ahead by so much."""
    return replace(backends, clock=Clock(read_machine_time=lambda: datetime.now(UTC) + by))


async def sweep_all() -> int:
    return await sweep_notifications() + await sweep_misdated_notifications()


@pytest.mark.production("SQLite has one machine, whose clock counts")
class TestAMachine:
    async def test_that_is_an_hour_behind_delivers_an_alarm(
        self, backends: Backends, addressee: Addressee, sent: list[str]
    ) -> None:
        webhook = await register(addressee.url)
        alarm = replace(opening(webhook.team_id), happened_at=datetime.now(UTC))
        [delivery_id] = await announce([alarm])
        with time_machine.travel(datetime.now(UTC) - HOUR):
            worker = replace(backends, clock=Clock(backends.database.read_time))
            await worker.clock.read()
            with worker.activate():
                assert await sweep_notifications() == 1
                delivery = await deliver(await NotificationDelivery.get(id=delivery_id))
        assert sent == [str(delivery_id)]
        assert delivery.status == "delivered"
        assert delivery.delivered_at
        assert delivery.delivered_at >= alarm.happened_at

    async def test_that_is_an_hour_ahead_takes_no_lease_of_another(self, backends: Backends) -> None:
        delivery = await announce_to(await register(URL))
        assert await claim_delivery(delivery.id)
        with time_machine.travel(datetime.now(UTC) + HOUR):
            worker = replace(backends, clock=Clock(backends.database.read_time))
            await worker.clock.read()
            with worker.activate():
                assert await sweep_all() == 0
                assert await claim_delivery(delivery.id) is None


@pytest.mark.parametrize("ahead", AHEAD)
class TestAClockThatWasAhead:
    async def test_keeps_no_retry_from_being_tried(
        self, backends: Backends, addressee: Addressee, sent: list[str], ahead: timedelta
    ) -> None:
        addressee.answers.append(500)
        delivery = await announce_to(await register(addressee.url))
        with shifted(backends, ahead).activate():
            assert (await deliver(delivery)).status == "pending"
        assert await sweep_all() == 1
        assert sent == [str(delivery.id)]
        assert (await deliver(delivery)).status == "delivered"

    async def test_keeps_no_alarm_from_being_sent(
        self, backends: Backends, addressee: Addressee, sent: list[str], ahead: timedelta
    ) -> None:
        webhook = await register(addressee.url)
        with shifted(backends, ahead).activate():
            now = current_backends().clock.now()
            [delivery_id] = await announce([replace(opening(webhook.team_id), happened_at=now)])
            assert await sweep_notifications() == 1
        assert await sweep_all() == 1
        assert sent == [str(delivery_id)] * 2
        delivery = await NotificationDelivery.get(id=delivery_id)
        assert (await deliver(delivery)).status == "delivered"

    async def test_leaves_no_lease_behind(
        self, backends: Backends, addressee: Addressee, sent: list[str], ahead: timedelta
    ) -> None:
        delivery = await announce_to(await register(addressee.url))
        with shifted(backends, ahead).activate():
            assert await claim_delivery(delivery.id)
        assert await sweep_all() == 1
        assert sent == [str(delivery.id)]
        assert (await deliver(delivery)).status == "delivered"

    async def test_hurries_no_retry_that_comes_later(
        self, backends: Backends, addressee: Addressee, sent: list[str], ahead: timedelta
    ) -> None:
        addressee.answers.extend([500, 500, 500])
        webhook = await register(addressee.url)
        with shifted(backends, ahead).activate():
            now = current_backends().clock.now()
            [delivery_id] = await announce([replace(opening(webhook.team_id), happened_at=now)])
        await deliver(await NotificationDelivery.get(id=delivery_id))
        await NotificationDelivery.filter(id=delivery_id).update(due_at=a_second_ago())
        delivery = await deliver(await NotificationDelivery.get(id=delivery_id))
        assert delivery.attempts == 2
        assert await sweep_all() == 0
        assert sent == []

    async def test_delays_no_storm_that_comes_later(self, backends: Backends, ahead: timedelta) -> None:
        chat = await register(URL, type="slack")
        with shifted(backends, ahead).activate():
            now = current_backends().clock.now()
            await announce([replace(opening(chat.team_id), happened_at=now) for _ in range(5)])
        now = datetime.now(UTC)
        await announce([replace(opening(chat.team_id), happened_at=now) for _ in range(5)])
        own = await NotificationDelivery.filter(created_at=now)
        assert len(own) == 5
        assert all(each.due_at and each.due_at <= now + TOLERANCE for each in own)


async def test_what_waits_by_right_is_left_alone(sent: list[str]) -> None:
    delivery = await announce_to(await register(URL))
    for due_at in (datetime.now(UTC) + LONGEST_WAIT, datetime.now(UTC) + LEASE):
        await NotificationDelivery.filter(id=delivery.id).update(due_at=due_at)
        assert await sweep_all() == 0
        assert await claim_delivery(delivery.id) is None
    assert sent == []
