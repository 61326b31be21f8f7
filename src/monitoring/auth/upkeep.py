"""Background work for tokens. It loads no code that reads or signs them."""

from __future__ import annotations

from datetime import datetime, timedelta

from monitoring.auth.models import RevokedToken

# Clocks of machines may differ. A row must not be deleted while another machine still needs it.
KEPT_AFTER_EXPIRY = timedelta(hours=1)


async def delete_expired_revocations(now: datetime) -> None:
    """Delete the rows of revoked tokens that have expired."""
    await RevokedToken.filter(expires_at__lte=now - KEPT_AFTER_EXPIRY).delete()
