"""A background process: a worker or a checker."""

from __future__ import annotations

from asyncio import AbstractEventLoop
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from multiprocessing.connection import Connection

from monitoring.backends.assembly import Backends, open_backends
from monitoring.backends.readiness import open_signs_of_life
from monitoring.backends.tasks import Task
from monitoring.cli.stopping import Stop, run_until_stopped, say_ready
from monitoring.settings import Settings
from monitoring.tracing import sending_traces


def run_in_background(
    settings: Settings,
    begin: Callable[[Backends], AbstractAsyncContextManager[object]],
    lifeline: Connection | None,
    *,
    tasks: Sequence[Task] | None = None,
    loop_factory: Callable[[], AbstractEventLoop] | None = None,
) -> None:
    """Run the work that `begin` starts until the process is stopped.

    `lifeline` is a child's connection to its supervisor, or None without one. `tasks` are the tasks that the
    process sends or runs. The default is all tasks. The process's metrics include the state of the backends.
    """

    async def work(stop: Stop) -> None:
        async with (
            open_backends(settings, tasks=tasks) as backends,
            open_signs_of_life(backends),
            begin(backends),
        ):
            if lifeline:
                say_ready(lifeline)
            await stop.wait()

    with sending_traces(settings):
        run_until_stopped(
            work, settings.shutdown_timeout_seconds, lifeline=lifeline, loop_factory=loop_factory
        )
