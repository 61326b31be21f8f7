from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from metric_values import reading
from monitoring.notifications.backlog import measure_notifications
from monitoring.notifications.models import NotificationDelivery
from notifications.addressee import announce_to, deliver, register

if TYPE_CHECKING:
    from notifications.addressee import Addressee

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("backends")]

URL = "https://pager.example.com/hooks"
HOUR = timedelta(hours=1)


class TestPendingNotifications:
    async def test_wait_and_are_overdue_until_they_are_sent(self, addressee: Addressee) -> None:
        delivery = await announce_to(await register(addressee.url))
        an_hour_ago = datetime.now(UTC) - HOUR
        await NotificationDelivery.filter(id=delivery.id).update(
            created_at=an_hour_ago - HOUR, due_at=an_hour_ago
        )
        await measure_notifications()
        assert reading("pending_notifications") == 1
        assert 7200 <= reading("oldest_pending_notification_age_seconds") < 10_000
        assert 3600 <= reading("notifications_overdue_seconds") < 7000
        await deliver(delivery)
        await measure_notifications()
        assert reading("pending_notifications") == 0
        assert reading("oldest_pending_notification_age_seconds") == 0
        assert reading("notifications_overdue_seconds") == 0

    async def test_that_wait_for_another_attempt_are_not_overdue(self, addressee: Addressee) -> None:
        addressee.answers.append(500)
        await deliver(await announce_to(await register(addressee.url)))
        await announce_to(await register(URL))
        await NotificationDelivery.filter(attempts=0).update(due_at=datetime.now(UTC) + HOUR)
        await measure_notifications()
        assert reading("pending_notifications") == 2
        assert reading("notifications_overdue_seconds") == 0
