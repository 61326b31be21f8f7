"""The secrets of webhooks at rest: encrypted, because signing needs them back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from monitoring.backends.encrypted_columns import encrypt_column
from monitoring.backends.encryption import decrypt
from monitoring.notifications.models import NotificationWebhook

if TYPE_CHECKING:
    from monitoring.backends.encrypted_columns import Encrypted


def read_secret(webhook: NotificationWebhook) -> str:
    """Return the secret that signs a webhook's messages. Raises `UndecryptableError`."""
    return decrypt(webhook.secret)


async def encrypt_webhook_secrets() -> Encrypted:
    """Encrypt secrets with the first key, where they are plain or another key encrypted them."""
    return await encrypt_column(NotificationWebhook.all(), "secret")
