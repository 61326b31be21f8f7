"""Intercepts task messages, so that a test receives them instead of a worker."""

from __future__ import annotations

from typing import TYPE_CHECKING

from monitoring.backends.tasks import Task
from this_thread import replace_in_this_thread

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest


def intercept_messages(monkeypatch: pytest.MonkeyPatch, note: Callable[[str, float], None]) -> None:
    """Call `note` with the argument and delay of each task message that this thread would send.

    The messages are not sent. Services in other threads send their messages as usual.
    """

    async def noted(_: Task, argument: str, delay_seconds: float = 0) -> None:
        note(argument, delay_seconds)

    replace_in_this_thread(monkeypatch, Task, "send", noted)
