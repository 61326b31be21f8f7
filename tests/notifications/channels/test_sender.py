from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from monitoring.notifications.channels.sender import current_sender, open_sender
from monitoring.outbound import client
from monitoring.outbound.exchanges import OutboundRequest

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from monitoring.backends.assembly import Backends
    from monitoring.outbound.client import HttpClient
    from monitoring.settings import Settings
    from notifications.addressee import Addressee

pytestmark = pytest.mark.anyio


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[Settings]:
    """Note the settings of every client that is opened."""
    opened: list[Settings] = []
    open_client = client.open_configured_client

    def open_and_note(settings: Settings) -> AbstractAsyncContextManager[HttpClient]:
        opened.append(settings)
        return open_client(settings)

    monkeypatch.setattr(client, "open_configured_client", open_and_note)
    return opened


async def test_who_sends_nothing_opens_no_client(backends: Backends, opened: list[Settings]) -> None:
    async with open_sender(backends.settings):
        assert current_sender()
    assert not opened


async def test_requests_of_one_moment_open_one_client(
    backends: Backends, addressee: Addressee, opened: list[Settings]
) -> None:
    request = OutboundRequest(method="POST", url=addressee.url, body=b"{}", timeout_seconds=10)
    async with open_sender(backends.settings):
        sender = current_sender()
        assert sender
        exchanges = await asyncio.gather(sender.send(request), sender.send(request))
    assert [exchange.status_code for exchange in exchanges] == [204, 204]
    assert opened == [backends.settings]
