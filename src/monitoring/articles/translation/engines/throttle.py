"""Limits a process's engine requests: their concurrency, and their number per time window."""

import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from monitoring.articles.translation.engines.protocol import STOPPED, TransientEngineError


class SlidingWindow:
    """Schedules requests so that any period of `window_seconds` contains at most `max_requests` requests."""

    def __init__(self, max_requests: int, window_seconds: float) -> None:
        self._window_seconds = window_seconds
        self._booked: deque[float] = deque(maxlen=max_requests)

    def book(self, now: float) -> float:
        """Reserve and return the next free time, which is `now` or later."""
        booked = now
        if len(self._booked) == self._booked.maxlen:
            booked = max(now, self._booked[0] + self._window_seconds)
        self._booked.append(booked)
        return booked


class Throttle:
    """Limits the requests of all threads that share an engine."""

    def __init__(self, concurrency: int = 4, window: SlidingWindow | None = None) -> None:
        self._places = threading.BoundedSemaphore(concurrency)
        self._window = window
        self._booking = threading.Lock()
        self._closed = threading.Event()

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait until a request may be sent. The caller sends it in this context.

        Raises TransientEngineError after `close`.
        """
        with self._places:
            if self._closed.wait(self._delay_seconds()):
                raise TransientEngineError(STOPPED)
            yield

    def close(self) -> None:
        """Reject all waiting and later requests, so that a stopping process waits only for running ones."""
        self._closed.set()

    def _delay_seconds(self) -> float:
        if self._window is None:
            return 0
        with self._booking:
            now = time.monotonic()
            return self._window.book(now) - now
