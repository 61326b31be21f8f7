"""Opens and closes all backends together."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from monitoring.backends.clock import Clock
from monitoring.backends.counters import Counters, open_counters
from monitoring.backends.current import _current, current_backends
from monitoring.backends.database import Database, open_database
from monitoring.backends.database_clients.configuration import MODEL_MODULES
from monitoring.backends.queue import TaskQueue
from monitoring.backends.statements import is_postgres
from monitoring.backends.tasks import Task, find_tasks
from monitoring.settings import Settings

if TYPE_CHECKING:
    from monitoring.backends.objects import BlogStorage

__all__ = ["Backends", "current_backends", "open_backends"]


@dataclass(frozen=True, slots=True)
class Backends:
    """The open backends of one app. `blog_storage` is None if none is configured."""

    settings: Settings
    database: Database
    blog_storage: BlogStorage | None
    counters: Counters
    clock: Clock
    queue: TaskQueue

    @contextmanager
    def activate(self) -> Iterator[None]:
        """Make these the current backends in this task and the tasks it starts."""
        token = _current.set(self)
        try:
            with self.database.activate():
                yield
        finally:
            _current.reset(token)

    def start_worker(self) -> None:
        """Start running background tasks on this process's event loop.

        They run until `stop_worker` is called or the backends are closed.
        """
        with self.activate():  # every task starts in a copy of this context
            self.queue.start_worker(self.settings.worker_threads)

    async def stop_worker(self, finishing_seconds: float = 0.0) -> None:
        """Stop the worker. Running tasks have `finishing_seconds` to finish, and are then cancelled."""
        await self.queue.stop_worker(finishing_seconds)


def open_storage_of(settings: Settings, max_turns: int = 1) -> BlogStorage | None:
    """Open the blog storage. Return None if none is configured. Raises `SettingsError` for an invalid URL.

    `max_turns` is how many callers may store an object at the same time while they hold a database
    connection.
    """
    if not settings.blog_storage_url:
        return None
    from monitoring.backends.objects import open_blog_storage  # noqa: PLC0415 - 5 MiB, with its library

    return open_blog_storage(settings.blog_storage_url, max_turns)


@asynccontextmanager
async def open_backends(
    settings: Settings,
    *,
    model_modules: Sequence[str] = MODEL_MODULES,
    tasks: Sequence[Task] | None = None,
) -> AsyncIterator[Backends]:
    """Open all configured backends, and close them in reverse order.

    An unavailable server raises no error here, because each backend connects when it is first used.
    """
    async with AsyncExitStack() as stack:
        queue = TaskQueue(settings.redis_url, find_tasks() if tasks is None else tasks)
        stack.callback(queue.close)
        counters = await stack.enter_async_context(open_counters(settings.redis_url))
        database = await stack.enter_async_context(open_database(settings, model_modules))
        backends = Backends(
            settings=settings,
            database=database,
            # A transaction that stores an object holds a database connection. Such transactions may use only
            # half of the pool, because other work needs connections too.
            blog_storage=open_storage_of(settings, max(1, settings.database_pool_max_connections // 2)),
            counters=counters,
            clock=Clock(database.read_time if is_postgres(database.context.db()) else None),
            queue=queue,
        )
        stack.push_async_callback(queue.stop_worker)
        yield backends
