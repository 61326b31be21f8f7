"""The background work: Dramatiq's tasks, and the sweep that finds work for which no message was sent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

from monitoring.articles.engine_runner import open_engine
from monitoring.articles.queueing import measure_translations
from monitoring.articles.site.addresses import Addresses
from monitoring.articles.site.writing import SiteWriter
from monitoring.articles.sweeping import (
    complete_older_articles,
    queue_missing_locales,
    release_abandoned_claims,
    sweep,
    sweep_test_articles,
)
from monitoring.articles.withdrawal import sweep_removals, withdraw_again
from monitoring.auth.queries import delete_expired_revocations
from monitoring.backends.assembly import Backends
from monitoring.backends.current import current_backends
from monitoring.backends.errors import BackendUnavailable
from monitoring.backends.repeating import repeat
from monitoring.checks.upkeep import keep_up, measure_checks
from monitoring.history.retention import apply_retention
from monitoring.idempotency.service import delete_expired_keys
from monitoring.members.kept_answers import delete_old_answers
from monitoring.members.password_links import delete_expired_links
from monitoring.metrics import BACKLOG_MEASUREMENTS, forget_the_service
from monitoring.monitors.deleting import carry_out_deletions
from monitoring.monitors.maintenance.keeping import (
    KEEP_INTERVAL_SECONDS,
    delete_ended_windows,
    keep_maintenance,
)
from monitoring.monitors.reminders import remind
from monitoring.notifications.backlog import measure_notifications
from monitoring.notifications.channels.sender import open_sender
from monitoring.notifications.invitation_emails import sweep_invitations
from monitoring.notifications.password_emails import sweep_password_links
from monitoring.notifications.sweeping import (
    delete_old_deliveries,
    sweep_misdated_notifications,
    sweep_notifications,
)

# This interval is longer than that of sweeps, because each measurement counts every row that is not done.
MEASURE_INTERVAL_SECONDS = 30.0

# Rollups are computed some time after the end of an hour. A minute's delay matters little.
UPKEEP_INTERVAL_SECONDS = 60.0

# This interval is longer than that of sweeps, because each run counts every row. Crawlers and feed readers
# come less often than once a minute.
SITE_INTERVAL_SECONDS = 60.0


@asynccontextmanager
async def run_worker(backends: Backends, *, is_alone: bool = False) -> AsyncIterator[None]:
    """Run tasks and sweeps until the context ends.

    If the context ends normally, running tasks have SHUTDOWN_TIMEOUT_SECONDS to finish. If an exception or a
    cancellation ends it, they are cancelled immediately.

    `is_alone` means that no other process works on this database (embedded mode). In that case, the claims of
    a killed process are released at the start, rather than when their leases end.
    """
    with backends.activate():
        async with open_engine(backends.settings), open_sender(backends.settings):
            await backends.clock.read()  # before the first claim, which uses its time
            if is_alone:
                with suppress(BackendUnavailable):  # on failure, the leases end by themselves
                    await release_abandoned_claims()
            backends.start_worker()
            repeated = [
                repeat(_sweeping(), backends.settings.sweep_interval_seconds, "The sweep"),
                repeat(sweep_removals, backends.settings.sweep_interval_seconds, "Removing files"),
                repeat(_keep_maintenance, KEEP_INTERVAL_SECONDS, "Starting and ending maintenance"),
                repeat(_keep_up, UPKEEP_INTERVAL_SECONDS, "The periodic upkeep"),
            ]
            if pattern := backends.settings.site_page_url:
                writer = SiteWriter(Addresses(pattern))
                repeated.append(
                    repeat(writer.write_if_changed, SITE_INTERVAL_SECONDS, "Writing sitemap and feeds")
                )
            if backends.settings.metrics_port is not None:
                repeated.append(repeat(_measure, MEASURE_INTERVAL_SECONDS, "Measuring the backlog"))
            background = [asyncio.create_task(each) for each in repeated]
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


def _sweeping() -> Callable[[], Awaitable[None]]:
    knows_all_locales = False

    async def sweep_once() -> None:
        nonlocal knows_all_locales
        await sweep_notifications()  # first, because incidents are urgent and articles can wait
        await sweep_password_links()
        await sweep_invitations()
        await sweep()
        if not knows_all_locales:  # last, because it may take long and must not hold up the others
            await withdraw_again()
            await queue_missing_locales()
            await complete_older_articles()
            knows_all_locales = True

    return sweep_once


async def _keep_maintenance() -> None:
    await keep_maintenance(current_backends().clock.now())


async def _keep_up() -> None:
    clock = current_backends().clock
    now = clock.now()
    await sweep_misdated_notifications()
    await keep_up(now)
    await remind(now)
    if not clock.is_settled:
        return  # the rest deletes rows by age, and the clock may still be corrected after a jump
    await sweep_test_articles(now)
    await carry_out_deletions(now)
    await apply_retention(now)
    await delete_old_deliveries(now)
    await delete_ended_windows(now)
    await delete_expired_revocations(now)
    await delete_expired_keys(now)
    await delete_expired_links(now)
    await delete_old_answers(now)


async def _measure() -> None:
    try:
        await measure_notifications()
        await measure_checks()
        await measure_translations()
    except BackendUnavailable:  # the sweep reports it
        forget_the_service()
    else:
        BACKLOG_MEASUREMENTS.inc()
