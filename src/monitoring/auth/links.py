"""Signed links in messages. Each link authorises the reader of the message to perform one action.

A link's token is a JWT (RFC 7519). It is signed with keys derived from ENCRYPTION_KEYS, because the workers
that write messages have no SIGNING_KEYS. The first key signs, and all keys verify.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from datetime import datetime

from monitoring.backends.current import current_backends

MAX_LINK_CHARACTERS = 1024
HS256 = "HS256"  # RFC 7518 §3.2


def sign_link(purpose: str, claims: Mapping[str, str], expires_at: datetime) -> str:
    """Return a link's token. It is deterministic, so a message has the same link at every sending attempt."""
    import jwt  # noqa: PLC0415 - most processes never write or read a link

    return jwt.encode({**claims, "aud": purpose, "exp": expires_at}, _derive_keys()[0], HS256)


def read_link(purpose: str, token: str) -> dict[str, str] | None:
    """Verify a link's token and return its claims. None if it is forged, expired or for another purpose."""
    import jwt  # noqa: PLC0415 - most processes never write or read a link

    if len(token) > MAX_LINK_CHARACTERS:
        return None
    for key in _derive_keys():
        try:
            # The library would compare the expiry with this machine's clock, which may be wrong.
            claims = jwt.decode(
                token,
                key,
                [HS256],
                audience=purpose,
                options={"require": ["aud", "exp"], "verify_exp": False},
            )
        except (jwt.PyJWTError, ValueError):
            continue
        return claims if claims["exp"] > current_backends().clock.now().timestamp() else None
    return None


def _derive_keys() -> list[bytes]:
    keys = current_backends().settings.encryption_keys
    return [hmac.digest(key.get_secret_value().encode(), b"links", hashlib.sha256) for key in keys]
