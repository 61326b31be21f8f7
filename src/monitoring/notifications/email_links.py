"""Links in emails, by which the reader of an address confirms it, or wants nothing more there.

A link is for one channel and one address: it means nothing once the channel has another.
"""

from __future__ import annotations

import hashlib
from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from monitoring.auth.links import read_link, sign_link
from monitoring.notifications.models import NotificationChannel

if TYPE_CHECKING:
    from monitoring.notifications.models import NotificationDelivery

CONFIRM = "confirm-email"
UNSUBSCRIBE = "unsubscribe"

# As long as the delivery log, in which a confirmation can be sent again.
CONFIRMATION_VALID_FOR = timedelta(days=30)
# Readers unsubscribe by old messages too.
UNSUBSCRIBE_VALID_FOR = timedelta(days=365)


def write_confirmation_link(delivery: NotificationDelivery, address: str, base_url: str) -> str:
    """Write the link that confirms an address. Each attempt has the same."""
    return _write(CONFIRM, delivery, address, base_url, CONFIRMATION_VALID_FOR)


def write_unsubscribe_link(delivery: NotificationDelivery, address: str, base_url: str) -> str:
    """Write the link that turns the channel off. Each attempt has the same."""
    return _write(UNSUBSCRIBE, delivery, address, base_url, UNSUBSCRIBE_VALID_FOR)


async def find_linked(purpose: str, token: str) -> NotificationChannel | None:
    """Return the channel that a link is for, or None.

    That is so if we did not sign it for this purpose, if it has expired, if the channel was deleted, or if it
    has another address now.
    """
    claims = read_link(purpose, token)
    if claims is None:
        return None
    channel = await NotificationChannel.get_or_none(id=UUID(claims["channel"]))
    if channel is None or _digest(channel.settings.get("address", "")) != claims["address"]:
        return None
    return channel


def _write(
    purpose: str, delivery: NotificationDelivery, address: str, base_url: str, valid_for: timedelta
) -> str:
    claims = {"channel": str(delivery.channel_id), "address": _digest(address)}
    token = sign_link(purpose, claims, delivery.created_at + valid_for)
    # The access log has paths, but no queries.
    return f"{base_url}/app/{purpose}?token={token}"


def _digest(address: str) -> str:
    """Stand for an address in a link, because links are passed on and logged."""
    return hashlib.sha256(address.encode()).hexdigest()[:32]
