"""What one channel is told of one incident: in order, and nothing that is over by then."""

from __future__ import annotations

import asyncio
from collections import deque
from contextvars import copy_context
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from monitoring.backends.current import current_backends
from monitoring.backends.database import transaction
from monitoring.backends.fields import first_uuid7_at
from monitoring.backends.statements import spell
from monitoring.notifications.announcing import announce
from monitoring.notifications.attempts import attempt_delivery
from monitoring.notifications.channels import CHANNELS
from monitoring.notifications.channels.sender import current_sender, open_sender
from monitoring.notifications.claims import claim_delivery
from monitoring.notifications.deliveries import redeliver
from monitoring.notifications.models import NotificationChannel, NotificationDelivery
from monitoring.notifications.routing import Announcement
from monitoring.notifications.scheduling import make_next_due
from monitoring.notifications.service import update_channel
from monitoring.notifications.tasks import deliver_notification
from monitoring.outbound.exchanges import Exchange
from monitoring.outbound.failures import Failure, FailureCode
from notifications.addressee import Addressee, create, make_due

if TYPE_CHECKING:
    from collections.abc import Sequence

    from monitoring.outbound.exchanges import BodyReader, OutboundRequest

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("backends")]

URL = "https://chat.example.com/hooks/a-secret"
INCIDENT_EVENTS = ["incident.opened", "incident.acknowledged", "incident.reminder", "incident.resolved"]
NIGHT = {"starts_at": "00:00", "ends_at": "00:00", "time_zone": "UTC"}

CHATS: dict[str, dict[str, Any]] = {
    **{kind: {"url": URL} for kind in ("slack", "discord", "microsoft_teams", "google_chat", "mattermost")},
    "telegram": {"bot_token": f"110201543:{'A' * 35}", "chat_id": "-1001234567890"},
    "ntfy": {"url": "https://ntfy.example.com", "topic": "ours"},
    "pushover": {"app_token": "a" * 30, "user_key": "u" * 30},
}
SERVERS: dict[str, dict[str, Any]] = {
    "webhook": {"url": URL},
    "custom": {"url": URL, "body": {"text": "{{title}}. {{text}}"}},
}
PAGERS: dict[str, dict[str, Any]] = {
    "pagerduty": {"routing_key": "R" * 32},
    "opsgenie": {"api_key": "e" * 36},
}

TIMEOUT = Failure(FailureCode.TIMEOUT, "No answer within 15 seconds (while waiting for the answer)")
BROKEN_OFF = Failure(FailureCode.CONNECTION_FAILED, "The connection was closed")
REFUSED_CONNECTION = Failure(FailureCode.CONNECTION_REFUSED, "The connection was refused")

# What a request tells, by a part of it.
_TELLS = {
    "monitors down": "many down",
    "/close": "up",
    "is up again": "up",
    "incident.resolved": "up",
    "monitor.recovered": "recovered",
    "no longer degraded": "recovered",
    "is degraded": "degraded",
    "monitor.degraded": "degraded",
    ": incident acknowledged": "taken",
    "incident.acknowledged": "taken",
    "is still down": "reminder",
    "incident.reminder": "reminder",
    "is down": "down",
    "incident.opened": "down",
}


class Provider:
    """A provider as a worker's sender sees it. Gives the answers of the test in turn, and then 200."""

    def __init__(self, *answers: int | Failure) -> None:
        self.answers = deque(answers)
        self.told: list[str] = []
        self.bodies: list[str] = []

    async def send(self, request: OutboundRequest, _: BodyReader | None = None) -> Exchange:
        body = (request.body or b"").decode()
        self.bodies.append(body)
        self.told.append(next(told for part, told in _TELLS.items() if part in f"{request.url} {body}"))
        answer = self.answers.popleft() if self.answers else 200
        return Exchange(failure=answer) if isinstance(answer, Failure) else Exchange(status_code=answer)


