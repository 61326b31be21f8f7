"""Readiness of the backends: whether they accept writes. A full disk still answers reads.

`places_to_write` serves a single check. `SignsOfLife` is for frequent probes, and answers within a second,
however long a backend hangs.
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

# Anybody may probe as often as they like, and must not cause as many writes.
GOOD_REMEMBERED_SECONDS = 5.0
BAD_REMEMBERED_SECONDS = 1.0

# Not shorter, because a sign of life of the blog storage is a write, which a cloud charges for.
WATCH_INTERVAL_SECONDS = 15.0


class Place(Protocol):
    """A backend that work writes to."""

    @property
    def outage(self) -> Outage | None:
        """The outage of the backend; None if it is within this process."""

    async def try_to_write(self) -> None:
        """Write something small and invisible. Raises `BackendUnavailable` with the reason."""


def places_to_write(backends: Backends) -> dict[str, Place | None]:
    """Return the backends that accept writes, by name; None for one that is not configured."""
    return {
        "database": backends.database,
        "blog_storage": backends.blog_storage,
        "queue": backends.queue,
    }


@asynccontextmanager
async def open_signs_of_life(backends: Backends) -> AsyncIterator[SignsOfLife]:
    """Open the probes of all backends, and watch them and the clock, until the context ends."""
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
    """Probes all backends of a process, and exports the results as metrics."""

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
        """Update the gauges of the backends, and find out whether an outage is over.

        Without METRICS_PORT nobody reads the gauges. An outage that only a write ends may still wait for one.
        """
        if self._backends.settings.metrics_port is not None:
            await self.judge()
            self._backends.database.measure_pool()
        elif any(sign and sign.has_outage for sign in self._signs.values()):
            await self.judge()

    async def close(self) -> None:
        """Cancel probes that still hang."""
        for sign in filter(None, self._signs.values()):
            await sign.close()


class SignOfLife:
    """Probes one backend. Simultaneous callers wait for the same probe.

    A success counts for five seconds, and no longer once work has failed. A probe is not cancelled when its
    callers give up, because a client of a silent server may take as long to cancel as to fail.
    """

    def __init__(self, place: Place) -> None:
        self._place = place
        self._asking: asyncio.Task[BackendUnavailable | None] | None = None
        self._answered_at = 0.0
        self._was_good = False

    @property
    def has_outage(self) -> bool:
        """Whether an outage was logged that is not over."""
        return self._place.outage is not None and self._place.outage.is_on

    async def wait(self) -> None:
        """Return when the backend has answered. Raises `BackendUnavailable` after a second without answer."""
        if self._asking is None or (self._asking.done() and self._is_forgotten()):
            self._asking = asyncio.create_task(self._ask_and_remember())
        await asyncio.wait([self._asking], timeout=PATIENCE_SECONDS)
        if not self._asking.done():
            raise BackendUnavailable("no answer in time")
        if failure := self._asking.result():
            raise failure

    def _is_forgotten(self) -> bool:
        outage = self._place.outage
        if self._was_good and outage and outage.has_failed_since(self._answered_at):
            return True
        is_trusted = self._was_good and not self.has_outage
        seconds = GOOD_REMEMBERED_SECONDS if is_trusted else BAD_REMEMBERED_SECONDS
        return time.monotonic() >= self._answered_at + seconds

    async def _ask_and_remember(self) -> BackendUnavailable | None:
        """Return what failed, since nobody would retrieve an exception when the callers have given up."""
        self._was_good = False
        try:
            await self._place.try_to_write()
        except BackendUnavailable as error:
            note_delay("Readiness", error)
            return error
        finally:
            self._answered_at = time.monotonic()
        self._was_good = True
        return None

    async def close(self) -> None:
        """Cancel a probe that still hangs."""
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
