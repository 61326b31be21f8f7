"""What a worker does for tokens. It loads nothing that reads or signs them."""

from __future__ import annotations

from datetime import datetime, timedelta

from monitoring.auth.models import RevokedToken

# The clocks of two machines may differ. One must not delete a row that the other still needs.
KEPT_AFTER_EXPIRY = timedelta(hours=1)


async def delete_expired_revocations(now: datetime) -> None:
    """Delete the rows of revoked tokens that have expired."""
    await RevokedToken.filter(expires_at__lte=now - KEPT_AFTER_EXPIRY).delete()
