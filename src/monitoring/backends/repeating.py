"""Repeats work until it is cancelled, or polls until a condition holds."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TypeVar

from monitoring.backends.errors import BackendUnavailable
from monitoring.backends.outage import note_delay

log = logging.getLogger(__name__)

LOOK_AGAIN_SECONDS = 0.1

Seen = TypeVar("Seen")


async def repeat(work: Callable[[], Awaitable[object]], interval_seconds: float, name: str) -> None:
    """Call `work` until cancelled, pausing `interval_seconds` after each call. Log failures with `name`."""
    while True:
        try:
            await work()
        except BackendUnavailable as error:
            note_delay(name, error)
        except Exception:
            log.exception("%s failed and will be tried again", name)
        await asyncio.sleep(interval_seconds)


async def wait_until(
    is_over: Callable[[Seen], bool], look: Callable[[], Awaitable[Seen]], patience: timedelta
) -> Seen:
    """Poll `look` until `is_over` accepts its result or `patience` has passed. Returns the last result."""
    until = time.monotonic() + patience.total_seconds()
    while True:
        seen = await look()
        if is_over(seen) or time.monotonic() >= until:
            return seen
        await asyncio.sleep(LOOK_AGAIN_SECONDS)
