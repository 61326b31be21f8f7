"""Logs outages: one warning when a server becomes unavailable, and one line when it is back.

Callers that can do without the server also have a circuit breaker.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable
from functools import cache

from monitoring.backends.errors import BackendUnavailable, describe_error

RETRY_AFTER_SECONDS = 5.0

# A server that answers some callers and fails others, such as one with a full disk, has not recovered.
SETTLING_SECONDS = 5.0

log = logging.getLogger(__name__)


class Outage:
    """An outage of a server, whose beginning and end are logged once each.

    A success ends the outage only if nothing failed for `settling_seconds`.
    """

    def __init__(
        self,
        warning: str,
        clock: Callable[[], float] = time.monotonic,
        settling_seconds: float = 0.0,
    ) -> None:
        self._warning = warning
        self._clock = clock
        self._settling_seconds = settling_seconds
        self._began_at: float | None = None
        self._failed_at = 0.0
        self._answered_at: float | None = None
        self._refuses_writes = False
        self._refused: Counter[str] = Counter()
        self._noting = threading.Lock()  # if several threads fail at once, one warns

    @property
    def is_on(self) -> bool:
        """Whether the server is away, as far as this process knows."""
        return self._began_at is not None

    def has_failed_since(self, moment: float) -> bool:
        """Return whether a failure was noted after a moment of the clock."""
        return self._failed_at > moment

    def begin(self, error: Exception, *, refuses_writes: bool = False) -> None:
        """Note a failure; only the first of an outage is logged.

        A server that refuses writes may still answer reads, for example if its disk is full. So only a
        successful write ends this outage.
        """
        with self._noting:
            now = self._clock()
            if self._began_at is None:
                log.warning("%s (%s)", self._warning, describe_error(error))
                self._began_at = now
            self._refuses_writes = self._refuses_writes or refuses_writes
            self._failed_at = now
            self._answered_at = None

    def refuse(self, what: str) -> None:
        """Count a request or a task that could not be served, for the log line at the end."""
        with self._noting:
            self._refused[what] += 1

    def end(self, *, wrote: bool = False) -> None:
        """Note a success. If it ends an outage, log how long that was and what was refused."""
        if self._began_at is None:
            return
        with self._noting:
            now = self._clock()
            if self._began_at is None or (self._refuses_writes and not wrote):
                return
            if self._answered_at is None:
                self._answered_at = now
            if now - self._failed_at < self._settling_seconds:
                return
            log.info(
                "Over: %s (for %.0f s; %d requests and %d tasks were refused)",
                self._warning,
                self._answered_at - self._began_at,
                self._refused["request"],
                self._refused["task"],
            )
            self._began_at = None
            self._refuses_writes = False
            self._refused.clear()


class Breaker:
    """A circuit breaker, for callers that can do without a server."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._retry_at: float | None = None

    def may_try(self) -> bool:
        """Return whether to ask the server. After a failure, only one caller may every few seconds."""
        if self._retry_at is None:
            return True
        now = self._clock()
        if now < self._retry_at:
            return False
        self._retry_at = now + RETRY_AFTER_SECONDS  # so that no other caller waits as well
        return True

    def open(self) -> None:
        """Note a failure."""
        self._retry_at = self._clock() + RETRY_AFTER_SECONDS

    def close(self) -> None:
        """Note a success: everybody may ask again."""
        self._retry_at = None


@cache
def outage_of(server: str, meanwhile: str = "") -> Outage:
    """Return the outage of a server, such as `The database at db.example.com:5432/monitoring`.

    All clients of this process share it, so that an outage is logged once, also if one client reads the
    schema at the start and another serves. `meanwhile` describes what the service does without the server.
    """
    return Outage(f"{server} is away{meanwhile and ': '}{meanwhile}", settling_seconds=SETTLING_SECONDS)


def note_refusal(what: str, error: Exception) -> None:
    """Log why a `request` or a `task` is refused, unless the outage that caused it has been logged."""
    outage = error.outage if isinstance(error, BackendUnavailable) else None
    if outage:
        outage.refuse(what)
    else:
        log.warning("A %s is refused: %s", what, error)


def note_delay(what: str, error: BackendUnavailable) -> None:
    """Log why some work has to wait, unless the outage that caused it has been logged."""
    if not error.outage:
        log.warning("%s has to wait: %s", what, error)
