"""Generates and compares key ids and secrets."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets

CLIENT_ID_PREFIX = "mon_live_"
TEST_CLIENT_ID_PREFIX = "mon_test_"
SECRET_PREFIX = "mon_secret_"  # noqa: S105 - a prefix, so that scanners for leaked secrets can find one
CLIENT_ID_RANDOM_BYTES = 18  # 24 URL-safe characters
SECRET_RANDOM_BYTES = 32  # 43 URL-safe characters, 256 bits

# If a key does not exist, the hash of the sent secret is compared with this value. The comparison never
# succeeds, and takes as long as a comparison with a real key's hash.
NO_KEY_SHA256 = "0" * 64

_CLIENT_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


def generate_client_id(*, is_test: bool = False) -> str:
    """Generate a public client id, whose prefix shows whether the key is a test key."""
    prefix = TEST_CLIENT_ID_PREFIX if is_test else CLIENT_ID_PREFIX
    return prefix + secrets.token_urlsafe(CLIENT_ID_RANDOM_BYTES)


def is_client_id(text: str) -> bool:
    """Return whether `text` is a well-formed client id.

    Check this before a query, because databases reject queries that contain certain characters.
    """
    return _CLIENT_ID.fullmatch(text) is not None


def generate_client_secret() -> str:
    """Generate a client secret."""
    return SECRET_PREFIX + secrets.token_urlsafe(SECRET_RANDOM_BYTES)


def hash_secret(secret: str) -> str:
    """Hash a secret for storage. For 256 random bits, SHA-256 is as secure as a slow hash."""
    return hashlib.sha256(secret.encode()).hexdigest()


def is_same_secret(secret: str, stored_sha256: str) -> bool:
    """Return whether a secret matches a stored hash, comparing in constant time."""
    return hmac.compare_digest(hash_secret(secret), stored_sha256)
