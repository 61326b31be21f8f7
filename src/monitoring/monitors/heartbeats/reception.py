"""Records when pings could be received, so that a ping that this service lost does not count as missing.

Every process that receives pings updates the same row every two seconds. The row is in the database, because
receiving pings also requires a writable database. During a gap between updates, pings may have been lost,
because the service was stopped, the database was unavailable, the machine slept, or the clock jumped ahead.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from monitoring.backends.current import current_backends
from monitoring.backends.database import transaction
from monitoring.monitors.heartbeats.models import Heartbeat, PingReception

NOTE_INTERVAL_SECONDS = 2.0

# A time without updates that is longer than this counts as a gap. A running process may update late because
# it is busy, so its limit is longer. A process that has just started cannot have received earlier pings, so
# its limit is shorter.
LONGEST_SILENCE = timedelta(seconds=10)
LONGEST_SILENCE_AT_START = timedelta(seconds=3)

_ROW = 1


class Receiver:
    """Records that one process can receive pings."""

    def __init__(self) -> None:
        self._longest_silence = LONGEST_SILENCE_AT_START

    async def note(self) -> None:
        """Record that pings can be received, if any heartbeat exists. Raises `DatabaseUnavailable`."""
        if await Heartbeat.exists():
            await _note(current_backends().clock.now(), self._longest_silence)
        self._longest_silence = LONGEST_SILENCE


async def note_interruption(now: datetime) -> None:
    """Record that pings could not be received just before `now`, even without a gap between updates."""
    await PingReception.filter(id=_ROW).update(interrupted_until=now)


async def _note(now: datetime, longest_silence: timedelta) -> None:
    async with transaction():
        reception, is_new = await PingReception.get_or_create({"received_until": now}, id=_ROW)
        if is_new:
            return
        reception = await PingReception.select_for_update().get(id=_ROW)
        if now - reception.received_until > longest_silence:
            reception.interrupted_until = now
        reception.received_until = now
        await reception.save()
