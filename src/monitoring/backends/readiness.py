"""Whether the backends do what work needs of them, which is to write: a full disk still answers who reads.

`places_to_write` are for whoever wants to know it now. `SignsOfLife` is for those who ask all the time, and
says it within a second, however long a backend hangs.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Protocol

from monitoring.backends.assembly import Backends
from monitoring.backends.clock import READ_INTERVAL_SECONDS
from monitoring.backends.errors import BackendUnavailable
from monitoring.backends.outage import Outage, note_delay
from monitoring.backends.repeating import repeat
from monitoring.metrics import BACKEND_UP, forget_the_service

# A readiness probe gets an answer within two seconds: a backend that hangs for this long counts as away.
PATIENCE_SECONDS = 1.0

# Strangers may ask for the readiness as often as they like, and must not cause as many writes.
GOOD_REMEMBERED_SECONDS = 5.0
BAD_REMEMBERED_SECONDS = 1.0

# Not shorter, because a sign of life of the blog storage is a write that a cloud wants to be paid for.
WATCH_INTERVAL_SECONDS = 15.0


class Place(Protocol):
    """A backend that work writes to."""

    @property
    def outage(self) -> Outage | None:
        """What the log tells of it; None if it is within this process."""

    async def try_to_write(self) -> None:
        """Write something small that nobody sees. Raises `BackendUnavailable`, which says why not."""


def places_to_write(backends: Backends) -> dict[str, Place | None]:
    """Return the backends that work writes to, by their names; None for one that is not configured."""
    return {
        "database": backends.database,
        "blog_storage": backends.blog_storage,
        "queue": backends.queue,
    }


@asynccontextmanager
async def open_signs_of_life(backends: Backends) -> AsyncIterator[SignsOfLife]:
    """Be able to ask the backends, and look after them and the clock, until the context ends."""
    signs = SignsOfLife(backends)
    watching = [
        asyncio.create_task(repeat(signs.watch, WATCH_INTERVAL_SECONDS, "Watching the backends")),
        asyncio.create_task(repeat(backends.clock.read, READ_INTERVAL_SECONDS, "Reading the clock")),
    ]
    try:
        yield signs
    finally:
        for task in watching:
            task.cancel()
        await asyncio.wait(watching)
        await signs.close()


class SignsOfLife:
    """Asks all backends of a process, and lets the metrics know what they answer."""

    def __init__(self, backends: Backends) -> None:
        self._backends = backends
        self._signs = {
            name: SignOfLife(place) if place else None for name, place in places_to_write(backends).items()
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
        """Bring the gauges of the backends up to date, and find out whether an outage is over.

        Without METRICS_PORT nobody reads the gauges. An outage that only a write ends may still wait for one.
        """
        if self._backends.settings.metrics_port is not None:
            await self.judge()
            self._backends.database.measure_pool()
        elif any(sign and sign.has_outage for sign in self._signs.values()):
            await self.judge()

    async def close(self) -> None:
        """Drop questions that still hang."""
        for sign in filter(None, self._signs.values()):
            await sign.close()


class SignOfLife:
    """Asks one backend, one question at a time: callers who come while it hangs wait for the same answer.

    A good answer counts for five seconds, but no more than another one if work has failed since. A question
    is not cancelled when its callers give up, because a client of a silent server may take as long to cancel
    as to fail.
    """

    def __init__(self, place: Place) -> None:
        self._place = place
        self._asking: asyncio.Task[None] | None = None
        self._answered_at = 0.0
        self._was_good = False

    @property
    def has_outage(self) -> bool:
        """Whether the log has told of an outage that is not over."""
        return self._place.outage is not None and self._place.outage.is_on

    async def wait(self) -> None:
        """Return when the backend has answered. Raises `BackendUnavailable` after a second without answer."""
        if self._asking is None or (self._asking.done() and self._is_forgotten()):
            self._asking = asyncio.create_task(self._ask_and_remember())
        await asyncio.wait([self._asking], timeout=PATIENCE_SECONDS)
        if not self._asking.done():
            raise BackendUnavailable("no answer in time")
        self._asking.result()

    def _is_forgotten(self) -> bool:
        is_trusted = self._was_good and not self.has_outage
        seconds = GOOD_REMEMBERED_SECONDS if is_trusted else BAD_REMEMBERED_SECONDS
        return time.monotonic() >= self._answered_at + seconds

    async def _ask_and_remember(self) -> None:
        self._was_good = False
        try:
            await self._place.try_to_write()
            self._was_good = True
        except BackendUnavailable as error:
            note_delay("Readiness", error)
            raise
        finally:
            self._answered_at = time.monotonic()

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
