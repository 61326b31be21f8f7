"""The channel to email, from an event to the mailbox, on a real mail server."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from uuid import UUID

import pytest

from monitoring.notifications.channels.mail import NO_SERVER, OTHER_ADDRESS
from monitoring.notifications.deliveries import redeliver
from monitoring.notifications.email_consent import confirm
from monitoring.notifications.models import DeliveryStatus, NotificationChannel, NotificationDelivery
from monitoring.notifications.retries import MAX_ATTEMPTS, NOT_CONFIRMED
from monitoring.notifications.service import update_channel
from notifications.addressee import announce_to, create, deliver, make_due, work
from notifications.channels.test_provider_channel import ENDED, INCIDENT_ID, OPENED
from notifications.mail_server import MailCatcher
from temporary_backends import temporary_backends

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from email.message import EmailMessage
    from pathlib import Path

    from monitoring.backends.assembly import Backends

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("backends")]

ADDRESS = "ana@example.org"
BASE_URL = "https://monitoring.example.com"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[MailCatcher]:
    with MailCatcher(tmp_path, demands_user=True) as running:
        yield running


@pytest.fixture
async def backends(tmp_path: Path, server: MailCatcher) -> AsyncIterator[Backends]:
    async with temporary_backends(
        tmp_path,
        smtp_url=server.url,
        ca_file=server.ca_file,
        email_from="Monitoring <monitoring@example.com>",
        base_url=BASE_URL,
    ) as opened:
        yield opened


async def create_confirmed() -> NotificationChannel:
    channel = await create({"type": "email", "address": ADDRESS})
    await confirm(channel)
    return await NotificationChannel.get(id=channel.id)


async def question_to(channel: NotificationChannel) -> NotificationDelivery:
    questions = NotificationDelivery.filter(channel_id=channel.id, event="channel.confirmation")
    (*_, last) = await questions.order_by("id")
    return last


async def move(channel: NotificationChannel, address: str) -> None:
    await update_channel(channel.team_id, channel.id, {"type": "email", "address": address})


def text_of(message: EmailMessage) -> str:
    body = message.get_body(("plain",))
    assert body is not None
    return str(body.get_content()).replace("\r\n", "\n")


async def test_a_new_address_is_sent_a_link_and_nothing_that_members_wrote(server: MailCatcher) -> None:
    channel = await create({"type": "email", "name": "Win at https://evil.example", "address": ADDRESS})
    sent = await deliver(await question_to(channel))
    assert (sent.event, sent.status, sent.status_code) == ("channel.confirmation", "delivered", 250)
    (accepted,) = server.accepted
    assert (accepted.sender, accepted.recipient) == ("monitoring@example.com", ADDRESS)
    assert accepted.was_secured
    message = accepted.parse()
    assert re.search(
        rf"^Confirm this address: {BASE_URL}/app/confirm-email\?token=[\w.-]+$",
        text_of(message),
        re.MULTILINE,
    )
    assert "List-Unsubscribe" not in message
    assert "evil.example" not in text_of(message)


async def test_what_begins_and_ends_an_incident_is_one_thread(server: MailCatcher) -> None:
    channel = await create_confirmed()
    for event, subject in (("incident.opened", OPENED), ("incident.resolved", ENDED)):
        delivery = await announce_to(channel, subject, event)
        await NotificationDelivery.filter(id=delivery.id).update(subject_id=UUID(INCIDENT_ID))
        assert (await deliver(delivery)).status == DeliveryStatus.DELIVERED
    opened, ended = (accepted.parse() for accepted in server.accepted)
    assert opened["References"] == ended["References"] == f"<{INCIDENT_ID}@example.com>"
    assert opened["Message-ID"] != ended["Message-ID"]
    assert f"Open: {BASE_URL}/app/incidents/{INCIDENT_ID}" in text_of(opened)
    assert f"Acknowledge: {BASE_URL}/app/acknowledge?token=" in text_of(opened)
    assert "Acknowledge:" not in text_of(ended)
    unsubscribe = opened["List-Unsubscribe"].strip().strip("<>")
    assert unsubscribe.startswith(f"{BASE_URL}/app/unsubscribe?token=")
    assert f"Unsubscribe: {unsubscribe}" in text_of(opened)


async def test_every_attempt_sends_the_same_message(server: MailCatcher) -> None:
    delivery = await announce_to(await create_confirmed(), OPENED)
    server.answers["DATA"] = "451 4.3.0 Later"
    said = (await deliver(delivery)).error_message
    assert said == "The mail server refused the message for now. Answered 451: 4.3.0 Later"
    del server.answers["DATA"]
    for _ in range(2):
        await make_due(delivery.id)
        await work(delivery)
    first, second = server.accepted
    assert first.content == second.content
    assert first.parse()["Message-ID"] == f"<{delivery.id}@example.com>"


async def test_an_address_that_does_not_exist_disables_the_channel(server: MailCatcher) -> None:
    channel = await create_confirmed()
    server.answers["RCPT"] = "550 5.1.1 No such user"
    assert (await deliver(await announce_to(channel, OPENED))).status == DeliveryStatus.FAILED
    disabled = await NotificationChannel.get(id=channel.id)
    assert not disabled.enabled
    assert disabled.disabled_reason == "This address does not exist. Answered 550: 5.1.1 No such user"


async def test_no_trouble_of_the_service_s_own_server_disables_a_channel(server: MailCatcher) -> None:
    channel = await create_confirmed()
    delivery = await announce_to(channel, OPENED)
    await NotificationDelivery.filter(id=delivery.id).update(attempts=MAX_ATTEMPTS - 1)
    server.answers["AUTH"] = "535"
    assert (await deliver(delivery)).status == DeliveryStatus.FAILED
    assert (await NotificationChannel.get(id=channel.id)).enabled


async def test_what_was_queued_for_one_address_is_never_sent_to_the_next(server: MailCatcher) -> None:
    channel = await create_confirmed()
    told_before = await announce_to(channel, OPENED)
    await move(channel, "eve@example.net")
    asked_before = await question_to(channel)
    await move(channel, ADDRESS)
    assert (await deliver(told_before)).error_message == NOT_CONFIRMED
    assert (await deliver(asked_before)).error_message == OTHER_ADDRESS
    assert (await deliver(await question_to(channel))).status == DeliveryStatus.DELIVERED
    assert [accepted.recipient for accepted in server.accepted] == [ADDRESS]


async def test_a_question_sent_again_is_the_same_message(server: MailCatcher) -> None:
    channel = await create({"type": "email", "address": ADDRESS})
    question = await question_to(channel)
    await work(question)
    await redeliver(channel.team_id, channel.id, question.id)
    await work(question)
    first, second = server.accepted
    assert first.content == second.content


async def test_without_a_mail_server_messages_wait(tmp_path: Path, server: MailCatcher) -> None:
    delivery = await announce_to(await create_confirmed(), OPENED)
    async with temporary_backends(tmp_path, email_from="monitoring@example.com"):
        waiting = await deliver(delivery)
    assert (waiting.status, waiting.error_message) == (DeliveryStatus.PENDING, NO_SERVER)
    assert server.accepted == []
