"""The operations of the Notifications tag."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from monitoring.auth.limits import count_request
from monitoring.backends.current import current_backends
from monitoring.contract.cursors import decode_cursor
from monitoring.contract.replies import NO_STORE, Reply
from monitoring.idempotency.service import act_once
from monitoring.notifications import deliveries, service
from monitoring.notifications.representations import (
    represent_created_webhook,
    represent_deliveries,
    represent_delivery,
    represent_webhook,
    represent_webhooks,
)
from monitoring.notifications.tasks import nudge

if TYPE_CHECKING:
    from starlette.requests import Request

    from monitoring.auth.callers import Caller
    from monitoring.contract.document import Json


async def list_notification_webhooks(*, caller: Caller, limit: int, cursor: str | None = None) -> Reply:
    """Answer a page of the team's webhooks."""
    after_id = decode_cursor(cursor) if cursor else None
    return Reply(represent_webhooks(await service.list_webhooks(caller.team_id, limit, after_id)))


async def create_notification_webhook(
    body: Json, caller: Caller, idempotency_key: str | None = None
) -> Reply:
    """Register a webhook, once. No other answer holds its secret."""

    async def create() -> Reply:
        webhook = await service.create_webhook(caller.team_id, body)
        location = f"/api/notification-webhooks/{webhook.id}"
        return Reply(represent_created_webhook(webhook), 201, {"Location": location, **NO_STORE})

    request = ("create_notification_webhook", body)
    return await act_once(caller.team_id, idempotency_key, request, create)


async def get_notification_webhook(webhook_id: str, caller: Caller) -> Reply:
    """Answer one webhook."""
    return Reply(represent_webhook(await service.get_webhook(caller.team_id, UUID(webhook_id))))


async def update_notification_webhook(
    webhook_id: str, body: Json, caller: Caller, idempotency_key: str | None = None
) -> Reply:
    """Change a webhook, once."""

    async def update() -> Reply:
        return Reply(represent_webhook(await service.update_webhook(caller.team_id, UUID(webhook_id), body)))

    request = ("update_notification_webhook", webhook_id, body)
    return await act_once(caller.team_id, idempotency_key, request, update)


async def delete_notification_webhook(
    webhook_id: str, caller: Caller, idempotency_key: str | None = None
) -> Reply:
    """Delete a webhook, once."""

    async def delete() -> Reply:
        await service.delete_webhook(caller.team_id, UUID(webhook_id))
        return Reply.empty()

    request = ("delete_notification_webhook", webhook_id)
    return await act_once(caller.team_id, idempotency_key, request, delete)


async def test_notification_webhook(  # the document names it so: it is no test
    webhook_id: str,
    caller: Caller,
    request: Request,
    idempotency_key: str | None = None,  # noqa: PT028
) -> Reply:
    """Queue a test notification, once."""
    await _count(request, caller)

    async def queue() -> Reply:
        delivery = await deliveries.queue_test(caller.team_id, UUID(webhook_id))
        return Reply(represent_delivery(delivery), 202)

    asked = ("test_notification_webhook", webhook_id)
    return await _nudged(await act_once(caller.team_id, idempotency_key, asked, queue))


async def list_notification_deliveries(
    webhook_id: str, *, caller: Caller, limit: int, cursor: str | None = None, status: str | None = None
) -> Reply:
    """Answer a page of a webhook's deliveries."""
    webhook = await service.get_webhook(caller.team_id, UUID(webhook_id))
    after_id = decode_cursor(cursor) if cursor else None
    return Reply(represent_deliveries(await deliveries.list_deliveries(webhook, status, limit, after_id)))


async def redeliver_notification(
    webhook_id: str, delivery_id: str, caller: Caller, request: Request, idempotency_key: str | None = None
) -> Reply:
    """Send a delivery again, once."""
    await _count(request, caller)

    async def queue() -> Reply:
        delivery = await deliveries.redeliver(caller.team_id, UUID(webhook_id), UUID(delivery_id))
        return Reply(represent_delivery(delivery), 202)

    asked = ("redeliver_notification", webhook_id, delivery_id)
    return await _nudged(await act_once(caller.team_id, idempotency_key, asked, queue))


async def _count(request: Request, caller: Caller) -> None:
    """Count against the team's limit, because each request makes us call a stranger's server."""
    await count_request(request, current_backends().settings.rate_limit_notifications, str(caller.team_id))


async def _nudged(reply: Reply) -> Reply:
    """Nudge the delivery that a reply holds, which is committed by now. A repeated request nudges in vain."""
    await nudge([UUID(reply.json_value()["id"])])
    return reply
