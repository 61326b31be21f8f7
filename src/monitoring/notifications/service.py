"""What clients do with notification channels: every function is one transaction."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import orjson

from monitoring.auth.models import Team
from monitoring.backends.database import transaction
from monitoring.backends.encryption import UndecryptableError
from monitoring.backends.pages import Page, read_page
from monitoring.contract.configurations import change, complete, merge
from monitoring.contract.problems import Problem
from monitoring.notifications.channels import CHANNELS
from monitoring.notifications.configuration import (
    columns_of,
    configuration_of,
    default_configuration,
    secret_fields,
)
from monitoring.notifications.deliveries import end_waiting_deliveries
from monitoring.notifications.models import NotificationChannel
from monitoring.notifications.secrets import mask_secrets, read_secrets, store_secrets

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

    from monitoring.contract.document import Json

MAX_CHANNELS_A_TEAM = 20

# Of a custom channel, however many patches led to it. A request brings no more at once, by default.
MAX_BODY_BYTES = 1_048_576


async def list_channels(team_id: UUID, limit: int, after_id: UUID | None) -> Page[NotificationChannel]:
    """Return up to `limit` channels of a team, newest first, from the one after `after_id` on."""
    return await read_page(NotificationChannel.filter(team_id=team_id), limit, after_id)


async def create_channel(team_id: UUID, given: Mapping[str, Json]) -> NotificationChannel:
    """Create a channel. Raises Problem if the team has enough of them."""
    kind = CHANNELS[given["type"]]
    configuration = complete(given, default_configuration(given["type"]), kind.default_name)
    async with transaction():
        # One lock for counting and inserting: two at once cannot pass the cap, and ids follow the commits.
        await Team.select_for_update(no_key=True).get(id=team_id)
        if await NotificationChannel.filter(team_id=team_id).count() >= MAX_CHANNELS_A_TEAM:
            raise Problem("notification_channel_limit_reached")
        now = datetime.now(UTC)
        return await NotificationChannel.create(
            team_id=team_id,
            secret=kind.make_secret(_secrets_in(given)),
            created_at=now,
            updated_at=now,
            **columns_of(mask_secrets(configuration)),
        )


async def get_channel(team_id: UUID, channel_id: UUID) -> NotificationChannel:
    """Return a channel of the team. Raises Problem if there is none, or if it is another team's."""
    return _existing(await NotificationChannel.get_or_none(id=channel_id, team_id=team_id))


async def update_channel(team_id: UUID, channel_id: UUID, patch: Mapping[str, Json]) -> NotificationChannel:
    """Apply a merge patch. A patch that changes nothing leaves `updated_at` as it is.

    Disabling gives up the deliveries that wait. Enabling forgets why the channel was disabled. Raises Problem
    if the patch is for channels of another type, or leads to too large a body.
    """
    async with transaction():
        locked = NotificationChannel.select_for_update(no_key=True)
        channel = _existing(await locked.get_or_none(id=channel_id, team_id=team_id))
        if patch["type"] != channel.type:
            raise Problem("notification_channel_type_fixed")
        before = configuration_of(channel)
        defaults = default_configuration(channel.type)
        changed = mask_secrets(change(before, patch, defaults, CHANNELS[channel.type].default_name))
        after = {name: changed.get(name) for name in before}
        if len(orjson.dumps(after.get("body"))) > MAX_BODY_BYTES:
            raise Problem("notification_channel_body_too_large")
        has_new_secrets = _renew_secrets(channel, _secrets_in(patch))
        if has_new_secrets or after != before:
            channel.update_from_dict(columns_of(after))
            if channel.enabled:
                channel.disabled_reason = None
            elif before["enabled"]:
                await end_waiting_deliveries(channel.id)
            channel.updated_at = datetime.now(UTC)
            await channel.save()
        return channel


async def delete_channel(team_id: UUID, channel_id: UUID) -> None:
    """Delete a channel with its deliveries."""
    if not await NotificationChannel.filter(id=channel_id, team_id=team_id).delete():
        raise Problem("notification_channel_not_found")


def _existing(channel: NotificationChannel | None) -> NotificationChannel:
    if channel is None:
        raise Problem("notification_channel_not_found")
    return channel


def _secrets_in(given: Mapping[str, Json]) -> dict[str, Json]:
    return {name: given[name] for name in secret_fields(given["type"]) if name in given}


def _renew_secrets(channel: NotificationChannel, given: Mapping[str, Json]) -> bool:
    """Merge secrets with those that are stored, and say whether that changed one.

    What no key decrypts is replaced by what is given.
    """
    if not given:
        return False
    try:
        stored = read_secrets(channel)
    except UndecryptableError:
        stored = {}
    renewed = merge(stored, dict(given))
    channel.secret = store_secrets(renewed)
    return bool(renewed != stored)
