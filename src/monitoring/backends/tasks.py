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
    """A function that a worker runs. The rows are the jobs; a message is only a nudge and may get lost."""

    function: Callable[..., Coroutine[Any, Any, None]]
    queue_name: str
    at_once: int | None = None

    @property
    def name(self) -> str:
        """The task's name in messages."""
        return self.function.__name__

    async def send(self, *args: str, delay_seconds: float = 0) -> None:
        """Nudge a worker, after the commit. Never raises: the sweeper sends lost messages again."""
        await current_backends().queue.send(self, args, delay_seconds)

    async def has_enough_messages(self, enough: int) -> bool:
        """Return whether a sweep should send nothing: enough messages wait, or the queue is away."""
        try:
            depths = await current_backends().queue.depths()
        except QueueUnavailable:  # the queue has logged it
            return True
        return depths[self.queue_name] >= enough


def task(
    *, queue_name: str, at_once: int | None = None
) -> Callable[[Callable[..., Coroutine[Any, Any, None]]], Task]:
    """Declare an async function as a task: `@task(queue_name="articles")`.

    `at_once` is how many tasks of this queue a process runs at once; WORKER_THREADS if left out.
    """
    return lambda function: Task(function, queue_name, at_once)


def find_tasks(modules: Iterable[str] = TASK_MODULES) -> tuple[Task, ...]:
    """Collect the tasks that the modules define."""
    imported = map(import_module, modules)
    found = [value for module in imported for value in vars(module).values() if isinstance(value, Task)]
    return tuple(dict.fromkeys(found))
