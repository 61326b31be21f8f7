from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import orjson
import pytest

from moments import a_second_ago
from monitoring.auth.models import Team
from monitoring.auth.service import create_team
from monitoring.backends.current import current_backends
from monitoring.notifications.announcing import announce
from monitoring.notifications.attempts import attempt_delivery
from monitoring.notifications.channels import CHANNELS
from monitoring.notifications.channels.sender import current_sender, open_sender
from monitoring.notifications.claims import claim_delivery
from monitoring.notifications.deliveries import queue_test, redeliver
from monitoring.notifications.models import NotificationChannel, NotificationDelivery
from monitoring.notifications.retries import MAX_ATTEMPTS
from monitoring.notifications.routing import PROGRAMS, Announcement
from monitoring.notifications.scheduling import make_next_due
from monitoring.notifications.service import create_channel, update_channel
from notifications.addressee import Addressee, deliver, make_due

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("backends")]

URL = "https://chat.example.com/hooks/a-secret"
ARTICLE = {"article": {"id": str(uuid4()), "slug": "shoes", "revision": 1}}
MONITOR_ID = UUID("019a9c3e-5b7a-7c1e-9d42-3f8b6a1e2c70")
MONITOR = {"id": str(MONITOR_ID), "name": "Shop", "url": "https://shop.example.com/"}
DEGRADED = {"monitor": MONITOR, "degradation": {"message": "Answered in 1,412 ms"}}

ALWAYS = {"starts_at": "00:00", "ends_at": "00:00", "time_zone": "UTC"}


async def team_with(*channels: dict[str, Any]) -> tuple[UUID, list[NotificationChannel]]:
    """Make a team with channels, each a Slack channel unless it says otherwise."""
    team = await create_team(f"Team {uuid4()}", "free", 10)
    return team.id, [
        await create_channel(team.id, {"type": "slack", "url": URL, **fields}) for fields in channels
    ]


def event_of(team_id: UUID, event: str, **fields: Any) -> Announcement:
    """Write an event of an incident, with what its words need."""
    at = fields.pop("happened_at", datetime.now(UTC))
    incident_id = fields.pop("subject_id", None) or uuid4()
    monitor_id = fields.pop("monitor_id", MONITOR_ID)
    incident = {
        "id": str(incident_id),
        "started_at": at.isoformat(),
        "resolved_at": at.isoformat(),
        "resolution": "recovered",
        "error_message": "No answer",
    }
    monitor = MONITOR | {"id": str(monitor_id)}
    return Announcement(
        team_id=team_id,
        event=event,
        happened_at=at,
        subject={"incident": incident, "monitor": monitor},
        subject_id=incident_id,
        monitor_id=monitor_id,
        **fields,
    )


async def log_of(channel: NotificationChannel) -> list[tuple[str, str]]:
    """Return the event and status of each of a channel's deliveries, oldest first."""
    rows = await NotificationDelivery.filter(channel_id=channel.id).order_by("id")
    return [(each.event, each.status) for each in rows]


async def find(channel: NotificationChannel, event: str) -> NotificationDelivery:
    return await NotificationDelivery.get(channel_id=channel.id, event=event)


class TestMonitors:
    @pytest.mark.parametrize(
        ("routing", "is_covered"),
        [
            ({}, True),
            ({"tags": ["shop"]}, True),
            ({"tags": ["blog"]}, False),
            ({"monitor_ids": [str(MONITOR_ID)]}, True),
            ({"monitor_ids": [str(uuid4())]}, False),
            ({"tags": ["blog"], "monitor_ids": [str(MONITOR_ID)]}, True),
            ({"tags": ["blog", "shop"], "monitor_ids": [str(uuid4())]}, True),
        ],
    )
    async def test_are_chosen_by_tag_or_by_id(self, routing: dict[str, Any], is_covered: bool) -> None:  # noqa: FBT001
        team_id, [channel] = await team_with({"routing": routing})
        await announce([event_of(team_id, "incident.opened", tags=["shop"])])
        assert await log_of(channel) == ([("incident.opened", "pending")] if is_covered else [])

    async def test_do_not_matter_to_events_about_something_else(self) -> None:
        team_id, [channel] = await team_with({"routing": {"tags": ["shop"]}})
        await announce([event_of(team_id, "channel.disabled", monitor_id=None)])
        assert await log_of(channel) == [("channel.disabled", "pending")]


