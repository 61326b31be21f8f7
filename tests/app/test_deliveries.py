"""The deliveries of a channel: what came of each, and sending one again."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from uuid import UUID

import pytest

from app.visitor import Visitor, read_text
from monitoring.app.sentences import NOTICES
from monitoring.backends.database import transaction
from monitoring.notifications.deliveries import queue_test
from monitoring.notifications.models import DeliveryStatus, NotificationDelivery

if TYPE_CHECKING:
    from cast import Player
    from running_service import RunningService

GONE = "Answered 404 <b>"


@pytest.fixture
def page(alice: Player, service: RunningService) -> str:
    """Make a channel with a test that failed, and return the path of its deliveries."""
    chat = {"type": "slack", "url": "https://hooks.slack.com/services/T0/B0/a-secret"}
    made = alice.post("/api/notification-channels", json=chat).json()

    async def fail() -> None:
        failed = {"status": DeliveryStatus.FAILED, "due_at": None, "error_message": GONE}
        async with transaction():  # before a worker sees it
            test = await queue_test(alice.team_id, UUID(made["id"]))
            await NotificationDelivery.filter(id=test.id).update(**failed)

    service.run(fail())
    return f"/settings/notifications/{made['id']}/deliveries"


def find_button(visitor: Visitor, page: str) -> str:
    found = re.search(r'action="/app(/[^"]*/send-again)"', visitor.open(page).text)
    assert found
    return found[1]


class TestDeliveries:
    def test_tell_what_came_of_each(self, member: Visitor, page: str) -> None:
        shown = member.open(page)
        assert re.search(r"UTC failed \d+ Answered 404 <b>", read_text(shown.text))
        assert "<b>" not in shown.text

    def test_are_sent_again_and_that_is_in_the_audit_log(self, owner: Visitor, page: str) -> None:
        answer = owner.submit(page, find_button(owner, page))
        assert NOTICES["delivery_sent_again"] in read_text(answer.text)
        assert "sent a notification again to the channel" in read_text(owner.open("/settings/audit-log").text)

    def test_of_another_team_are_not_there(self, outsider: Visitor, page: str) -> None:
        assert outsider.open(page).status_code == 404
