"""Signs of life of the backends, within a second, however long a backend hangs."""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from monitoring.backends.errors import BackendUnavailable, DatabaseUnavailable
from monitoring.backends.repeating import repeat
from monitoring.metrics import BACKEND_UP, forget_the_service

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from monitoring.backends.assembly import Backends

# A readiness probe gets an answer within two seconds: a backend that hangs for this long counts as away.
PATIENCE_SECONDS = 1.0

# Strangers may ask for the readiness as often as they like, and must not make as many questions of it.
REMEMBERED_SECONDS = 1.0
GOOD_STORAGE_REMEMBERED_SECONDS = 5.0  # a cloud wants to be paid for each question

# Not shorter, because a sign of life of the blog storage is a write that a cloud wants to be paid for.
WATCH_INTERVAL_SECONDS = 15.0

log = logging.getLogger(__name__)


@asynccontextmanager
async def open_signs_of_life(backends: Backends) -> AsyncIterator[SignsOfLife]:
    """Be able to ask the backends until the context ends. With METRICS_PORT, ask them all the time too."""
    signs, watching = SignsOfLife(backends), None
    if backends.settings.metrics_port is not None:
        watching = asyncio.create_task(repeat(signs.watch, WATCH_INTERVAL_SECONDS, "Watching the backends"))
    try:
        yield signs
    finally:
        if watching:
            watching.cancel()
            await asyncio.wait([watching])
        await signs.close()


class SignsOfLife:
    """Asks all backends of a process, and lets the metrics know what they answer."""

    def __init__(self, backends: Backends) -> None:
        self._backends = backends
        self._is_schema_newest = False
        storage = backends.blog_storage
        self._signs = {
            "database": SignOfLife(self._ask_database),
            "blog_storage": SignOfLife(storage.check, GOOD_STORAGE_REMEMBERED_SECONDS) if storage else None,
            "queue": SignOfLife(backends.queue.check),
        }

    async def judge(self) -> dict[str, str]:
        """Return by the name of each backend whether it is `ok`, `away` or `not_configured`."""
        verdicts = dict(
            zip(self._signs, await asyncio.gather(*map(_judge, self._signs.values())), strict=True)
        )
        for backend, verdict in verdicts.items():
            if verdict != "not_configured":
                BACKEND_UP.labels(backend).set(verdict == "ok")
        if verdicts["database"] == "away":
            forget_the_service()
        return verdicts

    async def watch(self) -> None:
        """Bring the gauges of the backends up to date."""
        await self.judge()
        self._backends.database.measure_pool()

    async def close(self) -> None:
        """Drop questions that still hang."""
        for sign in filter(None, self._signs.values()):
            await sign.close()

    async def _ask_database(self) -> None:
        await self._demand_newest_schema()
        await self._backends.database.check()

    async def _demand_newest_schema(self) -> None:
        """Ask until the schema is the newest: the database may have been away when the process started."""
        if not self._is_schema_newest:
            if pending := await self._backends.database.find_pending_migrations():
                log.warning("Not ready: the database is not migrated yet (%s)", ", ".join(pending))
                raise DatabaseUnavailable("not migrated yet")
            self._is_schema_newest = True


class SignOfLife:
    """Asks one backend, one question at a time: callers who come while it hangs wait for the same answer.

    An answer counts for a second, a good one for as long as you say. A question is not cancelled when its
    callers give up, because a client of a silent server may take as long to cancel as to fail.
    """

    def __init__(
        self, ask: Callable[[], Awaitable[None]], good_remembered_seconds: float = REMEMBERED_SECONDS
    ) -> None:
        self._ask = ask
        self._good_remembered_seconds = good_remembered_seconds
        self._asking: asyncio.Task[None] | None = None
        self._forgotten_at = 0.0  # when the answer no longer counts

    async def wait(self) -> None:
        """Return when the backend has answered. Raises `BackendUnavailable` after a second without answer."""
        if self._asking is None or (self._asking.done() and time.monotonic() >= self._forgotten_at):
            self._asking = asyncio.create_task(self._ask_and_remember())
        await asyncio.wait([self._asking], timeout=PATIENCE_SECONDS)
        if not self._asking.done():
            raise BackendUnavailable("no answer in time")
        self._asking.result()

    async def _ask_and_remember(self) -> None:
        remembered_seconds = REMEMBERED_SECONDS
        try:
            await self._ask()
            remembered_seconds = self._good_remembered_seconds
        finally:
            self._forgotten_at = time.monotonic() + remembered_seconds

    async def close(self) -> None:
        """Drop a question that still hangs."""
        if self._asking and not self._asking.done():
            self._asking.cancel()
            await asyncio.wait([self._asking])


async def _judge(backend: SignOfLife | None) -> str:
    if backend is None:
        return "not_configured"
    try:
        await backend.wait()
    except BackendUnavailable:
        return "away"
    return "ok"
