"""SQL queries for keys and tokens, which run at every request, and the periodic deletion of old rows."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from monitoring.auth.models import RevokedToken
from monitoring.backends.current import current_backends
from monitoring.backends.statements import spell

# Rows are kept this long after their expiry, because machine clocks may differ, and one machine must not
# delete a row that another still needs.
KEPT_AFTER_EXPIRY = timedelta(hours=1)

_READ_LIVING_KEY = """
    SELECT team_id, name, scopes, last_used_at,
        EXISTS (SELECT 1 FROM revoked_tokens WHERE token_id = $2) AS is_token_revoked
    FROM api_keys WHERE client_id = $1 AND revoked_at IS NULL
"""

_READ_LIVING_SHA256 = """
    SELECT COALESCE(
        (SELECT secret_sha256 FROM api_keys WHERE client_id = $1 AND revoked_at IS NULL), $2
    ) AS secret_sha256
"""


async def read_living_key(client_id: str, token_id: str) -> Mapping[str, Any] | None:
    """Return an active key's columns, and whether the token is revoked. None if there is no active key."""
    connection = current_backends().database.context.db()
    rows = await connection.execute_query_dict(spell(connection, _READ_LIVING_KEY), [client_id, token_id])
    return rows[0] if rows else None


async def read_living_sha256(client_id: str, otherwise: str) -> str:
    """Return the hash of an active key's secret, or `otherwise` if there is no such key.

    Both cases take the same time, so response times do not reveal which keys exist.
    """
    connection = current_backends().database.context.db()
    sql = spell(connection, _READ_LIVING_SHA256)
    [row] = await connection.execute_query_dict(sql, [client_id, otherwise])
    sha256: str = row["secret_sha256"]
    return sha256


async def delete_expired_revocations(now: datetime) -> None:
    """Delete the rows of revoked tokens that expired at least KEPT_AFTER_EXPIRY ago."""
    await RevokedToken.filter(expires_at__lte=now - KEPT_AFTER_EXPIRY).delete()