class TestChange:
    async def test_merges_with_what_is_there_and_null_restores_a_default(self) -> None:
        team_id, [channel] = await team_with({"routing": {"tags": ["shop"], "delay_seconds": 60}})
        patch = {"type": "slack", "routing": {"delay_seconds": None, "unless_acknowledged": True}}
        changed = await update_channel(team_id, channel.id, patch)
        assert changed.settings["routing"] == {
            "tags": ["shop"],
            "monitor_ids": [],
            "delay_seconds": 0,
            "unless_acknowledged": True,
            "reminder_interval_seconds": 3600,
            "quiet_hours": None,
        }
        restored = await update_channel(team_id, channel.id, {"type": "slack", "routing": None})
        assert restored.settings["routing"]["tags"] == []

    async def test_a_channel_of_the_release_before_is_told_everything_at_once(self) -> None:
        team_id, [channel] = await team_with({})
        await NotificationChannel.filter(id=channel.id).update(settings={})
        nudged = await announce([event_of(team_id, "incident.opened")])
        assert await log_of(channel) == [("incident.opened", "pending")]
        assert len(nudged) == 1


class TestDelay:
    async def test_lets_an_opening_wait_and_nobody_nudges_it(self) -> None:
        team_id, [late] = await team_with({"routing": {"delay_seconds": 300}})
        opening = event_of(team_id, "incident.opened")
        assert await announce([opening]) == []
        waiting = await find(late, "incident.opened")
        assert waiting.due_at == opening.happened_at + timedelta(minutes=5)
        assert await claim_delivery(waiting.id) is None

    async def test_spares_the_channel_what_is_over_by_then(self) -> None:
        team_id, [late, prompt] = await team_with({"routing": {"delay_seconds": 300}}, {})
        opening = event_of(team_id, "incident.opened")
        await announce([opening])
        await announce([event_of(team_id, "incident.resolved", subject_id=opening.subject_id)])
        assert await log_of(late) == [("incident.opened", "skipped")]
        assert await log_of(prompt) == [("incident.opened", "pending"), ("incident.resolved", "pending")]
        assert (await find(late, "incident.opened")).error_message == "It was over before the channel's delay"

    async def test_that_has_passed_tells_the_end_too(self) -> None:
        team_id, [late] = await team_with({"routing": {"delay_seconds": 300}})
        opening = event_of(team_id, "incident.opened", happened_at=datetime.now(UTC) - timedelta(hours=1))
        await announce([opening])
        await announce([event_of(team_id, "incident.resolved", subject_id=opening.subject_id)])
        assert [event for event, _ in await log_of(late)] == ["incident.opened", "incident.resolved"]

    @pytest.mark.parametrize("unless_acknowledged", [True, False])
    async def test_ends_with_an_acknowledgement_if_the_channel_says_so(
        self,
        unless_acknowledged: bool,  # noqa: FBT001
    ) -> None:
        routing = {"delay_seconds": 600, "unless_acknowledged": unless_acknowledged}
        events = ["incident.opened", "incident.resolved"]
        team_id, [manager] = await team_with({"routing": routing, "events": events})
        opening = event_of(team_id, "incident.opened")
        await announce([opening])
        await announce([event_of(team_id, "incident.acknowledged", subject_id=opening.subject_id)])
        expected = "skipped" if unless_acknowledged else "pending"
        assert await log_of(manager) == [("incident.opened", expected)]
        await announce([event_of(team_id, "incident.resolved", subject_id=opening.subject_id)])
        assert await log_of(manager) == [("incident.opened", "skipped")]

    async def test_has_passed_although_the_channel_had_no_room(self) -> None:
        team_id, [late] = await team_with({"routing": {"delay_seconds": 300}})
        opening = event_of(team_id, "incident.opened", happened_at=datetime.now(UTC) - timedelta(hours=1))
        await announce([opening])
        soon = datetime.now(UTC) + timedelta(seconds=10)
        await NotificationDelivery.filter(channel_id=late.id).update(due_at=soon)
        await announce([event_of(team_id, "incident.resolved", subject_id=opening.subject_id)])
        assert await log_of(late) == [("incident.opened", "pending"), ("incident.resolved", "pending")]

    async def test_of_an_earlier_time_does_not_matter_to_a_later_one(self) -> None:
        events = ["monitor.degraded", "monitor.recovered"]
        team_id, [late] = await team_with({"events": events, "routing": {"delay_seconds": 300}})
        hours_ago = [datetime.now(UTC) - timedelta(hours=hours) for hours in (3, 2.99, 2, 1)]
        about = {"subject_id": MONITOR_ID}
        for number, (event, happened_at) in enumerate(zip(events * 2, hours_ago, strict=True)):
            if number == 2:
                await update_channel(team_id, late.id, {"type": "slack", "routing": {"delay_seconds": 0}})
            told = event_of(team_id, event, happened_at=happened_at, **about)
            await announce([replace(told, subject=DEGRADED)])
        assert await log_of(late) == [
            ("monitor.degraded", "skipped"),
            ("monitor.degraded", "pending"),
            ("monitor.recovered", "pending"),
        ]

    async def test_is_over_when_somebody_sends_it_by_hand(self) -> None:
        team_id, [late] = await team_with({"routing": {"delay_seconds": 300}})
        await announce([event_of(team_id, "incident.opened")])
        waiting = await find(late, "incident.opened")
        await redeliver(team_id, late.id, waiting.id)
        assert await claim_delivery(waiting.id)


