"""Logs outages: one warning when a server becomes unavailable, and one line when it has recovered.

Callers that can work without the server also use a circuit breaker.
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

# A success within this time after a failure does not end the outage, because a server that serves some
# requests and fails others, such as one with a full disk, has not recovered.
SETTLING_SECONDS = 5.0

log = logging.getLogger(__name__)


class Outage:
    """A server's outage state. The beginning and end of each outage are logged once.

    A success ends the outage only if no failure occurred for `settling_seconds`.
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
        self._noting = threading.Lock()  # if several threads fail at once, only one logs a warning

    @property
    def is_on(self) -> bool:
        """Whether the server is unavailable, as far as this process knows."""
        return self._began_at is not None

    def has_failed_since(self, moment: float) -> bool:
        """Return whether a failure occurred after `moment`, a time on this outage's clock."""
        return self._failed_at > moment

    def begin(self, error: Exception, *, refuses_writes: bool = False) -> None:
        """Record a failure. Only an outage's first failure is logged.

        With `refuses_writes`, only a successful write ends the outage, because reads may still succeed, for
        example if the disk is full.
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
        """Count a refusal for the log line at the outage's end. `what` is `request` or `task`."""
        with self._noting:
            self._refused[what] += 1

    def end(self, *, wrote: bool = False) -> None:
        """Record a success. If it ends the outage, log its duration and the number of refusals."""
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
    """A circuit breaker, for callers that can work without a server."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._retry_at: float | None = None

    def may_try(self) -> bool:
        """Return whether to try the server. After a failure, only one caller may try every few seconds."""
        if self._retry_at is None:
            return True
        now = self._clock()
        if now < self._retry_at:
            return False
        self._retry_at = now + RETRY_AFTER_SECONDS  # so that no other caller waits as well
        return True

    def open(self) -> None:
        """Record a failure, after which callers must wait before trying again."""
        self._retry_at = self._clock() + RETRY_AFTER_SECONDS

    def close(self) -> None:
        """Record a success, after which all callers may try again."""
        self._retry_at = None


@cache
def outage_of(server: str, meanwhile: str = "") -> Outage:
    """Return a server's outage state, which all clients in this process share, so that it is logged once.

    `server` is a description such as `The database at db.example.com:5432/monitoring`. `meanwhile` describes
    what the service does without the server.
    """
    return Outage(f"{server} is away{meanwhile and ': '}{meanwhile}", settling_seconds=SETTLING_SECONDS)


def note_refusal(what: str, error: Exception) -> None:
    """Log why a request or task is refused. `what` is `request` or `task`.

    A refusal that an outage caused is only counted, because the outage has already been logged.
    """
    outage = error.outage if isinstance(error, BackendUnavailable) else None
    if outage:
        outage.refuse(what)
    else:
        log.warning("A %s is refused: %s", what, error)


def note_delay(what: str, error: BackendUnavailable) -> None:
    """Log why work is delayed, unless the cause is an outage, which has already been logged."""
    if not error.outage:
        log.warning("%s is delayed: %s", what, error)
