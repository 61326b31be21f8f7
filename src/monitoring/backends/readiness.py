"""Backend readiness: whether the backends accept writes. Reads succeed even if a disk is full.

`places_to_write` is for one-off checks. `SignsOfLife` is for frequent probes. It returns a result within a
second, even if a backend hangs.
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

# The timeout of a probe, after which the backend counts as unavailable. Readiness requests must end within
# two seconds.
PATIENCE_SECONDS = 1.0

# How long results are cached, so that frequent anonymous requests do not each cause a write.
GOOD_REMEMBERED_SECONDS = 5.0
BAD_REMEMBERED_SECONDS = 1.0

# The interval is not shorter, because a blog storage probe may be a write, for which a cloud provider
# charges.
WATCH_INTERVAL_SECONDS = 15.0


class Place(Protocol):
    """A backend that can be probed with a write."""

    @property
    def outage(self) -> Outage | None:
        """The backend's outage state. None if the backend is within this process."""

    async def try_to_write(self) -> None:
        """Write a small probe that users never see. Raises `BackendUnavailable` with the reason."""


def places_to_write(backends: Backends) -> dict[str, Place | None]:
    """Return the backends to probe, by name. None for a backend that is not configured."""
    return {
        "database": backends.database,
        "blog_storage": backends.blog_storage,
        "queue": backends.queue,
    }


@asynccontextmanager
async def open_signs_of_life(backends: Backends) -> AsyncIterator[SignsOfLife]:
    """Open probes for all backends. Until the context ends, run them and read the clock regularly."""
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
        """Return each backend's state by name: `ok`, `away` or `not_configured`."""
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
        """Update the backends' gauges, and detect the end of outages.

        Without METRICS_PORT, there are no gauges to update, so probes run only during outages. They are
        needed then, because some outages end only when a write succeeds.
        """
        if self._backends.settings.metrics_port is not None:
            await self.judge()
            self._backends.database.measure_pool()
        elif any(sign and sign.has_outage for sign in self._signs.values()):
            await self.judge()

    async def close(self) -> None:
        """Cancel running probes."""
        for sign in filter(None, self._signs.values()):
            await sign.close()


class SignOfLife:
    """A probe of one backend. Concurrent callers share the running attempt and its result.

    A success is cached for five seconds, or until other work fails. A probe is not cancelled when its callers
    time out, because cancelling a request to an unresponsive server may take as long as waiting for the
    failure.
    """

    def __init__(self, place: Place) -> None:
        self._place = place
        self._asking: asyncio.Task[BackendUnavailable | None] | None = None
        self._answered_at = 0.0
        self._was_good = False

    @property
    def has_outage(self) -> bool:
        """Whether the backend has an ongoing outage."""
        return self._place.outage is not None and self._place.outage.is_on

    async def wait(self) -> None:
        """Wait for a successful probe. Raises `BackendUnavailable` on failure or after PATIENCE_SECONDS."""
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
        """Probe the backend. Returns an error instead of raising it, because all callers may be gone."""
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
        """Cancel a running probe."""
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
