"""Stops a process. At the first request to stop, it finishes its work. A second request cancels the work."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

SIGNALS = (signal.SIGTERM, signal.SIGINT)
DROPPING_SECONDS = 5.0
LINGERING_SECONDS = 1.0

# Hundreds of requests or checks in progress are thousands of objects, none of them garbage. With Python's
# limit of 700 new objects (2000 in Python 3.13), the collector would run all the time. With this limit, it
# runs rarely, for a few milliseconds each time.
OBJECTS_BETWEEN_COLLECTIONS = 25_000

log = logging.getLogger(__name__)


class Stop(asyncio.Event):
    """An event that is set `drain_seconds` after the first request to stop.

    The work then has `finishing_seconds` to finish. A second request cancels the work. `DROPPING_SECONDS`
    after that deadline, or after the cancellation, the process ends even if something still hangs.
    """

    signal_number: int | None = None

    def __init__(self, work: asyncio.Task[Any], finishing_seconds: float, drain_seconds: float = 0.0) -> None:
        super().__init__()
        self._drain_seconds = drain_seconds
        self._is_requested = False
        self._work = work
        self._finishing_seconds = finishing_seconds

    def request(self, signal_number: int | None = None) -> None:
        """Request the stop. The second call cancels the work."""
        if self._is_requested:
            self._work.cancel()
            _end_after(DROPPING_SECONDS, status=1)
            return
        self._is_requested = True
        self.signal_number = signal_number
        _end_after(self._drain_seconds + self._finishing_seconds + DROPPING_SECONDS, status=1)
        if self._drain_seconds:
            log.info(
                "Draining: /ready returns 503, and requests are accepted for %g more seconds",
                self._drain_seconds,
            )
            asyncio.get_running_loop().call_later(self._drain_seconds, self.set)
        else:
            self.set()

    def is_requested(self) -> bool:
        """Return whether a stop was requested. The process is then draining or finishing its work."""
        return self._is_requested

    def listen_to_signals(self) -> None:
        """Treat SIGTERM and Ctrl-C as requests to stop."""
        for number in SIGNALS:
            asyncio.get_running_loop().add_signal_handler(number, self.request, number)

    def listen_to_parent(self, lifeline: Connection) -> None:
        """Treat every message from the parent process, and the end of the parent, as a request to stop."""
        loop = asyncio.get_running_loop()

        def hear() -> None:
            try:
                lifeline.recv_bytes()
            except (EOFError, OSError):
                loop.remove_reader(lifeline.fileno())
                if not self.is_requested():
                    self.request()
                self.set()  # without waiting for the drain, because no parent is left that could end it early
                return
            self.request()

        loop.add_reader(lifeline.fileno(), hear)


def run_until_stopped(
    work: Callable[[Stop], Coroutine[Any, Any, None]],
    finishing_seconds: float,
    *,
    drain_seconds: float = 0.0,
    lifeline: Connection | None = None,
    loop_factory: Callable[[], asyncio.AbstractEventLoop] | None = None,
) -> int | None:
    """Run work that finishes when its `Stop` is set. Returns the signal that stopped it, if there was one.

    `lifeline` is a child's connection to its parent. If there is a lifeline, the parent requests the stop.
    Otherwise, SIGTERM or Ctrl-C does. One second after this returns, the process ends with status 0, even if
    a thread hangs.
    """

    async def run() -> int | None:
        task = asyncio.current_task()
        assert task  # noqa: S101 - we are in it
        stop = Stop(task, finishing_seconds, drain_seconds)
        if lifeline:
            stop.listen_to_parent(lifeline)
        else:
            stop.listen_to_signals()
        with suppress(asyncio.CancelledError):  # a second stop request has cancelled the work
            await work(stop)
        return stop.signal_number

    collect_seldom()
    with asyncio.Runner(loop_factory=loop_factory) as runner:
        stopped_by = runner.run(run())
    _end_after(LINGERING_SECONDS, status=0)
    return stopped_by


def collect_seldom() -> None:
    """Exempt code and configuration from garbage collection, and run the collector less often."""
    gc.freeze()
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)


def _end_after(seconds: float, *, status: int) -> None:
    timer = threading.Timer(seconds, _end_now, [status])
    timer.daemon = True
    timer.start()


def _end_now(status: int) -> None:
    if status:
        log.warning("Not all work stopped in time: the process exits anyway")
    os._exit(status)


def say_ready(lifeline: Connection) -> None:
    """Report to the parent process that this child is ready."""
    with suppress(OSError):  # other code detects that the parent has ended
        lifeline.send_bytes(b"ready")
