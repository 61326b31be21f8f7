"""A circuit breaker with manners: one warning when a server goes away, one line when it is back."""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

RETRY_AFTER_SECONDS = 5.0

log = logging.getLogger(__name__)


class Outage:
    """Remembers that a server failed, so that it is asked again only after some seconds."""

    def __init__(
        self,
        warning: str,
        retry_after_seconds: float = RETRY_AFTER_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._warning = warning
        self._retry_after_seconds = retry_after_seconds
        self._clock = clock
        self._retry_at: float | None = None
        self._noting = threading.Lock()  # of threads that fail at once, one warns

    def may_try(self) -> bool:
        """Say whether to ask the server. In an outage one caller may, now and then; the others do without."""
        if self._retry_at is None:
            return True
        now = self._clock()
        if now < self._retry_at:
            return False
        self._retry_at = now + self._retry_after_seconds  # so that the others need not wait too
        return True

    def begin(self, error: Exception) -> None:
        """Note a failure; only the first of an outage is logged."""
        with self._noting:
            if self._retry_at is None:
                log.warning("%s (%s)", self._warning, type(error).__name__)
            self._retry_at = self._clock() + self._retry_after_seconds

    def end(self) -> None:
        """Note a success; logged if there was an outage."""
        with self._noting:
            if self._retry_at is not None:
                log.info("Over: %s", self._warning)
            self._retry_at = None
