"""Stores a monitor's request headers in two columns: all headers, masked, and the encrypted credentials.

Credentials that an earlier release stored as plain text are masked in responses. They are encrypted when the
monitor is changed, or when `encrypt_request_headers` runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from monitoring.backends.encrypted_columns import Encrypted, read_in_order
from monitoring.backends.encryption import UndecryptableError, decrypt, encrypt, is_up_to_date
from monitoring.monitors.credentials import find_credentials, mask, unmask
from monitoring.monitors.models import Monitor


def store_headers(headers: Mapping[str, str]) -> dict[str, Any]:
    """Return the two columns that store a monitor's request headers."""
    credentials = find_credentials(headers)
    return {
        "request_headers": mask(headers, credentials),
        "encrypted_headers": encrypt(orjson.dumps(credentials).decode()) if credentials else "",
    }


def show_headers(request_headers: Mapping[str, str]) -> dict[str, str]:
    """Return the request headers as responses show them."""
    return mask(request_headers, find_credentials(request_headers))


def read_headers(request_headers: Mapping[str, str], encrypted_headers: str | None) -> dict[str, str]:
    """Return the request headers as they are sent. Raises `UndecryptableError`."""
    return unmask(request_headers, orjson.loads(decrypt(encrypted_headers)) if encrypted_headers else {})


async def encrypt_request_headers() -> Encrypted:
    """Encrypt all credentials with the first encryption key, and mask those that are plain text.

    Return how many rows were encrypted, and how many cannot be decrypted.
    """
    encrypted = unreadable = 0
    columns = ("version", "request_headers", "encrypted_headers")
    async for row in read_in_order(Monitor.exclude(request_headers={}), *columns):
        if _is_as_it_should_be(row):
            continue
        try:
            stored = store_headers(read_headers(row["request_headers"], row["encrypted_headers"]))
        except UndecryptableError:
            unreadable += 1
        else:
            # A row whose version has changed is skipped, because the concurrent change has encrypted the
            # credentials.
            unchanged = Monitor.filter(id=row["id"], version=row["version"])
            encrypted += await unchanged.update(**stored)
    return Encrypted(encrypted, unreadable)


def _is_as_it_should_be(row: Mapping[str, Any]) -> bool:
    token, shown = row["encrypted_headers"], row["request_headers"]
    return token is not None and shown == show_headers(shown) and (not token or is_up_to_date(token))
