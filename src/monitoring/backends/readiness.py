"""Signs of life of the backends, within a second, however long a backend hangs."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from monitoring.backends.errors import BackendUnavailable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

# A readiness probe gets an answer within two seconds: a backend that hangs for this long counts as away.
PATIENCE_SECONDS = 1.0


class SignOfLife:
    """Asks one backend, one question at a time: callers who come while it hangs wait for the same answer.

    A question is not cancelled when its callers give up, because a client of a silent server may take as long
    to cancel as to fail.
    """

    def __init__(self, ask: Callable[[], Awaitable[None]]) -> None:
        self._ask = ask
        self._asking: asyncio.Task[None] | None = None

    async def wait(self) -> None:
        """Return when the backend has answered. Raises `BackendUnavailable` after a second without answer."""
        if self._asking is None or self._asking.done():
            self._asking = asyncio.create_task(_await(self._ask()))
        await asyncio.wait([self._asking], timeout=PATIENCE_SECONDS)
        if not self._asking.done():
            raise BackendUnavailable("no answer in time")
        self._asking.result()

    async def close(self) -> None:
        """Drop a question that still hangs."""
        if self._asking and not self._asking.done():
            self._asking.cancel()
            await asyncio.wait([self._asking])


async def _await(asked: Awaitable[None]) -> None:
    await asked
