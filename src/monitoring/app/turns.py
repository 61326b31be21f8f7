"""The requests of one session take turns, so that those of others never wait behind many of them."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from uuid import UUID
from weakref import WeakValueDictionary

from monitoring.contract.problems import Problem
from monitoring.metrics import RATE_LIMIT_HITS

# A page takes some milliseconds of its process. So many of one session are in progress at a time.
AT_ONCE = 4

# Nobody looks at more windows at once, and a page that nobody looks at is not followed.
FOLLOWED_AT_ONCE = 20


class Turns:
    """What one session may have going on in this process at a time."""

    def __init__(self) -> None:
        self._of_sessions: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()
        self._followed: Counter[UUID] = Counter()

    def take(self, token: str) -> AbstractAsyncContextManager[None]:
        """Wait until fewer than `AT_ONCE` requests with a token are in progress, first come, first served."""
        return self._of_sessions.setdefault(token, asyncio.Semaphore(AT_ONCE))

    @contextmanager
    def follow(self, session_id: UUID, retry_after_seconds: int) -> Iterator[None]:
        """Count a followed page of a session. Raises `Problem("rate_limited")` if it has too many."""
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
