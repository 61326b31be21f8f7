"""An outage in the log: one warning when a server goes away, and one line when it is back.

It is a circuit breaker too, for callers that can do without the server.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING

from monitoring.backends.errors import BackendUnavailable, describe_error

if TYPE_CHECKING:
    from collections.abc import Callable

RETRY_AFTER_SECONDS = 5.0

# A server that answers some callers and fails others, such as one with a full disk, has not recovered.
SETTLING_SECONDS = 5.0

log = logging.getLogger(__name__)


class Outage:
    """Remembers that a server failed, so that it is asked again only after some seconds.

    `settling_seconds` is how long nothing may fail before a success counts as the end.
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
        self._retry_at = 0.0
        self._refused: Counter[str] = Counter()
        self._noting = threading.Lock()  # if several threads fail at once, one warns

    @property
    def is_on(self) -> bool:
        """Whether the server is away, as far as anybody knows."""
        return self._began_at is not None

    def may_try(self) -> bool:
        """Say whether to ask the server. In an outage one caller may every few seconds, and no other."""
        if self._began_at is None:
            return True
        now = self._clock()
        if now < self._retry_at:
            return False
        self._retry_at = now + RETRY_AFTER_SECONDS  # so that no other caller waits as well
        return True

    def begin(self, error: Exception) -> None:
        """Note a failure; only the first of an outage is logged."""
        with self._noting:
            now = self._clock()
            if self._began_at is None:
                log.warning("%s (%s)", self._warning, describe_error(error))
                self._began_at = now
            self._failed_at = now
            self._answered_at = None
            self._retry_at = now + RETRY_AFTER_SECONDS

    def refuse(self, what: str) -> None:
        """Count a request or a task that could not be served, to tell their number at the end."""
        with self._noting:
            self._refused[what] += 1

    def end(self) -> None:
        """Note a success. If it ends an outage, log how long that was and what was refused."""
        if self._began_at is None:
            return
        with self._noting:
            now = self._clock()
            if self._began_at is None:
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
            self._refused.clear()


@cache
def outage_of(server: str) -> Outage:
    """Return the outage of a server, such as `The database at db.example.com:5432/monitoring`.

    All clients of this process share it: one that only looks at the schema at the start, and the one that
    serves from then on, tell of the same outage once.
    """
    return Outage(f"{server} is away", settling_seconds=SETTLING_SECONDS)


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
