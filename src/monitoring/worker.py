"""The background process: Dramatiq's tasks, and the sweep that finds work no message asks for."""

from __future__ import annotations

import asyncio
import logging
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

from monitoring.articles.sweeping import queue_missing_locales, release_abandoned_claims, sweep
from monitoring.articles.translators import open_translator
from monitoring.backends.errors import BackendUnavailable
from monitoring.monitors.idempotency import delete_expired_keys

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from monitoring.backends.assembly import Backends

log = logging.getLogger(__name__)


@asynccontextmanager
async def run_worker(backends: Backends, *, is_alone: bool = False) -> AsyncIterator[None]:
    """Run tasks and sweeps until the context ends.

    `is_alone` says that no other process works on this database (the embedded mode): whatever a killed
    process had claimed is free again at once, without waiting for its lease to end.
    """
    with backends.activate():
        async with open_translator(backends):
            if is_alone:
                with suppress(BackendUnavailable):  # then the leases run out by themselves
                    await release_abandoned_claims()
            backends.start_worker()
            sweeping = asyncio.create_task(_sweep_forever(backends.settings.sweep_interval_seconds))
            try:
                yield
            finally:
                sweeping.cancel()
                with suppress(asyncio.CancelledError):
                    await sweeping
                await backends.stop_worker()


async def _sweep_forever(interval_seconds: float) -> None:
    knows_all_locales = False
    while True:
        try:
            if not knows_all_locales:
                await queue_missing_locales()
                knows_all_locales = True
            await sweep()
            await delete_expired_keys()
        except BackendUnavailable as error:
            log.warning("The sweep waits: %s", error)
        except Exception:
            log.exception("A sweep failed; the next one tries again")
        await asyncio.sleep(interval_seconds)
