"""Secrets and signatures of notifications (Standard Webhooks)."""

from __future__ import annotations

import secrets
from base64 import b64encode
from typing import TYPE_CHECKING

from standardwebhooks import Webhook

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

SECRET_PREFIX = "whsec_"  # noqa: S105 - a prefix, so that scanners for leaked secrets can find one
SECRET_RANDOM_BYTES = 32


def generate_secret() -> str:
    """Make a secret."""
    return SECRET_PREFIX + b64encode(secrets.token_bytes(SECRET_RANDOM_BYTES)).decode()


def sign(secret: str, message_id: UUID, attempted_at: datetime, payload: str) -> dict[str, str]:
    """Write the headers that prove a message. `attempted_at` must be in UTC."""
    return {
        "webhook-id": str(message_id),
        "webhook-timestamp": str(int(attempted_at.timestamp())),
        "webhook-signature": Webhook(secret).sign(str(message_id), attempted_at, payload),
    }
