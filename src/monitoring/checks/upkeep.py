"""What checks need now and then: room for new days, honest statuses, rollups, an end for what is too old."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from monitoring.checks.partitions import ensure_partitions
from monitoring.checks.retention import apply_retention
from monitoring.checks.rollups import roll_up
from monitoring.checks.unwatched import tell_unwatched

if TYPE_CHECKING:
    from datetime import datetime

# A store that meets a day without a partition makes it, but then everybody who stores waits for it.
DAYS_AHEAD = timedelta(days=3)


async def keep_up(now: datetime) -> None:
    """Do what is due. Costs some look-ups when nothing is; several processes may do so at once."""
    await ensure_partitions(now - timedelta(days=1), now + DAYS_AHEAD)
    await tell_unwatched(now)
    await roll_up(now)
    await apply_retention(now)
