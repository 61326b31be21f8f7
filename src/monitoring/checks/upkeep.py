"""The upkeep that checks need: partitions for new days, honest statuses, and rollups."""

from __future__ import annotations

from datetime import datetime, timedelta

from monitoring.checks.unwatched import tell_unwatched
from monitoring.history.partitions import ensure_partitions
from monitoring.history.rollups import roll_up

# Storing makes a partition that is missing, but then every process that stores has to wait for it.
DAYS_AHEAD = timedelta(days=3)


async def keep_up(now: datetime) -> None:
    """Do what is due. If nothing is, this costs a few look-ups. Several processes may do it at once."""
    await ensure_partitions(now - timedelta(days=1), now + DAYS_AHEAD)
    await tell_unwatched(now)
    await roll_up(now)
