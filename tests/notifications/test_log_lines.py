"""What an operator reads when somebody was not told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from monitoring.notifications.channels.webhook import GONE
from monitoring.notifications.models import NotificationChannel, NotificationDelivery
from monitoring.notifications.retries import MAX_ATTEMPTS
from notifications.addressee import announce_to, create, deliver, make_due, register
from notifications.test_incident_order import Provider, story_at, work_off

if TYPE_CHECKING:
    from notifications.addressee import Addressee

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("backends")]

# A host that is said, and what nobody may read.
TOPIC, TOKEN, PATH = "alarms-of-the-shop", "tk_AgQdq7mVBoFD37zQVN29", "/services/T0000/B0000/x7Hq2LmWv"


@pytest.fixture
def lines(own_log: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    """Keep what the room logs, from INFO on."""
    own_log.set_level("INFO", "monitoring.notifications")
    return own_log


def texts_of(lines: pytest.LogCaptureFixture, level: str = "WARNING") -> list[str]:
    return [each.getMessage() for each in lines.records if each.levelname == level]


class TestFailedAttempt:
    async def test_is_one_warning_with_channel_delivery_answer_and_next_attempt(
        self, addressee: Addressee, lines: pytest.LogCaptureFixture
    ) -> None:
        addressee.answers.append(503)
        webhook = await register(addressee.url)
        delivery = await deliver(await announce_to(webhook))
        assert delivery.due_at
        (line,) = texts_of(lines)
        assert line == (
            f"Delivery {delivery.id} of incident.opened to the webhook channel {webhook.id}"
            f" failed at attempt 1 of 8, the next is at {delivery.due_at:%Y-%m-%dT%H:%M:%S.%fZ}: Answered 503"
        )

    async def test_names_the_incident(self, lines: pytest.LogCaptureFixture) -> None:
        story = await story_at("slack")
        await story.tell("incident.opened")
        await work_off(story.channel, Provider(500))
        (line,) = texts_of(lines)
        assert f"of incident.opened about {story.subject_id} to the slack channel" in line

    @pytest.mark.parametrize(
        "given",
        [
            {"type": "slack", "url": PATH},
            {"type": "webhook", "url": PATH},
            {"type": "ntfy", "url": "", "topic": TOPIC, "token": TOKEN},
            {"type": "custom", "url": PATH, "headers": [{"name": "X-Key", "value": TOKEN}], "body": {}},
        ],
        ids=lambda given: str(given["type"]),
    )
    async def test_shows_no_secret_of_the_channel_even_if_the_answer_does(
        self, given: dict[str, object], addressee: Addressee, lines: pytest.LogCaptureFixture
    ) -> None:
        host = addressee.url.removesuffix("/hooks")
        channel = await create({**given, "url": f"{host}{given['url']}"})
        addressee.answers.append((500, f"{PATH} {TOPIC} {TOKEN}".encode()))
        await deliver(await announce_to(channel, _subject()))
        (line,) = texts_of(lines)
        assert "Answered 500" in line
        secrets = [PATH, *(str(value) for name, value in given.items() if name in ("topic", "token"))]
        assert [each for each in [*secrets, host] if each in line] == []

    async def test_is_not_logged_when_the_attempt_succeeds(
        self, addressee: Addressee, lines: pytest.LogCaptureFixture
    ) -> None:
        await deliver(await announce_to(await register(addressee.url)))
        assert texts_of(lines) == []


class TestDeliveryThatEnds:
    async def test_undelivered_is_one_warning(
        self, addressee: Addressee, lines: pytest.LogCaptureFixture
    ) -> None:
        addressee.answers.append(500)
        webhook = await register(addressee.url)
        await deliver(await announce_to(webhook))
        delivery = await announce_to(webhook)
        await NotificationDelivery.filter(id=delivery.id).update(attempts=MAX_ATTEMPTS - 1)
        lines.clear()
        addressee.answers.extend([500])
        await deliver(delivery)
        given_up, disabled = texts_of(lines)
        assert given_up == (
            f"Delivery {delivery.id} of incident.opened to the webhook channel {webhook.id}"
            " is given up after 8 attempts: Answered 500"
        )
        assert disabled.startswith(
            f"The webhook channel {webhook.id} of the team {webhook.team_id} is disabled"
            " (deliveries given up: 1): Nothing was delivered since "
        )

    async def test_because_its_channel_was_disabled_is_one_warning(
        self, lines: pytest.LogCaptureFixture
    ) -> None:
        webhook = await register("https://pager.example.com/")
        delivery = await announce_to(webhook)
        await NotificationChannel.filter(id=webhook.id).update(enabled=False)
        await deliver(delivery)
        (line,) = texts_of(lines)
        assert line.endswith("is given up after 0 attempts: The channel was disabled")

    async def test_needless_is_one_line(self, lines: pytest.LogCaptureFixture) -> None:
        story = await story_at("pagerduty")
        await story.tell("incident.opened", "incident.resolved")
        await work_off(story.channel, Provider())
        assert texts_of(lines) == []
        assert [line.partition(" is skipped: ")[2] for line in texts_of(lines, "INFO")] == [
            "It was over before it was sent",
            "The channel never received the alarm that this ends",
        ]


async def test_a_channel_whose_receiver_wants_no_more_is_a_warning_of_its_own(
    addressee: Addressee, lines: pytest.LogCaptureFixture
) -> None:
    addressee.answers.append(410)
    webhook = await register(addressee.url)
    await deliver(await announce_to(webhook))
    (line,) = [line for line in texts_of(lines) if "is disabled" in line]
    named = f"The webhook channel {webhook.id} of the team {webhook.team_id}"
    assert line == f"{named} is disabled (deliveries given up: 0): {GONE}"


async def test_a_later_attempt_is_counted_in_its_warning(
    addressee: Addressee, lines: pytest.LogCaptureFixture
) -> None:
    addressee.answers.extend([500, 500])
    delivery = await deliver(await announce_to(await register(addressee.url)))
    await make_due(delivery.id)
    await deliver(delivery)
    assert ["failed at attempt 2 of 8" in line for line in texts_of(lines)] == [False, True]


def _subject() -> dict[str, object]:
    incident = {
        "id": "019a9c47-1e88-7b0a-a1c6-52f0d9b7e334",
        "started_at": "2026-11-20T09:39:50.003000Z",
        "error_message": "Answered 503 instead of 2xx",
    }
    monitor = {
        "id": "019a9c3e-5b7a-7c1e-9d42-3f8b6a1e2c70",
        "name": "Shop",
        "url": "https://shop.example.com/",
    }
    return {"incident": incident, "monitor": monitor}
