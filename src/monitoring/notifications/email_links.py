"""Links in emails, with which the reader of an address confirms it or unsubscribes.

A link is for one channel and one address, and becomes invalid if the channel gets another address. A link
to confirm works only until the reader has confirmed or unsubscribed.
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

# As long as the delivery log, in which a confirmation can be sent again.
CONFIRMATION_VALID_FOR = timedelta(days=30)
# Readers unsubscribe by old messages too.
UNSUBSCRIBE_VALID_FOR = timedelta(days=365)


def write_confirmation_link(delivery: NotificationDelivery, address: str, base_url: str) -> str:
    """Return the link that confirms an address, the same at every attempt."""
    claims = {**_name(delivery, address), "asked_at": write_timestamp(delivery.created_at)}
    return _write(CONFIRM, claims, delivery.created_at + CONFIRMATION_VALID_FOR, base_url)


def write_unsubscribe_link(delivery: NotificationDelivery, address: str, base_url: str) -> str:
    """Return the link that disables the channel, the same at every attempt."""
    return _write(
        UNSUBSCRIBE, _name(delivery, address), delivery.created_at + UNSUBSCRIBE_VALID_FOR, base_url
    )


async def find_linked(purpose: str, token: str) -> NotificationChannel | None:
    """Return the channel that a link is for, or None.

    None means that we did not sign the link for this purpose, that it has expired, or that the channel was
    deleted or has another address now.
    """
    claims = read_link(purpose, token)
    if claims is None:
        return None
    channel = await NotificationChannel.get_or_none(id=UUID(claims["channel"]))
    if channel is None or _digest(channel.settings.get("address", "")) != claims["address"]:
        return None
    return channel


def is_used_up(token: str, channel: NotificationChannel) -> bool:
    """Return whether the reader has confirmed or unsubscribed since the link was sent."""
    claims = read_link(CONFIRM, token)
    if claims is None or "asked_at" not in claims:
        return True
    return channel.answered_at is not None and read_timestamp(claims["asked_at"]) <= channel.answered_at


def _name(delivery: NotificationDelivery, address: str) -> dict[str, str]:
    return {"channel": str(delivery.channel_id), "address": _digest(address)}


def _write(purpose: str, claims: Mapping[str, str], expires_at: datetime, base_url: str) -> str:
    token = sign_link(purpose, claims, expires_at)
    # The access log has paths, but no queries.
    return f"{base_url}/app/{purpose}?token={token}"


def _digest(address: str) -> str:
    """Return a digest of an address for a link, because links are forwarded and logged."""
    return hashlib.sha256(address.encode()).hexdigest()[:32]
