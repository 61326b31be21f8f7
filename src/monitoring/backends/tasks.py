"""Declares background tasks: async functions whose arguments are strings."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from monitoring.backends.current import current_backends
from monitoring.backends.errors import QueueUnavailable

TASK_MODULES = (
    "monitoring.articles.tasks",
    "monitoring.notifications.tasks",
    "monitoring.notifications.invitation_emails",
    "monitoring.notifications.password_emails",
)


@dataclass(frozen=True, slots=True)
class Task:
    """A function that a worker runs for each message. Jobs are database rows, so no message is essential."""

    function: Callable[..., Coroutine[Any, Any, None]]
    queue_name: str
    at_once: int | None = None

    @property
    def name(self) -> str:
        """The task's name in messages."""
        return self.function.__name__

    async def send(self, *args: str, delay_seconds: float = 0) -> None:
        """Send a message that makes a worker run the task with `args`. Call this after the commit.

        Never raises, because the sweep resends lost messages.
        """
        await current_backends().queue.send(self, args, delay_seconds)

    async def has_enough_messages(self, enough: int) -> bool:
        """Return whether at least `enough` messages are unfinished, or the queue is unavailable."""
        try:
            depths = await current_backends().queue.depths()
        except QueueUnavailable:  # the queue has logged it
            return True
        return depths[self.queue_name] >= enough


def task(
    *, queue_name: str, at_once: int | None = None
) -> Callable[[Callable[..., Coroutine[Any, Any, None]]], Task]:
    """Declare an async function as a task: `@task(queue_name="articles")`.

    `at_once` is the maximum number of tasks of this queue that run concurrently in a process. The default is
    WORKER_THREADS.
    """
    return lambda function: Task(function, queue_name, at_once)


def find_tasks(modules: Iterable[str] = TASK_MODULES) -> tuple[Task, ...]:
    """Return the tasks that the modules define."""
    imported = map(import_module, modules)
    found = [value for module in imported for value in vars(module).values() if isinstance(value, Task)]
    return tuple(dict.fromkeys(found))
