"""Encrypts, masks and decrypts a monitor's client certificate, which contains its private key."""

from __future__ import annotations

from monitoring.backends.encrypted_columns import Encrypted, encrypt_column
from monitoring.backends.encryption import MASK, decrypt, encrypt
from monitoring.monitors.models import Monitor


def store_client_certificate(client_certificate: str | None) -> str | None:
    """Return the client certificate as its column stores it: encrypted."""
    return None if client_certificate is None else encrypt(client_certificate)


def show_client_certificate(stored: str | None) -> str | None:
    """Return the client certificate as responses show it: masked."""
    return None if stored is None else MASK


def read_client_certificate(stored: str | None) -> str | None:
    """Return the client certificate that checks present to servers. Raises `UndecryptableError`."""
    return None if stored is None else decrypt(stored)


async def encrypt_client_certificates() -> Encrypted:
    """Re-encrypt all client certificates with the first encryption key.

    Return how many rows were re-encrypted, and how many cannot be decrypted.
    """
    return await encrypt_column(Monitor.exclude(client_certificate=None), "client_certificate")
