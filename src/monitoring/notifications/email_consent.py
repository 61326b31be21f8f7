"""Handles links in emails, with which a reader confirms an email address or unsubscribes it."""

from __future__ import annotations

from uuid import UUID

from monitoring.backends.current import current_backends
from monitoring.backends.database import transaction
from monitoring.notifications.disabling import disable
from monitoring.notifications.models import NotificationChannel

UNSUBSCRIBED = "A reader of the address unsubscribed"


async def confirm(linked: NotificationChannel) -> bool:
    """Confirm the email address of a channel, so that notifications may be sent to it.

    `linked` is the channel that the reader's link is for. Returns whether the channel was changed. Does
    nothing if a reader has confirmed or unsubscribed since `linked` was read.
    """
    async with transaction():
        channel = await _lock(linked)
        if channel is None or not channel.is_unconfirmed or channel.answered_at != linked.answered_at:
            return False
        channel.confirmed_at = channel.answered_at = channel.updated_at = current_backends().clock.now()
        await channel.save()
        return True


async def unsubscribe(linked: NotificationChannel) -> tuple[bool, list[UUID]]:
    """Disable a channel until a reader confirms its email address again.

    `linked` is the channel that the reader's link is for. Returns whether the channel was changed, and the
    ids of the deliveries to send next with `nudge`.
    """
    async with transaction():
        channel = await _lock(linked)
        if channel is None or not (channel.enabled or channel.confirmed_at):
            return False, []
        now = current_backends().clock.now()
        told = await disable(channel, UNSUBSCRIBED, now)
        await NotificationChannel.filter(id=channel.id).update(confirmed_at=None, answered_at=now)
        return True, told


async def _lock(linked: NotificationChannel) -> NotificationChannel | None:
    """Lock and return a channel, or return None if it was deleted or its email address has changed."""
    found = await NotificationChannel.select_for_update(no_key=True).get_or_none(id=linked.id)
    return found if found and found.settings["address"] == linked.settings["address"] else None
