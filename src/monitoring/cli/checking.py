"""What a process of `monitoring checker` does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import uvloop

from monitoring.backends.tasks import find_tasks
from monitoring.checks.checker import run_checker
from monitoring.cli.commands import opened
from monitoring.cli.stopping import Stop, run_until_stopped
from monitoring.cli.supervising import say_ready
from monitoring.tracing import sending_traces

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from monitoring.settings import Settings

# A checker asks workers to send what it announces, and for nothing else. So articles need not be loaded.
TASKS = find_tasks(["monitoring.notifications.tasks"])


def check(settings: Settings, lifeline: Connection | None = None) -> None:
    """Check monitors until the process is stopped. A child has a lifeline."""

    async def check_on(stop: Stop) -> None:
        async with opened(settings, TASKS) as backends, run_checker(backends):
            if lifeline:
                say_ready(lifeline)
            await stop.wait()

    with sending_traces(settings):
        run_until_stopped(
            check_on, settings.shutdown_timeout_seconds, lifeline=lifeline, loop_factory=uvloop.new_event_loop
        )
