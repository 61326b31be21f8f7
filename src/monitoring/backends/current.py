"""Access to the current request's or task's backends."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from monitoring.backends.assembly import Backends

# A context variable rather than a global, because several apps share one process in tests.
_current: ContextVar[Backends] = ContextVar("current_backends")


def current_backends() -> Backends:
    """Return the active backends. Raises `RuntimeError` if no backends are active."""
    try:
        return _current.get()
    except LookupError:
        raise RuntimeError("no backends are active here; open them and call activate()") from None
