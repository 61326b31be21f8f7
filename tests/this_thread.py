"""Replaces functions only in the test's own thread. Services in other threads are not affected."""

from __future__ import annotations

from threading import get_ident
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest


def replace_in_this_thread(
    monkeypatch: pytest.MonkeyPatch, owner: object, name: str, replacement: Callable[..., Any]
) -> None:
    """Replace a function of a module or class for calls from this thread."""
    original, here = getattr(owner, name), get_ident()

    def call(*given: Any, **named: Any) -> Any:
        return (replacement if get_ident() == here else original)(*given, **named)

    monkeypatch.setattr(owner, name, call)
