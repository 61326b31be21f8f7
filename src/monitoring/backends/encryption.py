"""Encryption of credentials in the database, with the keys of ENCRYPTION_KEYS."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from pydantic import SecretStr

from monitoring.backends.current import current_backends

# What responses contain instead of secrets.
MASK = "********"

# The first characters of every Fernet token: its version, and the high bytes of its time.
_TOKEN_START = "gAAAAA"  # noqa: S105 - it says nothing about a key


class UndecryptableError(Exception):
    """No key of ENCRYPTION_KEYS decrypts the stored text."""

    def __init__(self) -> None:
        super().__init__("No key of ENCRYPTION_KEYS decrypts what is stored")


def encrypt(text: str) -> str:
    """Encrypt text with the first key."""
    newest, _ = _ciphers()
    return newest.encrypt(text.encode()).decode()


def decrypt(stored: str) -> str:
    """Decrypt text with any of the keys. Plain text that an earlier release stored is returned unchanged.

    Raises `UndecryptableError` if no key decrypts the text.
    """
    if not is_encrypted(stored):
        return stored
    _, every = _ciphers()
    try:
        return every.decrypt(stored.encode()).decode()
    except InvalidToken:
        raise UndecryptableError from None


def is_encrypted(stored: str) -> bool:
    """Return whether stored text is encrypted, rather than plain text from an earlier release."""
    return stored.startswith(_TOKEN_START)


def is_up_to_date(stored: str) -> bool:
    """Return whether stored text is encrypted with the first key."""
    newest, _ = _ciphers()
    try:
        newest.decrypt(stored.encode())
    except InvalidToken:
        return False
    return True


def generate_encryption_key() -> str:
    """Generate a key for ENCRYPTION_KEYS."""
    return Fernet.generate_key().decode()


def _ciphers() -> tuple[Fernet, MultiFernet]:
    return _read_keys(current_backends().settings.encryption_keys)


@lru_cache(maxsize=8)  # an installation has one list of keys; tests run several services in one process
def _read_keys(keys: Sequence[SecretStr]) -> tuple[Fernet, MultiFernet]:
    ciphers = [Fernet(key.get_secret_value()) for key in keys]
    return ciphers[0], MultiFernet(ciphers)
