"""How a process is told to stop: asked once it finishes its work, asked again it drops it."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from multiprocessing.connection import Connection

SIGNALS = (signal.SIGTERM, signal.SIGINT)
DROPPING_SECONDS = 5.0
LINGERING_SECONDS = 1.0

# Hundreds of requests or checks under way are thousands of objects, none of them garbage: after Python's 700
# it is looked for all the time. A look now takes some milliseconds, as one at everything did before.
OBJECTS_BETWEEN_COLLECTIONS = 25_000

log = logging.getLogger(__name__)


class Stop(asyncio.Event):
    """Set when the work shall be finished. Asked again, the work is cancelled.

    `DROPPING_SECONDS` after the time for finishing, or after the second request, the process ends whatever
    still hangs.
    """

    signal_number: int | None = None

    def __init__(self, work: asyncio.Task[Any], finishing_seconds: float) -> None:
        super().__init__()
        self._work = work
        self._finishing_seconds = finishing_seconds

    def request(self, signal_number: int | None = None) -> None:
        """Ask once, or once more."""
        if self.is_set():
            self._work.cancel()
            _end_after(DROPPING_SECONDS, status=1)
        else:
            self.signal_number = signal_number
            self.set()
            _end_after(self._finishing_seconds + DROPPING_SECONDS, status=1)

    def listen_to_signals(self) -> None:
        """Take SIGTERM and Ctrl-C as requests."""
        for number in SIGNALS:
            asyncio.get_running_loop().add_signal_handler(number, self.request, number)

    def listen_to_parent(self, lifeline: Connection) -> None:
        """Take every message of the parent as a request, and its end as one."""
        loop = asyncio.get_running_loop()

        def hear() -> None:
            try:
                lifeline.recv_bytes()
            except (EOFError, OSError):
                loop.remove_reader(lifeline.fileno())
                if self.is_set():
                    return  # the work is being finished already
            self.request()

        loop.add_reader(lifeline.fileno(), hear)


def run_until_stopped(
    work: Callable[[Stop], Coroutine[Any, Any, None]],
    finishing_seconds: float,
    *,
    lifeline: Connection | None = None,
    loop_factory: Callable[[], asyncio.AbstractEventLoop] | None = None,
) -> int | None:
    """Run work that finishes when its `Stop` is set; a child listens to its parent, others to signals.

    Returns the stopping signal, if there was one. One second later the process ends with 0 even if a
    thread hangs.
    """

    async def run() -> int | None:
        task = asyncio.current_task()
        assert task  # noqa: S101 - we are in it
        stop = Stop(task, finishing_seconds)
        if lifeline:
            stop.listen_to_parent(lifeline)
        else:
            stop.listen_to_signals()
        with suppress(asyncio.CancelledError):  # asked twice
            await work(stop)
        return stop.signal_number

    collect_seldom()
    with asyncio.Runner(loop_factory=loop_factory) as runner:
        stopped_by = runner.run(run())
    _end_after(LINGERING_SECONDS, status=0)
    return stopped_by


def collect_seldom() -> None:
    """Keep code and configuration for good, and look for garbage among the rest now and then."""
    gc.freeze()
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)


def _end_after(seconds: float, *, status: int) -> None:
    timer = threading.Timer(seconds, _end_now, [status])
    timer.daemon = True
    timer.start()


def _end_now(status: int) -> None:
    if status:
        log.warning("Something did not stop in time: the process ends without it")
    os._exit(status)
