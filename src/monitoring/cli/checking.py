"""The work of a process of `monitoring checker`."""

from __future__ import annotations

from multiprocessing.connection import Connection

import uvloop

from monitoring.backends.tasks import find_tasks
from monitoring.checks.checker import run_checker
from monitoring.cli.background import run_in_background
from monitoring.settings import Settings

# A checker only sends tasks for notifications, so the articles' modules need not be loaded.
TASKS = find_tasks(["monitoring.notifications.tasks"])


def check(settings: Settings, lifeline: Connection | None = None) -> None:
    """Check monitors until the process is stopped. `lifeline` is a child's connection to its supervisor."""
    run_in_background(settings, run_checker, lifeline, tasks=TASKS, loop_factory=uvloop.new_event_loop)
