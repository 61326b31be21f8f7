"""Bearer tokens: JWTs (RFC 7519) that follow the access token profile (RFC 9068).

The first signing key signs, and all signing keys verify.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from uuid import uuid4

import jwt
from jwt.utils import base64url_decode, base64url_encode
from pydantic import SecretStr

from monitoring.auth.signing_keys import HS256, SigningKey, read_signing_keys
from monitoring.settings import Settings

LIFETIME_SECONDS = 86_400  # 24 hours, as documented
TOKEN_TYPE = "at+jwt"  # noqa: S105 - a media type (RFC 9068 §2.1)
AUDIENCE = "monitoring-api"

# The issuer of tokens that are signed with a secret. Only this service verifies such tokens. Processes of
# earlier versions, which still run during a deployment, accept no other issuer.
SECRET_ISSUER = "monitoring-service"  # noqa: S105 - a name

# The number of verified tokens to cache. Tokens that this service signs have about 900 characters.
REMEMBERED_TOKENS = 4096
MAX_TOKEN_CHARACTERS = 4096

_REQUIRED = ["iss", "aud", "sub", "iat", "exp", "jti", "scope"]


class InvalidTokenError(Exception):
    """The token is expired, revoked, tampered with, or not issued by this service."""


@dataclass(frozen=True, slots=True)
class TokenClaims:
    """The claims of a verified token. It expires at `expires_at_seconds` (Unix time)."""

    token_id: str
    client_id: str
    scopes: frozenset[str]
    issuer: str
    issued_at_seconds: int
    expires_at_seconds: int


def sign_token(settings: Settings, client_id: str, scopes: Sequence[str], now_seconds: int) -> str:
    """Sign a token that is valid for 24 hours from `now_seconds` (Unix time)."""
    key = next(iter(read_signing_keys(settings.signing_keys).values()))
    claims = {
        "iss": SECRET_ISSUER if key.algorithm == HS256 else settings.base_url,
        "aud": AUDIENCE,
        "sub": client_id,
        "client_id": client_id,
        "iat": now_seconds,
        "exp": now_seconds + LIFETIME_SECONDS,
        "jti": uuid4().hex,
        "scope": " ".join(scopes),
    }
    return jwt.encode(claims, key.signing, key.algorithm, headers={"kid": key.key_id, "typ": TOKEN_TYPE})


def verify_token(settings: Settings, token: str) -> TokenClaims:
    """Verify a token's signature, audience and expiry, and return its claims. Raises `InvalidTokenError`.

    Revocation of the token or its key is checked by `service.find_living_key` in the database.
    """
    if len(token) > MAX_TOKEN_CHARACTERS:
        raise InvalidTokenError
    claims = _read_token(settings.signing_keys, token)
    if claims.expires_at_seconds <= time.time():
        raise InvalidTokenError
    return claims


# A signed token never changes, so after the first verification, only its expiry needs to be checked again.
@lru_cache(maxsize=REMEMBERED_TOKENS)
def _read_token(signing_keys: tuple[SecretStr, ...], token: str) -> TokenClaims:
    try:
        _demand_canonical(token)
        header = jwt.get_unverified_header(token)
        claims = _decode(read_signing_keys(signing_keys)[header["kid"]], header, token)
    except (jwt.PyJWTError, KeyError, TypeError, ValueError) as error:
        raise InvalidTokenError from error
    return TokenClaims(
        token_id=str(claims["jti"]),
        client_id=str(claims["sub"]),
        scopes=frozenset(str(claims["scope"]).split()),
        issuer=str(claims["iss"]),
        issued_at_seconds=int(claims["iat"]),
        expires_at_seconds=int(claims["exp"]),
    )


def _demand_canonical(token: str) -> None:
    """Refuse non-canonical encodings of a token, such as padding, which PyJWT accepts (RFC 7515 §2)."""
    for segment in token.split("."):
        if base64url_encode(base64url_decode(segment)).decode() != segment:
            raise InvalidTokenError


def _decode(key: SigningKey, header: dict[str, Any], token: str) -> dict[str, Any]:
    """Verify a token with the key's own algorithm, validate its claims, and return them.

    For a private key, the issuer is not compared, so tokens stay valid when BASE_URL changes. This is safe,
    because the key signs nothing but this service's tokens.
    """
    is_secret = key.algorithm == HS256
    if not is_secret and header.get("typ") != TOKEN_TYPE:
        raise InvalidTokenError
    claims: dict[str, Any] = jwt.decode(
        token,
        key.verifying,
        algorithms=[key.algorithm],
        audience=AUDIENCE,
        issuer=SECRET_ISSUER if is_secret else None,
        options={"require": _REQUIRED if is_secret else [*_REQUIRED, "client_id"]},
    )
    return claims
