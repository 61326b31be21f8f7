"""The backends of the running request or task."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from monitoring.backends.assembly import Backends

# A context variable and no global: several apps live in one process when tests run.
_current: ContextVar[Backends] = ContextVar("current_backends")


def current_backends() -> Backends:
    """Return the active backends. Raises `RuntimeError` without a call of `activate()`."""
    try:
        return _current.get()
    except LookupError:
        raise RuntimeError("no backends are active here; open them and call activate()") from None
