"""The deliveries of a channel: what came of each, and sending one again."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from uuid import UUID, uuid4

import orjson
import pytest

from app.visitor import Visitor, read_text
from incidents.breakdowns import break_down
from monitoring.app.sentences import NOTICES
from monitoring.backends.database import transaction
from monitoring.incidents.models import Incident
from monitoring.monitors.service import create_monitor
from monitoring.notifications.deliveries import queue_test
from monitoring.notifications.models import DeliveryStatus, NotificationDelivery

if TYPE_CHECKING:
    from cast import Player
    from running_service import RunningService

SPAN = '<span class="about">'
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

    @pytest.mark.parametrize(
        ("status", "column", "words"),
        [
            (DeliveryStatus.DELIVERED, "delivered_at", "delivered"),
            (DeliveryStatus.PENDING, "attempted_at", "last tried"),
            (DeliveryStatus.FAILED, "attempted_at", "last tried"),
        ],
    )
    def test_say_when_they_ended_so_that_one_that_is_sent_again_changes(  # noqa: PLR0913, PLR0917
        self, member: Visitor, service: RunningService, page: str, status: str, column: str, words: str
    ) -> None:
        channel_id = page.split("/")[3]

        async def end(second: int) -> None:
            ended_at = datetime(2026, 11, 20, 10, 47, second, tzinfo=UTC)
            of_channel = NotificationDelivery.filter(channel_id=channel_id)
            await of_channel.update(status=status, attempts=1, **{column: ended_at})

        for second in (3, 59):
            service.run(end(second))
            assert f"{words} 20 Nov, 10:47:{second:02} UTC" in read_text(member.open(page).text)

    def test_name_the_monitor_and_lead_to_what_happened_to_it(
        self, member: Visitor, alice: Player, service: RunningService, page: str
    ) -> None:
        async def break_it() -> UUID:
            monitor = await create_monitor(
                alice.team_id, {"name": "Shop <&>", "url": "https://shop.invalid/"}
            )
            await break_down(monitor)
            return (await Incident.get(monitor_id=monitor.id)).id

        incident_id = service.run(break_it())
        shown = member.open(page).text
        link = f'<a href="/app/incidents/{incident_id}"><bdi>Shop &lt;&amp;&gt;</bdi></a>'
        assert f"A monitor is down{SPAN}{link}" in shown
        assert "A test" in read_text(shown)

    def test_of_several_events_name_a_few_monitors(
        self, member: Visitor, alice: Player, service: RunningService, page: str
    ) -> None:
        events = [
            {"type": "monitor.degraded", "data": {"monitor": {"id": str(uuid4()), "name": f"Shop {number}"}}}
            for number in (1, 2, 3, 3, 4)
        ]
        payload = orjson.dumps({"type": "digest", "data": {"events": events}}).decode()

        async def sum_up() -> None:
            await NotificationDelivery.filter(channel__team_id=alice.team_id).update(
                event="digest", payload=payload
            )

        service.run(sum_up())
        shown = read_text(member.open(page).text)
        assert "Summary of 5 events Shop 1, Shop 2, Shop 3 and 1 more" in shown

    def test_say_that_a_link_was_sent_to_confirm_an_address(self, member: Visitor, alice: Player) -> None:
        given = {"type": "email", "address": "ops@example.com"}
        made = alice.post("/api/notification-channels", json=given).raise_for_status().json()
        shown = member.open(f"/settings/notifications/{made['id']}/deliveries").text
        assert "The link that confirms the address" in read_text(shown)
        assert "channel.confirmation" not in shown

    def test_of_another_team_are_not_there(self, outsider: Visitor, page: str) -> None:
        assert outsider.open(page).status_code == 404
