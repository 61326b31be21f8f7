"""Channel secrets: encrypted in the database, and masked in responses.

Secrets are not hashed, because sending notifications requires the plain text. A webhook's secret is its
signing secret. The secret of any other channel consists of its secret fields, as JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

import orjson

from monitoring.backends.encrypted_columns import Encrypted, encrypt_column
from monitoring.backends.encryption import MASK, decrypt, encrypt
from monitoring.contract.document import Json
from monitoring.notifications.configuration import Configuration, secret_fields
from monitoring.notifications.models import NotificationChannel


def read_secret(channel: NotificationChannel) -> str:
    """Return a webhook's signing secret. Raises `UndecryptableError`."""
    return decrypt(channel.secret)


def read_secrets(channel: NotificationChannel) -> dict[str, Json]:
    """Return the secret fields of a channel that is not a webhook. Raises `UndecryptableError`."""
    secrets: dict[str, Json] = orjson.loads(decrypt(channel.secret))
    return secrets


def store_secrets(secrets: Mapping[str, Json]) -> str:
    """Serialise and encrypt secret fields for storage."""
    return encrypt(orjson.dumps(secrets).decode())


def texts_in(secrets: Json) -> list[str]:
    """Return all strings in the secret fields, including those in nested lists and objects."""
    if isinstance(secrets, str):
        return [secrets]
    inner = secrets.values() if isinstance(secrets, dict) else secrets
    return [text for each in inner for text in texts_in(each)]


def mask_secrets(configuration: Configuration) -> Configuration:
    """Return a configuration with its secrets masked. Values that are already masked stay unchanged."""
    masks = secret_fields(configuration["type"])
    return {
        name: _mask(value, masks[name]) if name in masks and value is not None else value
        for name, value in configuration.items()
    }


async def encrypt_channel_secrets() -> Encrypted:
    """Encrypt all channel secrets that are not yet encrypted with the first encryption key."""
    return await encrypt_column(NotificationChannel.all(), "secret")


def _mask(value: Json, how: str) -> Json:
    if how == "address":
        parts = urlsplit(value)
        return f"{parts.scheme}://{parts.netloc}/{MASK}"
    if how == "values":
        return [{**each, "value": MASK} for each in value]
    return MASK
