"""What a worker does for tokens. It loads nothing that reads or signs them."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from monitoring.auth.models import RevokedToken

if TYPE_CHECKING:
    from datetime import datetime

# The clocks of two machines may differ. One must not delete a row that the other still needs.
KEPT_AFTER_EXPIRY = timedelta(hours=1)


async def delete_expired_revocations(now: datetime) -> None:
    """Delete the rows of revoked tokens that have expired."""
    await RevokedToken.filter(expires_at__lte=now - KEPT_AFTER_EXPIRY).delete()