class Story:
    """An incident, or a monitor, of which a channel is told."""

    def __init__(self, channel: NotificationChannel) -> None:
        self.channel = channel
        self.subject_id = uuid4()
        self.monitor_id = uuid4()

    async def tell(self, *events: str) -> None:
        """Let these events happen, one after the other."""
        for event in events:
            is_about_monitor = event.startswith("monitor.")
            await announce(
                [replace(self.announcement(event), subject_id=self.monitor_id)]
                if is_about_monitor
                else [self.announcement(event)]
            )

    def announcement(self, event: str) -> Announcement:
        now = datetime.now(UTC)
        incident = {
            "id": str(self.subject_id),
            "started_at": (now - timedelta(minutes=4)).isoformat(),
            "resolved_at": now.isoformat(),
            "resolution": "recovered",
            "error_message": "Answered 503 instead of 2xx",
            "acknowledged_by": "Alice",
        }
        monitor = {"id": str(self.monitor_id), "name": "Shop", "url": "https://shop.example.com/"}
        about: dict[str, Any] = {"monitor": monitor}
        if event.startswith("incident."):
            about["incident"] = incident
        else:
            about["degradation"] = {"message": "Answered in 1,412 ms"}
        return Announcement(
            team_id=self.channel.team_id,
            event=event,
            happened_at=now,
            subject=about,
            subject_id=self.subject_id,
            monitor_id=self.monitor_id,
        )

    async def find(self, event: str) -> NotificationDelivery:
        subject_ids = [self.subject_id, self.monitor_id]
        return await NotificationDelivery.get(
            channel_id=self.channel.id, subject_id__in=subject_ids, event=event
        )


async def story_at(kind: str, **fields: Any) -> Story:
    """Begin a story at a new channel of this type, which is told all events."""
    known = {**CHATS, **SERVERS, **PAGERS}[kind]
    events = [*INCIDENT_EVENTS, "monitor.degraded", "monitor.recovered"]
    return Story(await create({"type": kind, "events": events, **known, **fields}))


async def work_off(channel: NotificationChannel, provider: Provider) -> None:
    """Send what is due, oldest first, until nothing is."""
    async with open_sender(current_backends().settings, provider):
        while due := await due_at(channel).order_by("id"):
            for delivery in due:
                await deliver_notification.function(str(delivery.id))


def due_at(channel: NotificationChannel) -> Any:
    return NotificationDelivery.filter(channel_id=channel.id, status="pending", due_at__lte=datetime.now(UTC))


async def pass_time(channel: NotificationChannel) -> None:
    """Let all waits and leases be over."""
    past = datetime.now(UTC) - timedelta(seconds=1)
    await NotificationDelivery.filter(channel_id=channel.id, due_at__isnull=False).update(due_at=past)


async def log_of(channel: NotificationChannel) -> list[tuple[str, str, str | None]]:
    """Return what the delivery log says, oldest first."""
    rows = await NotificationDelivery.filter(channel_id=channel.id).order_by("id")
    return [(row.event, row.status, row.error_message) for row in rows]