async def announce_some(team_id: UUID, count: int, **fields: Any) -> list[UUID]:
    return await announce([event_of(team_id, "incident.opened", **fields) for _ in range(count)])


async def texts_of(addressee: Addressee) -> list[str]:
    return [orjson.loads(each.body)["attachments"][0]["title"] for each in addressee.received]


async def work_off(channel: NotificationChannel) -> None:
    """Send what is due, as workers do: everything that is left is tried once."""
    for delivery in await NotificationDelivery.filter(channel_id=channel.id).order_by("id"):
        await deliver(delivery)


class TestStorm:
    async def test_that_comes_at_once_is_one_message(self, addressee: Addressee) -> None:
        team_id, [chat, program] = await team_with(
            {"url": addressee.url}, {"type": "webhook", "url": "https://pager.example.com/"}
        )
        await announce([event_of(team_id, "incident.opened", monitor_id=uuid4()) for _ in range(50)])
        await work_off(chat)
        assert await texts_of(addressee) == ["50 monitors down"]
        assert {status for _, status in await log_of(chat)} == {"delivered"}
        assert await log_of(program) == [("incident.opened", "pending")] * 50

    async def test_that_grows_is_a_few_messages_and_then_one(self, addressee: Addressee) -> None:
        team_id, [chat] = await team_with({"url": addressee.url})
        for _ in range(10):
            await announce([event_of(team_id, "incident.opened", monitor_id=uuid4())])
        await work_off(chat)
        assert await texts_of(addressee) == ["Shop is down"] * 3
        held = NotificationDelivery.filter(channel_id=chat.id, hold="storm")
        [until] = {each.due_at for each in await held}
        assert until
        assert timedelta(seconds=50) < until - datetime.now(UTC) <= timedelta(seconds=60)
        await held.update(due_at=a_second_ago())
        await work_off(chat)
        assert await texts_of(addressee) == ["Shop is down"] * 3 + ["7 monitors down"]

    async def test_that_cannot_be_told_is_a_failure_of_each_event(self, addressee: Addressee) -> None:
        team_id, [chat] = await team_with({"url": addressee.url})
        addressee.answers.append(400)
        await announce_some(team_id, 5)
        await work_off(chat)
        assert {status for _, status in await log_of(chat)} == {"failed"}
        assert len(addressee.received) == 1

    async def test_that_a_worker_gave_back_half_sent_stays_the_same_message(
        self, addressee: Addressee
    ) -> None:
        team_id, [chat] = await team_with({"url": addressee.url})
        await announce_some(team_id, 5)
        for delivery in await NotificationDelivery.filter(channel_id=chat.id).order_by("id"):
            if claim := await claim_delivery(delivery.id):
                await claim.give_back()
        storm = await find(chat, "digest")
        await announce_some(team_id, 2)
        await NotificationDelivery.filter(hold="storm", digest_id=None).update(due_at=a_second_ago())
        for delivery in await NotificationDelivery.filter(channel_id=chat.id).order_by("-id"):
            await deliver(delivery)
        assert (await NotificationDelivery.get(id=storm.id)).payload == storm.payload
        assert {status for _, status in await log_of(chat)} == {"delivered"}
        assert len(addressee.received) == 2

    async def test_every_type_is_for_people_or_for_programs(self) -> None:
        assert set(CHANNELS) > PROGRAMS


