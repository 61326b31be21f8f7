"""The clock for schedules.

All processes share the database's clock. Otherwise a machine with a wrong clock would shift all schedules.
Between two readings, the time advances with the monotonic clock.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

from monitoring.backends.errors import BackendUnavailable

READ_INTERVAL_SECONDS = 1.0

# If a reading differs from the expected time by less than this, the clock was corrected gradually and did not
# jump. Such a correction hardly affects schedules, because checks are at least 30 seconds apart.
SMALLEST_JUMP = timedelta(seconds=10)

# A stored time that is later than the latest valid time by more than this counts as wrong, because only a
# clock that was ahead can have written it.
TOLERANCE = timedelta(minutes=2)

# For this long after a jump, no data is deleted by age, because the clock may still be corrected.
SETTLING = timedelta(hours=1)

log = logging.getLogger(__name__)


def read_machine_time() -> datetime:
    """Read this machine's clock."""
    return datetime.now(UTC)


class Clock:
    """The database's clock, or this machine's clock if the database has none (SQLite).

    `monotonic` returns seconds and never goes back. If it stops while the machine sleeps, the sleep is
    treated as a jump of the clock.
    """

    def __init__(
        self,
        read_database_time: Callable[[], Awaitable[datetime]] | None = None,
        read_machine_time: Callable[[], datetime] = read_machine_time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._read_database_time = read_database_time
        self._machine = _Dial("This machine's clock", monotonic, read_machine_time())
        self._believed = self._machine
        self._read_machine_time = read_machine_time
        self._monotonic = monotonic
        self._jumped_at: float | None = None

    def now(self) -> datetime:
        """Return the current time in UTC."""
        return self._believed.now()

    @property
    def is_known(self) -> bool:
        """Whether the database's clock has been read. Also true if the database has no clock."""
        return self._read_database_time is None or self._believed is not self._machine

    @property
    def is_settled(self) -> bool:
        """Whether SETTLING has passed since the last jump of the clock, or there was no jump."""
        since = None if self._jumped_at is None else self._monotonic() - self._jumped_at
        return since is None or since >= SETTLING.total_seconds()

    async def read(self) -> None:
        """Read the clocks, and log a warning if one has jumped since the last reading.

        While the database is unavailable, the time last read from it advances with the monotonic clock.
        """
        if self._machine.set(self._read_machine_time()) and self._believed is self._machine:
            self._note_jump()
        if self._read_database_time is None:
            return
        try:
            moment = await self._read_database_time()
        except BackendUnavailable:
            return
        if self._believed is self._machine:
            self._begin_to_believe(moment)
        elif self._believed.set(moment):
            self._note_jump()

    def _begin_to_believe(self, moment: datetime) -> None:
        ahead = self._machine.now() - moment
        if abs(ahead) >= SMALLEST_JUMP:
            log.warning(
                "This machine's clock is %s the database's clock. The service uses the database's clock",
                _compare(ahead),
            )
        self._believed = _Dial("The database's clock", self._monotonic, moment)

    def _note_jump(self) -> None:
        self._jumped_at = self._monotonic()


class _Dial:
    """A clock's last reading, advanced by the monotonic clock."""

    def __init__(self, name: str, monotonic: Callable[[], float], moment: datetime) -> None:
        self._name = name
        self._monotonic = monotonic
        self._moment, self._read_at = moment, monotonic()

    def now(self) -> datetime:
        return self._moment + timedelta(seconds=self._monotonic() - self._read_at)

    def set(self, moment: datetime) -> bool:
        """Store a reading, and return whether the clock has jumped. A jump is logged."""
        ahead = moment - self.now()
        self._moment, self._read_at = moment, self._monotonic()
        if abs(ahead) < SMALLEST_JUMP:
            return False
        log.warning(
            "%s jumped: it is %s the time that has passed since its last reading. What time it was "
            "between the two readings is unknown",
            self._name,
            _compare(ahead),
        )
        return True


def _compare(ahead: timedelta) -> str:
    return f"{abs(ahead.total_seconds()):.0f} s {'ahead of' if ahead > timedelta() else 'behind'}"
