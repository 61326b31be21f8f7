"""Receivers that moved: what they say about themselves is kept, and the next attempt goes there."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from monitoring.notifications.models import NotificationChannel


async def follow(channel: NotificationChannel, new_settings: Mapping[str, str], now: datetime) -> None:
    """Keep fields that a receiver says have changed, in the caller's transaction.

    They are kept only if the channel has such fields, and if nobody changed it since it was read: then the
    answer is about a receiver that it had before.
    """
    if not new_settings or not new_settings.keys() <= channel.settings.keys():
        return
    settings = {**channel.settings, **new_settings}
    unchanged = NotificationChannel.filter(id=channel.id, updated_at=channel.updated_at)
    if await unchanged.update(settings=settings, updated_at=now):
        channel.settings, channel.updated_at = settings, now