class TestIncidentThatIsOver:
    @pytest.mark.parametrize("kind", [*CHATS, *SERVERS])
    @pytest.mark.parametrize("answer", [500, 429, REFUSED_CONNECTION], ids=["500", "429", "refused"])
    async def test_is_one_message_where_its_opening_was_refused(
        self, kind: str, answer: int | Failure
    ) -> None:
        story, provider = await story_at(kind), Provider(answer)
        await story.tell("incident.opened")
        await work_off(story.channel, provider)
        await story.tell("incident.resolved")
        await work_off(story.channel, provider)
        await pass_time(story.channel)
        await work_off(story.channel, provider)
        assert provider.told == ["down", "up"]
        if kind != "webhook":
            assert "was down for 4 minutes" in provider.bodies[-1]
        (opened, ended) = await log_of(story.channel)
        assert opened[:2] == ("incident.opened", "skipped")
        assert opened[2]
        assert opened[2].startswith("It was over before another attempt. ")
        assert ended == ("incident.resolved", "delivered", None)

    @pytest.mark.parametrize("kind", PAGERS)
    async def test_is_nothing_to_a_pager_that_refused_its_opening(self, kind: str) -> None:
        story, provider = await story_at(kind), Provider(500)
        await story.tell("incident.opened")
        await work_off(story.channel, provider)
        await story.tell("incident.acknowledged", "incident.resolved")
        await pass_time(story.channel)
        await work_off(story.channel, provider)
        assert provider.told == ["down"]
        assert [status for _, status, _ in await log_of(story.channel)] == ["skipped"] * 3
        assert (await log_of(story.channel))[-1][2] == "The channel never received the alarm that this ends"

    @pytest.mark.parametrize(
        ("kind", "told"), [("slack", ["down", "up"]), *((each, ["down"]) for each in PAGERS)]
    )
    async def test_is_told_in_order_though_the_clock_of_who_opened_it_was_ahead(
        self, kind: str, told: list[str]
    ) -> None:
        story, provider = await story_at(kind), Provider(503)
        await story.tell("incident.opened")
        ahead = first_uuid7_at(datetime.now(UTC) + timedelta(hours=1))
        connection = current_backends().database.context.db()
        sql = "UPDATE notification_deliveries SET id = $1 WHERE channel_id = $2"
        await connection.execute_query(spell(connection, sql), [str(ahead), str(story.channel.id)])
        await work_off(story.channel, provider)
        await story.tell("incident.resolved")
        for _ in range(2):
            await pass_time(story.channel)
            await work_off(story.channel, provider)
        assert provider.told == told

    @pytest.mark.parametrize("kind", ["slack", "webhook", *PAGERS])
    async def test_is_not_begun_where_its_opening_was_never_tried(self, kind: str) -> None:
        story, provider = await story_at(kind), Provider()
        await story.tell("incident.opened", "incident.resolved")
        await work_off(story.channel, provider)
        assert provider.told == ([] if kind in PAGERS else ["up"])
        assert (await log_of(story.channel))[0] == (
            "incident.opened",
            "skipped",
            "It was over before it was sent",
        )

    @pytest.mark.parametrize("kind", ["slack", "webhook", *PAGERS])
    @pytest.mark.parametrize(
        "answers",
        [[TIMEOUT], [BROKEN_OFF], [504], [TIMEOUT, 500]],
        ids=["timeout", "broken off", "gateway timeout", "timeout and then 500"],
    )
    async def test_is_ended_where_its_opening_may_have_arrived(
        self, kind: str, answers: Sequence[int | Failure]
    ) -> None:
        story, provider = await story_at(kind), Provider(*answers)
        await story.tell("incident.opened")
        for _ in answers:
            await pass_time(story.channel)
            await work_off(story.channel, provider)
        await story.tell("incident.resolved")
        await pass_time(story.channel)
        await work_off(story.channel, provider)
        assert provider.told == ["down"] * len(answers) + ["up"]
        (_, status, reason), _ = await log_of(story.channel)
        assert status == "skipped"
        assert reason
        assert reason.startswith("It was over before another attempt, and may have arrived. ")

    async def test_is_ended_where_a_worker_stopped_while_sending_the_opening(self) -> None:
        story, provider = await story_at("slack"), Provider()
        await story.tell("incident.opened")
        claim = await claim_delivery((await story.find("incident.opened")).id)
        assert claim
        await claim.give_back()
        await story.tell("incident.resolved")
        await work_off(story.channel, provider)
        assert provider.told == ["up"]
        (_, status, reason), _ = await log_of(story.channel)
        assert (status, reason) == ("skipped", "It was over before another attempt, and may have arrived")

    @pytest.mark.parametrize("kind", PAGERS)
    async def test_is_ended_where_a_worker_died_while_sending_the_opening(self, kind: str) -> None:
        story, provider = await story_at(kind), Provider()
        await story.tell("incident.opened")
        assert await claim_delivery((await story.find("incident.opened")).id)
        await pass_time(story.channel)
        await story.tell("incident.resolved")
        await work_off(story.channel, provider)
        assert provider.told == ["up"]

    async def test_is_ended_at_a_pager_that_got_the_opening(self) -> None:
        story, provider = await story_at("pagerduty"), Provider()
        for event in ("incident.opened", "incident.resolved"):
            await story.tell(event)
            await work_off(story.channel, provider)
        assert provider.told == ["down", "up"]

    async def test_leaves_out_the_reminder_and_the_acknowledgement_that_wait(self) -> None:
        story, provider = await story_at("slack"), Provider(200, 500, 500)
        await story.tell("incident.opened")
        await work_off(story.channel, provider)
        for event in ("incident.reminder", "incident.acknowledged"):
            await story.tell(event)
            await work_off(story.channel, provider)
        await story.tell("incident.resolved")
        await pass_time(story.channel)
        await work_off(story.channel, provider)
        assert provider.told == ["down", "reminder", "taken", "up"]
        assert [(event, status) for event, status, _ in await log_of(story.channel)] == [
            ("incident.opened", "delivered"),
            ("incident.reminder", "skipped"),
            ("incident.acknowledged", "skipped"),
            ("incident.resolved", "delivered"),
        ]
        assert (await log_of(story.channel))[1][
            2
        ] == "It was acknowledged before another attempt. Answered 500"


