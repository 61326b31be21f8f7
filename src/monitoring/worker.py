"""The background process: Dramatiq's tasks, and the sweep that finds work no message asks for."""

from __future__ import annotations

import asyncio
import logging
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

from monitoring.articles.backlog import measure_forever
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

    Left in peace, tasks may take SHUTDOWN_TIMEOUT_SECONDS to finish; left by an exception or cancelled, none.

    `is_alone` says that no other process works on this database (the embedded mode): whatever a killed
    process had claimed is free again at once, without waiting for its lease to end.
    """
    with backends.activate():
        async with open_translator(backends):
            if is_alone:
                with suppress(BackendUnavailable):  # then the leases run out by themselves
                    await release_abandoned_claims()
            backends.start_worker()
            background = [
                asyncio.create_task(_sweep_forever(backends.settings.sweep_interval_seconds)),
                asyncio.create_task(measure_forever()),
            ]
            finishing_seconds = 0.0
            try:
                yield
                finishing_seconds = backends.settings.shutdown_timeout_seconds
            finally:
                for task in background:
                    task.cancel()
                try:
                    await backends.stop_worker(finishing_seconds)
                finally:
                    await asyncio.wait(background)


async def _sweep_forever(interval_seconds: float) -> None:
    knows_all_locales = False
    while True:
        try:
            await sweep()
            await delete_expired_keys()
            if not knows_all_locales:  # last: it may take long, and must not keep the others from their work
                await queue_missing_locales()
                knows_all_locales = True
        except BackendUnavailable as error:
            log.warning("The sweep waits: %s", error)
        except Exception:
            log.exception("A sweep failed; the next one tries again")
        await asyncio.sleep(interval_seconds)