class TestFlapping:
    async def test_monitor_is_told_by_itself_and_then_summed_up(self, addressee: Addressee) -> None:
        team_id, [chat] = await team_with({"url": addressee.url})
        long_ago = datetime.now(UTC) - timedelta(minutes=5)
        await announce_some(team_id, 1, recent_incidents=4, happened_at=long_ago)
        for event in ("incident.opened", "incident.resolved", "incident.opened", "incident.resolved"):
            await announce([event_of(team_id, event, recent_incidents=5)])
        await work_off(chat)
        assert await texts_of(addressee) == ["Shop is down"]
        await NotificationDelivery.filter(hold="flapping").update(due_at=a_second_ago())
        await work_off(chat)
        assert await texts_of(addressee) == ["Shop is down", "1 up again"]


async def begin_quiet_hours(channel: NotificationChannel) -> None:
    """Let quiet hours begin a minute ago, which end in half an hour."""
    now = datetime.now(UTC)
    starts_at, ends_at = now - timedelta(minutes=1), now + timedelta(minutes=30)
    quiet_hours = {"starts_at": f"{starts_at:%H:%M}", "ends_at": f"{ends_at:%H:%M}", "time_zone": "UTC"}
    routing = {**channel.settings["routing"], "quiet_hours": quiet_hours}
    settings = {**channel.settings, "routing": routing}
    await NotificationChannel.filter(id=channel.id).update(settings=settings)