class TestMessage:
    @pytest.mark.parametrize("next_event", ["incident.acknowledged", "incident.reminder"])
    @pytest.mark.parametrize("kind", ["slack", "pagerduty", "webhook"])
    async def test_waits_for_the_opening_until_that_is_delivered(self, kind: str, next_event: str) -> None:
        story, provider = await story_at(kind), Provider(500, 500)
        await story.tell("incident.opened")
        await work_off(story.channel, provider)
        await story.tell(next_event)
        await work_off(story.channel, provider)
        assert len(provider.told) == 1
        await pass_time(story.channel)
        await work_off(story.channel, provider)
        assert len(provider.told) == 2
        await make_due((await story.find("incident.opened")).id)
        await work_off(story.channel, provider)
        assert provider.told[:3] == ["down"] * 3
        assert len(provider.told) == 4
        assert {status for _, status, _ in await log_of(story.channel)} == {"delivered"}

    async def test_follows_an_opening_that_was_refused_for_good(self) -> None:
        story, provider = await story_at("slack"), Provider(400)
        await story.tell("incident.opened", "incident.acknowledged")
        await work_off(story.channel, provider)
        assert provider.told == ["down", "taken"]

    async def test_waits_for_no_other_incident(self) -> None:
        story, provider = await story_at("slack"), Provider(500)
        other = Story(story.channel)
        await story.tell("incident.opened")
        await work_off(story.channel, provider)
        await other.tell("incident.opened", "incident.acknowledged")
        await work_off(story.channel, provider)
        assert provider.told == ["down", "down", "taken"]

    async def test_waits_for_no_other_channel(self) -> None:
        story, provider = await story_at("slack"), Provider(500)
        await story.tell("incident.opened")
        await work_off(story.channel, provider)
        elsewhere = await story_at("slack")
        elsewhere.subject_id = story.subject_id
        await elsewhere.tell("incident.opened", "incident.acknowledged")
        await work_off(elsewhere.channel, provider)
        assert provider.told == ["down", "down", "taken"]

    async def test_that_waits_is_not_called_in_vain_while_others_have_room(self) -> None:
        story = await story_at("slack")
        await story.tell("incident.opened", "incident.acknowledged")
        assert await claim_delivery((await story.find("incident.opened")).id)
        waiting = (await story.find("incident.acknowledged")).id
        assert await claim_delivery(waiting) is None
        assert await make_next_due(story.channel.team_id) == []

    @pytest.mark.parametrize("event", ["incident.acknowledged", "incident.resolved"])
    async def test_follows_the_attempt_before_at_once(self, event: str, addressee: Addressee) -> None:
        addressee.may_answer.clear()
        story = await story_at("slack", url=addressee.url)
        async with open_sender(current_backends().settings):
            await story.tell("incident.opened")
            opened = await claim_delivery((await story.find("incident.opened")).id)
            sender = current_sender()
            assert opened
            assert sender
            sending = asyncio.create_task(attempt_delivery(opened, sender))
            await asyncio.to_thread(addressee.has_received.wait, 30)
            await story.tell(event)
            follower = (await story.find(event)).id
            await deliver_notification.function(str(follower))
            assert len(addressee.received) == 1
            addressee.may_answer.set()
            assert await sending == [follower]
            await deliver_notification.function(str(follower))
        assert [status for _, status, _ in await log_of(story.channel)] == ["delivered", "delivered"]

    async def test_of_ten_workers_at_once_is_sent_after_the_one_before(self) -> None:
        story = await story_at("pagerduty")
        await story.tell("incident.opened", "incident.acknowledged", "incident.resolved")
        delivery_ids = [row.id for row in await NotificationDelivery.filter(channel_id=story.channel.id)]
        await NotificationDelivery.filter(id=delivery_ids[0]).update(may_have_arrived=True, attempts=1)
        claims = await asyncio.gather(*[claim_delivery(each) for each in delivery_ids * 10])
        assert len([claim for claim in claims if claim]) == 1

    @pytest.mark.production("SQLite lets one transaction in at a time")
    async def test_waits_while_somebody_changes_what_it_makes_needless(self) -> None:
        story, provider = await story_at("slack"), Provider(500)
        await story.tell("incident.opened")
        await work_off(story.channel, provider)
        await story.tell("incident.resolved")
        opened, ended = [await story.find(f"incident.{how}") for how in ("opened", "resolved")]
        outside = copy_context()
        async with transaction():
            await NotificationDelivery.select_for_update().get(id=opened.id)
            claiming = asyncio.create_task(claim_delivery(ended.id), context=outside)
            assert await asyncio.wait_for(claiming, timeout=30) is None
        await pass_time(story.channel)
        await work_off(story.channel, provider)
        assert provider.told == ["down", "up"]
        assert [status for _, status, _ in await log_of(story.channel)] == ["skipped", "delivered"]


