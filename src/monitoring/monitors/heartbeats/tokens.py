"""Creates, hashes and encrypts the token in a heartbeat's ping URL, which is a secret."""

from __future__ import annotations

from uuid import UUID, uuid4

from monitoring.auth.credentials import hash_secret
from monitoring.backends.current import current_backends
from monitoring.backends.encrypted_columns import Encrypted, encrypt_column
from monitoring.backends.encryption import decrypt, encrypt
from monitoring.monitors.heartbeats.models import Heartbeat
from monitoring.monitors.models import HEARTBEAT, Monitor


def new_token() -> dict[str, str]:
    """Return the columns that store a new token: a random UUID, as clients of Healthchecks expect."""
    token = str(uuid4())
    return {"token_sha256": hash_secret(token), "encrypted_token": encrypt(token)}


def hash_token(token: UUID) -> str:
    """Return the hash of a token, by which its heartbeat is looked up."""
    return hash_secret(str(token))


async def find_heartbeat(monitor: Monitor) -> Heartbeat | None:
    """Return a monitor's heartbeat row; None if the monitor is of another type."""
    return await Heartbeat.get(monitor_id=monitor.id) if monitor.type == HEARTBEAT else None


def ping_url_of(encrypted_token: str) -> str:
    """Return the ping URL that contains a token. Raises `UndecryptableError`."""
    return f"{current_backends().settings.base_url}/ping/{decrypt(encrypted_token)}"


async def encrypt_ping_tokens() -> Encrypted:
    """Re-encrypt all tokens with the first of ENCRYPTION_KEYS.

    Return how many rows were re-encrypted, and how many cannot be decrypted.
    """
    return await encrypt_column(Heartbeat.all(), "encrypted_token")
