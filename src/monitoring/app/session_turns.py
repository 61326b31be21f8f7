"""Limits on each session's concurrent requests, so that one session cannot delay the others."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from uuid import UUID
from weakref import WeakValueDictionary

from monitoring.contract.problems import Problem
from monitoring.metrics import RATE_LIMIT_HITS

# The most requests of one session that are processed at a time. The limit is low, because rendering a page
# blocks the process for milliseconds.
AT_ONCE = 4

# The most open live pages of one session. Hidden pages are not counted. Nobody has this many visible windows.
FOLLOWED_AT_ONCE = 20


class Turns:
    """Counts and limits each session's concurrent requests and live pages in this process."""

    def __init__(self) -> None:
        self._of_sessions: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()
        self._followed: Counter[UUID] = Counter()

    def take(self, token: str) -> AbstractAsyncContextManager[None]:
        """Return a context manager that admits at most `AT_ONCE` requests of a session's token at a time."""
        return self._of_sessions.setdefault(token, asyncio.Semaphore(AT_ONCE))

    @contextmanager
    def follow(self, session_id: UUID, retry_after_seconds: int) -> Iterator[None]:
        """Count an open live page of a session until the block ends.

        Raises `Problem("rate_limited")` if the session already has `FOLLOWED_AT_ONCE` open live pages.
        """
        if self._followed[session_id] >= FOLLOWED_AT_ONCE:
            RATE_LIMIT_HITS.labels("followed_pages").inc()
            raise Problem("rate_limited", retry_after_seconds=retry_after_seconds)
        self._followed[session_id] += 1
        try:
            yield
        finally:
            self._followed[session_id] -= 1
            if not self._followed[session_id]:
                del self._followed[session_id]