class TestRedelivery:
    async def test_of_an_opening_that_was_skipped_sends_it(self) -> None:
        story, provider = await story_at("slack"), Provider(500)
        await story.tell("incident.opened")
        await work_off(story.channel, provider)
        await story.tell("incident.resolved")
        await work_off(story.channel, provider)
        skipped = await story.find("incident.opened")
        await redeliver(story.channel.team_id, story.channel.id, skipped.id)
        await work_off(story.channel, provider)
        assert provider.told == ["down", "up", "down"]

    async def test_of_an_end_waits_for_the_opening_that_is_being_sent(self) -> None:
        story, provider = await story_at("slack"), Provider()
        await story.tell("incident.opened")
        assert await claim_delivery((await story.find("incident.opened")).id)
        await story.tell("incident.resolved")
        ended = await story.find("incident.resolved")
        await redeliver(story.channel.team_id, story.channel.id, ended.id)
        await work_off(story.channel, provider)
        assert provider.told == []

    async def test_of_what_a_pager_got_lets_it_be_ended_again(self) -> None:
        story, provider = await story_at("pagerduty"), Provider(200, 500)
        await story.tell("incident.opened")
        await work_off(story.channel, provider)
        opened = await story.find("incident.opened")
        await redeliver(story.channel.team_id, story.channel.id, opened.id)
        await work_off(story.channel, provider)
        await story.tell("incident.resolved")
        await work_off(story.channel, provider)
        assert provider.told == ["down", "down", "up"]


