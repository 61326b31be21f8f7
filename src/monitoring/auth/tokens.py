"""Bearer tokens: JWT (RFC 7519) under HS256, signed with the first signing key and verified with any."""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING
from uuid import uuid4

import jwt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import SecretStr

    from monitoring.settings import Settings

LIFETIME_SECONDS = 86_400  # 24 hours, by the published interface
ALGORITHM = "HS256"
# Fixed names: a token outlives a change of the public address.
ISSUER = "monitoring-service"
AUDIENCE = "monitoring-api"

# Tokens that are in use. Those this service signs have some 500 characters.
REMEMBERED_TOKENS = 4096
MAX_TOKEN_CHARACTERS = 2048


class InvalidTokenError(Exception):
    """The token is expired, tampered with, or none of ours."""


@dataclass(frozen=True, slots=True)
class TokenClaims:
    """What a verified token says. It ends at `expires_at_seconds` (Unix time)."""

    client_id: str
    scopes: frozenset[str]
    expires_at_seconds: int


def sign_token(settings: Settings, client_id: str, scopes: Sequence[str], now_seconds: int) -> str:
    """Sign a token that is valid for 24 hours from `now_seconds` (Unix time)."""
    key = settings.signing_keys[0].get_secret_value()
    claims = {
        "iss": ISSUER,
        "aud": AUDIENCE,
        "sub": client_id,
        "iat": now_seconds,
        "exp": now_seconds + LIFETIME_SECONDS,
        "jti": uuid4().hex,
        "scope": " ".join(scopes),
    }
    return jwt.encode(claims, key, ALGORITHM, headers={"kid": _key_id(key)})


def verify_token(settings: Settings, token: str) -> TokenClaims:
    """Check signature, issuer, audience and time. Raises `InvalidTokenError`."""
    if len(token) > MAX_TOKEN_CHARACTERS:
        raise InvalidTokenError
    claims = _read_token(settings.signing_keys, token)
    if claims.expires_at_seconds <= time.time():
        raise InvalidTokenError
    return claims


# What a signature covers never changes: of a token that was good, only its end has to be asked for again.
@lru_cache(maxsize=REMEMBERED_TOKENS)
def _read_token(signing_keys: tuple[SecretStr, ...], token: str) -> TokenClaims:
    try:
        keys = {_key_id(key): key for key in (secret.get_secret_value() for secret in signing_keys)}
        claims = jwt.decode(
            token,
            keys[jwt.get_unverified_header(token)["kid"]],
            algorithms=[ALGORITHM],
            audience=AUDIENCE,
            issuer=ISSUER,
            options={"require": ["iss", "aud", "sub", "iat", "exp", "jti", "scope"]},
        )
    except (jwt.PyJWTError, KeyError, TypeError, ValueError) as error:
        raise InvalidTokenError from error
    return TokenClaims(str(claims["sub"]), frozenset(str(claims["scope"]).split()), int(claims["exp"]))


def _key_id(key: str) -> str:
    """Name a signing key without giving anything of it away."""
    return hashlib.sha256(f"kid:{key}".encode()).hexdigest()[:16]
