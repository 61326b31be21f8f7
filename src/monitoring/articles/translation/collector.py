"""Python's garbage collector, which stops every thread of the process while it looks at all objects."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_at_rest() -> Iterator[None]:
    """Run no garbage collection while an article is read, though other threads make garbage meanwhile.

    Reading makes millions of objects and no cycles. Of the threads that do so at once, the first lets the
    collector rest, until its own article is read. So the collector runs between articles.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
