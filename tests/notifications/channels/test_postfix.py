"""An incident told by email through Debian's Postfix, which judges our SMTP, our TLS and our message."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from monitoring.notifications.email_consent import confirm
from monitoring.notifications.models import NotificationChannel
from notifications.addressee import announce_to, create, deliver
from notifications.channels.test_provider_channel import OPENED
from notifications.postfix import ADDRESS, Postfix
from temporary_backends import temporary_backends

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from monitoring.backends.assembly import Backends

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.usefixtures("backends"),
    pytest.mark.programs("postfix"),
    pytest.mark.skipif(os.geteuid() != 0, reason="only root may start Postfix"),
]


@pytest.fixture
def server() -> Iterator[Postfix]:
    with Postfix() as running:
        yield running


@pytest.fixture
async def backends(tmp_path: Path, server: Postfix) -> AsyncIterator[Backends]:
    async with temporary_backends(
        tmp_path,
        smtp_url=server.url,
        ca_file=server.ca_file,
        email_from="Wächter <monitoring@example.com>",
        base_url="https://monitoring.example.com",
    ) as opened:
        yield opened


async def test_a_message_comes_to_its_mailbox_over_starttls(server: Postfix) -> None:
    channel = await create({"type": "email", "address": ADDRESS})
    await confirm(channel)
    subject = OPENED | {"monitor": OPENED["monitor"] | {"name": "Café"}}
    sent = await deliver(await announce_to(channel, subject))
    assert (sent.status, sent.status_code) == ("delivered", 250)
    message = server.wait_for_message()
    assert "using TLSv1.3" in message["Received"]
    assert message["From"] == "Wächter <monitoring@example.com>"
    assert message["Subject"].startswith("Café is down")
    assert message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert {part.get_content_type() for part in message.iter_parts()} == {"text/plain", "text/html"}


async def test_an_address_that_the_server_does_not_know_is_told_as_one() -> None:
    channel = await create({"type": "email", "address": "nobody-here@example.org"})
    await confirm(channel)
    sent = await deliver(await announce_to(channel, OPENED))
    assert (sent.status, sent.status_code) == ("failed", 550)
    assert sent.error_message
    assert sent.error_message.startswith("This address does not exist. Answered 550: 5.1.1 <nobody-here@")
    assert not (await NotificationChannel.get(id=channel.id)).enabled
