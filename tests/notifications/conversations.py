"""Steps that many tests share: create a channel, read it, list its deliveries."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

from monitoring.notifications.announcing import announce
from monitoring.notifications.models import NotificationDelivery
from notifications.addressee import opening

if TYPE_CHECKING:
    from uuid import UUID

    import httpx

    from running_service import RunningService

CHANNELS = "/api/notification-channels"
URL = "https://pager.example.com/hooks/monitoring"
PAGER = {"type": "webhook", "url": URL}


def register(player: httpx.Client, **fields: Any) -> dict[str, Any]:
    """Create a channel, a webhook unless its fields say otherwise, and return it with its secret."""
    answer = player.post(CHANNELS, json={**PAGER, **fields})
    assert answer.status_code == 201, answer.text
    webhook: dict[str, Any] = answer.json()
    return webhook


def path_of(webhook: dict[str, Any]) -> str:
    return f"{CHANNELS}/{webhook['id']}"


def without_secret(webhook: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in webhook.items() if name != "secret"}


def read(player: httpx.Client, webhook: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = player.get(path_of(webhook)).raise_for_status().json()
    return found


def list_ids(player: httpx.Client, **query: Any) -> list[str]:
    page = player.get(CHANNELS, params=query).raise_for_status().json()
    return [webhook["id"] for webhook in page["notification_channels"]]


def list_deliveries(player: httpx.Client, webhook: dict[str, Any], **query: Any) -> list[dict[str, Any]]:
    page = player.get(f"{path_of(webhook)}/deliveries", params=query).raise_for_status().json()
    deliveries: list[dict[str, Any]] = page["deliveries"]
    return deliveries


def wait_until_settled(player: httpx.Client, webhook: dict[str, Any]) -> list[dict[str, Any]]:
    """Ask until every delivery has been tried."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        deliveries = list_deliveries(player, webhook)
        if deliveries and all(
            delivery["error_message"] or delivery["delivered_at"] for delivery in deliveries
        ):
            return deliveries
    pytest.fail("the deliveries did not settle")


def queue_deliveries(service: RunningService, team_id: UUID, count: int, status: str) -> None:
    """Make deliveries to all of a team's webhooks that no worker takes."""

    async def queue() -> None:
        for _ in range(count):
            delivery_ids = await announce([opening(team_id)])
            await NotificationDelivery.filter(id__in=delivery_ids).update(status=status, due_at=None)

    service.run(queue())