class TestQuietHours:
    async def test_hold_everything_back_and_one_message_tells_it(self, addressee: Addressee) -> None:
        events = ["incident.opened", "incident.resolved", "monitor.degraded"]
        team_id, [chat] = await team_with(
            {"url": addressee.url, "events": events, "routing": {"quiet_hours": ALWAYS}}
        )
        opened = event_of(team_id, "incident.opened")
        ended = event_of(team_id, "incident.resolved", subject_id=opened.subject_id)
        degraded = replace(event_of(team_id, "monitor.degraded"), subject=DEGRADED, subject_id=MONITOR_ID)
        assert [await announce([each]) for each in (opened, ended, degraded)] == [[], [], []]
        rows = await NotificationDelivery.filter(channel_id=chat.id).order_by("id")
        assert {each.hold for each in rows} == {"quiet"}
        assert all(each.due_at and each.due_at > datetime.now(UTC) for each in rows)
        await NotificationDelivery.filter(channel_id=chat.id).update(due_at=a_second_ago())
        await work_off(chat)
        (message,) = [orjson.loads(each.body)["attachments"][0] for each in addressee.received]
        assert message["title"] == "1 up again, 1 other message"
        team, up, slow = message["text"].splitlines()
        assert team == f"Team: {(await Team.get(id=team_id)).name}"
        assert (up[:6], up[-13:], slow[:18]) == ("Shop (", " is up again.", "Shop is degraded. ")

    async def test_let_a_program_have_each_event_by_itself(self) -> None:
        team_id, [hook] = await team_with({"type": "webhook", "routing": {"quiet_hours": ALWAYS}})
        for _ in range(2):
            await announce([event_of(team_id, "incident.opened")])
        await NotificationDelivery.filter(channel_id=hook.id).update(due_at=a_second_ago())
        first = await NotificationDelivery.filter(channel_id=hook.id).order_by("id").first()
        assert first
        claim = await claim_delivery(first.id)
        assert claim
        assert claim.row.event == "incident.opened"

    async def test_do_not_tell_what_a_delay_in_them_would_have_skipped(self) -> None:
        team_id, [chat] = await team_with({"routing": {"quiet_hours": ALWAYS, "delay_seconds": 300}})
        opened = event_of(team_id, "incident.opened")
        await announce([opened])
        await announce([event_of(team_id, "incident.resolved", subject_id=opened.subject_id)])
        assert await log_of(chat) == [("incident.opened", "skipped")]

    @pytest.mark.parametrize("recent_incidents", [0, 5])
    async def test_let_a_digest_wait_that_would_be_due_in_them(
        self, addressee: Addressee, recent_incidents: int
    ) -> None:
        soon = datetime.now(UTC) + timedelta(seconds=10)
        quiet_hours = {
            "starts_at": f"{soon + timedelta(minutes=1):%H:%M}",
            "ends_at": f"{soon + timedelta(minutes=30):%H:%M}",
            "time_zone": "UTC",
        }
        team_id, [chat] = await team_with({"url": addressee.url, "routing": {"quiet_hours": quiet_hours}})
        await announce_some(team_id, 3)
        await NotificationDelivery.all().update(created_at=soon + timedelta(seconds=50))
        await announce_some(team_id, 1, recent_incidents=recent_incidents)
        held = await NotificationDelivery.get(channel_id=chat.id, hold__isnull=False)
        assert held.due_at
        assert f"{held.due_at:%H:%M}" == quiet_hours["ends_at"]

    @pytest.mark.parametrize("attempts", [0, 1])
    async def test_hold_what_was_due_before_them_and_found_no_worker(self, attempts: int) -> None:
        team_id, [chat] = await team_with({})
        [delivery_id] = await announce([event_of(team_id, "incident.opened")])
        an_hour_ago = datetime.now(UTC) - timedelta(hours=1)
        await NotificationDelivery.filter(id=delivery_id).update(due_at=an_hour_ago, attempts=attempts)
        await begin_quiet_hours(chat)
        assert await claim_delivery(delivery_id) is None
        assert await make_next_due(team_id) == []
        held = await NotificationDelivery.get(id=delivery_id)
        assert held.due_at
        assert timedelta(minutes=28) < held.due_at - datetime.now(UTC) <= timedelta(minutes=30)
        assert (held.hold, held.attempts) == ("late", attempts)

    async def test_let_a_test_and_what_is_redelivered_through(self) -> None:
        team_id, [chat] = await team_with({})
        [delivery_id] = await announce([event_of(team_id, "incident.opened")])
        await begin_quiet_hours(chat)
        test = await queue_test(team_id, chat.id)
        assert await claim_delivery(test.id)
        await redeliver(team_id, chat.id, delivery_id)
        assert await claim_delivery(delivery_id)


