"""Every credential that the database keeps, for the commands that encrypt them."""

from __future__ import annotations

from typing import NamedTuple

from monitoring.idempotency.service import encrypt_stored_answers
from monitoring.monitors.request_headers import encrypt_request_headers
from monitoring.notifications.secrets import encrypt_channel_secrets


class Encryption(NamedTuple):
    """How many rows of each kind were encrypted, and how many no key decrypts."""

    monitors: int
    notification_channels: int
    stored_answers: int
    unreadable: int


async def encrypt_stored_credentials() -> Encryption:
    """Encrypt with the first key what is plain or another key encrypted. It can be repeated."""
    monitors, webhooks, answers = (
        await encrypt_request_headers(),
        await encrypt_channel_secrets(),
        await encrypt_stored_answers(),
    )
    unreadable = monitors.unreadable + webhooks.unreadable + answers.unreadable
    return Encryption(monitors.encrypted, webhooks.encrypted, answers.encrypted, unreadable)
