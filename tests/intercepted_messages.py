"""Messages that a test looks at instead of having them sent."""

from __future__ import annotations

from threading import get_ident
from typing import TYPE_CHECKING

from monitoring.backends.tasks import Task

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest


def intercept_messages(monkeypatch: pytest.MonkeyPatch, note: Callable[[str, float], None]) -> None:
    """Tell `note` the argument and the delay of what this thread would send.

    Services in other threads send theirs as always.
    """
    send, here = Task.send, get_ident()

    async def noted(task: Task, argument: str, delay_seconds: float = 0) -> None:
        if get_ident() != here:
            await send(task, argument, delay_seconds=delay_seconds)
        else:
            note(argument, delay_seconds)

    monkeypatch.setattr(Task, "send", noted)
