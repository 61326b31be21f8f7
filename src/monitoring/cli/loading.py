"""Loading modules: most of what a short command does."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def loading() -> Iterator[None]:
    """Run no garbage collection: it would take an eighth of the loading.

    What was loaded stays, so that later collections need not look at it either.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