async def test_a_disabled_channel_gives_up_what_waits_for_its_turn() -> None:
    story = await story_at("slack")
    await story.tell("incident.opened", "incident.acknowledged")
    assert await claim_delivery((await story.find("incident.opened")).id)
    await claim_delivery((await story.find("incident.acknowledged")).id)
    patch = {"type": "slack", "enabled": False}
    await update_channel(story.channel.team_id, story.channel.id, patch)
    assert (await story.find("incident.acknowledged")).status == "failed"


class TestDegradation:
    @pytest.mark.parametrize("kind", ["slack", "webhook", "pagerduty"])
    async def test_that_is_over_is_not_told_afterwards(self, kind: str) -> None:
        story, provider = await story_at(kind), Provider(500)
        await story.tell("monitor.degraded")
        await work_off(story.channel, provider)
        await story.tell("monitor.recovered")
        await pass_time(story.channel)
        await work_off(story.channel, provider)
        assert provider.told == (["degraded"] if kind == "pagerduty" else ["degraded", "recovered"])
        assert (await log_of(story.channel))[0][:2] == ("monitor.degraded", "skipped")

    async def test_after_a_recovery_is_told(self) -> None:
        story, provider = await story_at("slack"), Provider(500)
        await story.tell("monitor.degraded", "monitor.recovered", "monitor.degraded")
        await work_off(story.channel, provider)
        await pass_time(story.channel)
        await work_off(story.channel, provider)
        assert provider.told[-1] == "degraded"


class TestStorm:
    """Many incidents at once: a digest tells them."""

    async def begin(self, channel: NotificationChannel, provider: Provider) -> list[Story]:
        stories = [Story(channel) for _ in range(5)]
        await announce([each.announcement("incident.opened") for each in stories])
        await work_off(channel, provider)
        return stories

    async def test_that_was_refused_is_skipped_when_all_of_it_is_over(self) -> None:
        story, provider = await story_at("slack"), Provider(500)
        stories = await self.begin(story.channel, provider)
        await announce([each.announcement("incident.resolved") for each in stories])
        await pass_time(story.channel)
        await work_off(story.channel, provider)
        assert provider.told == ["many down", "up"]
        assert "5 up again" in provider.bodies[-1]
        statuses = [status for _, status, _ in await log_of(story.channel)]
        assert statuses == ["skipped"] * 5 + ["delivered"] * 5

    async def test_that_was_refused_is_told_before_the_end_of_a_part_of_it(self) -> None:
        story, provider = await story_at("slack"), Provider(500)
        stories = await self.begin(story.channel, provider)
        await stories[0].tell("incident.resolved")
        await make_due((await stories[0].find("incident.resolved")).id)
        await work_off(story.channel, provider)
        assert provider.told == ["many down"]
        await pass_time(story.channel)
        await work_off(story.channel, provider)
        assert provider.told == ["many down", "many down", "up"]

    async def test_whose_end_waits_with_it_is_one_message(self) -> None:
        story, provider = await story_at("slack"), Provider()
        stories = [Story(story.channel) for _ in range(5)]
        await announce([each.announcement("incident.opened") for each in stories])
        await announce([each.announcement("incident.resolved") for each in stories])
        await pass_time(story.channel)
        await work_off(story.channel, provider)
        assert len(provider.told) == 1
        assert {status for _, status, _ in await log_of(story.channel)} == {"delivered"}


class TestQuietHours:
    @pytest.mark.parametrize("kind", ["webhook", *PAGERS])
    async def test_over_whose_incident_is_over_too_no_program_is_told_that_it_began(self, kind: str) -> None:
        story, provider = await story_at(kind, routing={"quiet_hours": NIGHT}), Provider()
        await story.tell("incident.opened", "incident.resolved")
        assert await due_at(story.channel).count() == 0
        await pass_time(story.channel)
        await work_off(story.channel, provider)
        assert provider.told == ([] if kind in PAGERS else ["up"])


async def test_every_type_of_channel_is_tried() -> None:
    assert {*CHATS, *SERVERS, *PAGERS, "email"} == set(CHANNELS)
