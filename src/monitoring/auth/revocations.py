"""Revokes tokens before they expire (RFC 7009), and introspects them (RFC 7662)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

from monitoring.auth.models import ApiKey, RevokedToken
from monitoring.auth.service import find_living_key
from monitoring.auth.tokens import InvalidTokenError, TokenClaims, verify_token
from monitoring.backends.current import current_backends


class AnotherClientsTokenError(Exception):
    """A client tried to revoke a token that was issued to another client."""


async def revoke_token(client: ApiKey, token: str) -> None:
    """Revoke a token. Every process refuses it from the next request on. Idempotent.

    Does nothing if the token is not valid anyway. Raises `AnotherClientsTokenError`.
    """
    backends = current_backends()
    try:
        claims = verify_token(backends.settings, token)
    except InvalidTokenError:
        return
    if claims.client_id != client.client_id:
        raise AnotherClientsTokenError
    ends_at = datetime.fromtimestamp(claims.expires_at_seconds, UTC)
    await RevokedToken.bulk_create(
        [RevokedToken(token_id=claims.token_id, expires_at=ends_at)], ignore_conflicts=True
    )


async def find_active_token(team_id: UUID, token: str) -> TokenClaims | None:
    """Return the claims of a team's token, with the scopes it has now, or None if it would be refused."""
    try:
        claims = verify_token(current_backends().settings, token)
        key = await find_living_key(claims)
    except InvalidTokenError:
        return None
    if key is None or key.team_id != team_id:
        return None
    return replace(claims, scopes=claims.scopes & key.scopes)
