"""What a child tells its parent (`supervising`). It loads nothing that makes processes."""

from __future__ import annotations

from contextlib import suppress
from multiprocessing.connection import Connection


def say_ready(lifeline: Connection) -> None:
    """Tell the parent that this child does its work now."""
    with suppress(OSError):  # a parent that is gone is noticed elsewhere
        lifeline.send_bytes(b"ready")
