"""Work that is repeated as long as a process runs."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from monitoring.backends.errors import BackendUnavailable
from monitoring.backends.outage import note_delay

log = logging.getLogger(__name__)


async def repeat(work: Callable[[], Awaitable[object]], interval_seconds: float, name: str) -> None:
    """Call `work` repeatedly, with pauses, until cancelled. Failures are logged under `name`."""
    while True:
        try:
            await work()
        except BackendUnavailable as error:
            note_delay(name, error)
        except Exception:
            log.exception("%s failed and will be tried again", name)
        await asyncio.sleep(interval_seconds)
