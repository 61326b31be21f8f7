"""What clients do with notification webhooks: every function is one transaction."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from monitoring.auth.models import Team
from monitoring.backends.database import transaction
from monitoring.backends.encryption import encrypt
from monitoring.backends.pages import Page, read_page
from monitoring.contract.configurations import change, complete
from monitoring.contract.problems import Problem
from monitoring.notifications.channels import CHANNELS
from monitoring.notifications.configuration import configuration_of, default_configuration
from monitoring.notifications.deliveries import end_waiting_deliveries
from monitoring.notifications.models import NotificationWebhook

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

    from monitoring.contract.document import Json

MAX_WEBHOOKS_A_TEAM = 20


async def list_webhooks(team_id: UUID, limit: int, after_id: UUID | None) -> Page[NotificationWebhook]:
    """Return up to `limit` webhooks of a team, newest first, from the one after `after_id` on."""
    return await read_page(NotificationWebhook.filter(team_id=team_id), limit, after_id)


async def create_webhook(team_id: UUID, given: Mapping[str, Json]) -> NotificationWebhook:
    """Register a webhook with a new secret. Raises Problem if the team has enough of them."""
    channel = CHANNELS[NotificationWebhook.type]
    configuration = complete(given, default_configuration(), channel.default_name)
    async with transaction():
        # One lock for counting and inserting: two at once cannot pass the cap, and ids follow the commits.
        await Team.select_for_update(no_key=True).get(id=team_id)
        if await NotificationWebhook.filter(team_id=team_id).count() >= MAX_WEBHOOKS_A_TEAM:
            raise Problem("notification_webhook_limit_reached")
        now = datetime.now(UTC)
        secret = encrypt(channel.generate_secret())
        return await NotificationWebhook.create(
            team_id=team_id, secret=secret, created_at=now, updated_at=now, **configuration
        )


async def get_webhook(team_id: UUID, webhook_id: UUID) -> NotificationWebhook:
    """Return a webhook of the team. Raises Problem if there is none, or if it is another team's."""
    return _existing(await NotificationWebhook.get_or_none(id=webhook_id, team_id=team_id))


async def update_webhook(team_id: UUID, webhook_id: UUID, patch: Mapping[str, Json]) -> NotificationWebhook:
    """Apply a merge patch. A patch that changes nothing leaves `updated_at` as it is.

    Disabling gives up the deliveries that wait. Enabling forgets why the webhook was disabled.
    """
    async with transaction():
        locked = NotificationWebhook.select_for_update(no_key=True)
        webhook = _existing(await locked.get_or_none(id=webhook_id, team_id=team_id))
        channel, before = CHANNELS[webhook.type], configuration_of(webhook)
        after = change(before, patch, default_configuration(), channel.default_name)
        if after != before:
            webhook.update_from_dict(after)
            if webhook.enabled:
                webhook.disabled_reason = None
            elif before["enabled"]:
                await end_waiting_deliveries(webhook.id)
            webhook.updated_at = datetime.now(UTC)
            await webhook.save()
        return webhook


async def delete_webhook(team_id: UUID, webhook_id: UUID) -> None:
    """Delete a webhook with its deliveries."""
    if not await NotificationWebhook.filter(id=webhook_id, team_id=team_id).delete():
        raise Problem("notification_webhook_not_found")


def _existing(webhook: NotificationWebhook | None) -> NotificationWebhook:
    if webhook is None:
        raise Problem("notification_webhook_not_found")
    return webhook
