"""Signed links in emails, with which readers confirm or unsubscribe their email address.

A link is for one channel and one email address, and becomes invalid if the channel's address changes. A
confirmation link works only until a reader has confirmed or unsubscribed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import datetime, timedelta
from uuid import UUID

from monitoring.auth.links import read_link, sign_link
from monitoring.contract.timestamps import read_timestamp, write_timestamp
from monitoring.notifications.models import NotificationChannel, NotificationDelivery

CONFIRM = "confirm-email"
UNSUBSCRIBE = "unsubscribe"

# Confirmation links are valid as long as deliveries are kept, because a user can redeliver a confirmation
# request from the delivery log.
CONFIRMATION_VALID_FOR = timedelta(days=30)
# Unsubscribe links are valid for longer, because readers also use the links in old messages.
UNSUBSCRIBE_VALID_FOR = timedelta(days=365)


def write_confirmation_link(delivery: NotificationDelivery, address: str, base_url: str) -> str:
    """Return the link that confirms an email address. Every attempt to send the delivery uses this link."""
    claims = {**_name(delivery, address), "asked_at": write_timestamp(delivery.created_at)}
    return _write(CONFIRM, claims, delivery.created_at + CONFIRMATION_VALID_FOR, base_url)


def write_unsubscribe_link(delivery: NotificationDelivery, address: str, base_url: str) -> str:
    """Return the link that disables the channel. Every attempt to send the delivery uses this link."""
    return _write(
        UNSUBSCRIBE, _name(delivery, address), delivery.created_at + UNSUBSCRIBE_VALID_FOR, base_url
    )


async def find_linked(purpose: str, token: str) -> NotificationChannel | None:
    """Return the channel that a token is for.

    Return None if the token is expired, has an invalid signature or is for another purpose, or if the channel
    was deleted or its email address has changed.
    """
    claims = read_link(purpose, token)
    if claims is None:
        return None
    channel = await NotificationChannel.get_or_none(id=UUID(claims["channel"]))
    if channel is None or _digest(channel.settings.get("address", "")) != claims["address"]:
        return None
    return channel


def is_used_up(token: str, channel: NotificationChannel) -> bool:
    """Return whether a confirmation token is invalid or has been used.

    A token counts as used if a reader has confirmed or unsubscribed since the token was created.
    """
    claims = read_link(CONFIRM, token)
    if claims is None or "asked_at" not in claims:
        return True
    return channel.answered_at is not None and read_timestamp(claims["asked_at"]) <= channel.answered_at


def _name(delivery: NotificationDelivery, address: str) -> dict[str, str]:
    return {"channel": str(delivery.channel_id), "address": _digest(address)}


def _write(purpose: str, claims: Mapping[str, str], expires_at: datetime, base_url: str) -> str:
    token = sign_link(purpose, claims, expires_at)
    # The token is in the query string, because the access log records only paths.
    return f"{base_url}/app/{purpose}?token={token}"


def _digest(address: str) -> str:
    """Return a hash of an email address. Links contain the hash, as links may be forwarded and logged."""
    return hashlib.sha256(address.encode()).hexdigest()[:32]
