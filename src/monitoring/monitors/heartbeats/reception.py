"""Notes when pings could be received, so that nobody is accused of a ping that was lost with us.

Each process that takes pings writes the same row every two seconds, because what it promises by a 200 takes a
database that can be written, too. A gap in these notes is a time in which pings may have been lost: a stopped
service, a database that was away, a machine that slept, or a clock that jumped ahead.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from monitoring.backends.current import current_backends
from monitoring.backends.database import transaction
from monitoring.monitors.heartbeats.models import Heartbeat, PingReception

NOTE_INTERVAL_SECONDS = 2.0

# A process that is busy may be late to note that it runs. One that starts knows that it did not run before.
LONGEST_SILENCE = timedelta(seconds=10)
LONGEST_SILENCE_AT_START = timedelta(seconds=3)

_ROW = 1


class Receiver:
    """Notes for one process that it can receive pings."""

    def __init__(self) -> None:
        self._longest_silence = LONGEST_SILENCE_AT_START

    async def note(self) -> None:
        """Note that pings can be received, if anybody may send one. Raises `DatabaseUnavailable`."""
        if await Heartbeat.exists():
            await _note(current_backends().clock.now(), self._longest_silence)
        self._longest_silence = LONGEST_SILENCE


async def note_interruption(now: datetime) -> None:
    """Note that pings could not be received just before `now`, as this service found out otherwise."""
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