class TestFailingChannel:
    async def exhaust(self, delivery: NotificationDelivery) -> None:
        """Let all attempts but the last be over."""
        await NotificationDelivery.filter(id=delivery.id).update(attempts=MAX_ATTEMPTS - 1)
        await make_due(delivery.id)

    async def test_is_disabled_and_the_other_channels_are_told(self, addressee: Addressee) -> None:
        team_id, [failing, other] = await team_with({"url": addressee.url}, {})
        addressee.answers.append(503)
        await announce_some(team_id, 1)
        delivery = await find(failing, "incident.opened")
        await self.exhaust(delivery)
        await deliver(delivery)
        disabled = await NotificationChannel.get(id=failing.id)
        assert not disabled.enabled
        assert disabled.disabled_reason
        assert disabled.disabled_reason.startswith("Nothing was delivered since ")
        told = await find(other, "channel.disabled")
        assert orjson.loads(told.payload)["data"]["channel"] == {
            "id": str(failing.id),
            "type": "slack",
            "name": failing.name,
            "disabled_reason": disabled.disabled_reason,
        }
        assert [event for event, _ in await log_of(failing)] == ["incident.opened"]

    async def test_that_delivered_something_meanwhile_stays_enabled(self, addressee: Addressee) -> None:
        team_id, [channel] = await team_with({"url": addressee.url})
        await announce_some(team_id, 1)
        failing = await find(channel, "incident.opened")
        await announce_some(team_id, 1)
        await work_off(channel)
        await NotificationDelivery.filter(id=failing.id).update(status="pending")
        await self.exhaust(failing)
        addressee.answers.append(503)
        assert (await deliver(failing)).status == "failed"
        assert (await NotificationChannel.get(id=channel.id)).enabled

    async def test_is_disabled_after_ten_refusals_in_a_row(self, addressee: Addressee) -> None:
        team_id, [channel] = await team_with({"url": addressee.url, "events": ["article.failed"]})
        addressee.answers.extend([400] * 10)
        for number in range(10):
            assert (await NotificationChannel.get(id=channel.id)).enabled, number
            failure = replace(event_of(team_id, "article.failed", monitor_id=None), subject=ARTICLE)
            await announce([failure])
            await work_off(channel)
        assert not (await NotificationChannel.get(id=channel.id)).enabled

    async def test_stays_enabled_when_one_digest_of_many_events_is_refused(
        self, addressee: Addressee
    ) -> None:
        team_id, [channel] = await team_with({"url": addressee.url})
        addressee.answers.append(400)
        await announce_some(team_id, 12)
        await work_off(channel)
        assert len(addressee.received) == 1
        assert (await NotificationChannel.get(id=channel.id)).enabled

    async def test_is_judged_anew_after_somebody_changed_it(self, addressee: Addressee) -> None:
        team_id, [channel] = await team_with({"url": addressee.url})
        await announce_some(team_id, 12)
        for enabled in (False, True):
            await update_channel(team_id, channel.id, {"type": "slack", "enabled": enabled})
        addressee.answers.append(400)
        await announce_some(team_id, 1)
        await NotificationDelivery.filter(status="pending").update(due_at=a_second_ago())
        await work_off(channel)
        assert len(addressee.received) == 1
        assert (await NotificationChannel.get(id=channel.id)).enabled

    async def test_that_somebody_disables_lets_a_digest_under_way_end(self, addressee: Addressee) -> None:
        team_id, [channel] = await team_with({"url": addressee.url})
        await announce_some(team_id, 5)
        first = await NotificationDelivery.filter(channel_id=channel.id).order_by("id").first()
        assert first
        claim = await claim_delivery(first.id)
        assert claim
        await update_channel(team_id, channel.id, {"type": "slack", "enabled": False})
        async with open_sender(current_backends().settings):
            sender = current_sender()
            assert sender
            await attempt_delivery(claim, sender)
        assert {status for _, status in await log_of(channel)} == {"delivered"}
