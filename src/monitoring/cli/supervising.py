"""Several processes of one kind, under a parent that starts them, replaces the dead and stops them.

uvicorn's own supervisor serves ASGI applications only, restarts without a pause, is deaf to a second signal,
and leaves its children behind when it is killed.
"""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import signal
import time
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from typing import TYPE_CHECKING, Any

from monitoring.cli.stopping import DROPPING_SECONDS, SIGNALS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from multiprocessing.connection import Connection

STEADY_SECONDS = 10.0
MAX_PAUSE_SECONDS = 30.0
REACTION_SECONDS = 3.0

log = logging.getLogger(__name__)

_spawning = multiprocessing.get_context("spawn")


def say_ready(lifeline: Connection) -> None:
    """Tell the parent that this child does its work now."""
    with suppress(OSError):  # a parent that is gone is noticed elsewhere
        lifeline.send_bytes(b"ready")


class Supervisor:
    """Keeps `count` children at work until it is stopped.

    A child is `work(lifeline, *args)` in a process of its own. The lifeline carries stops down, the news that
    the child is ready up, and it is cut when the parent is gone, however it went: no child outlives it.
    """

    signal_number: int | None = None
    status = 0

    def __init__(
        self, count: int, work: Callable[..., None], *args: object, finishing_seconds: float
    ) -> None:
        self._count = count
        self._work = work
        self._args = args
        self._finishing_seconds = finishing_seconds
        self._children: set[_Child] = set()
        self._is_ready = False
        self._stopping = asyncio.Event()

    async def run(
        self, on_ready: Callable[[], None], on_stop: Callable[[], None], on_end: Callable[[int], None]
    ) -> None:
        """Run until stopped by a signal, or by children that cannot start: `status` is then theirs.

        `on_ready` is called once, when the first child is ready; `on_stop` before children are stopped,
        `on_end` with the id of a process that has ended.
        """
        self._on_ready, self._on_stop, self._on_end = on_ready, on_stop, on_end
        for number in SIGNALS:
            asyncio.get_running_loop().add_signal_handler(number, self._stop, number)
        await asyncio.gather(*(self._keep_one() for _ in range(self._count)))

    def _stop(self, signal_number: int | None = None) -> None:
        """Let the children finish; called again, let them drop what they do. Those that hang are killed."""
        if self._stopping.is_set():
            patience_seconds = DROPPING_SECONDS
        else:
            patience_seconds = self._finishing_seconds + DROPPING_SECONDS
            self.signal_number = signal_number
            self._stopping.set()
            self._on_stop()
        for child in self._children:
            child.tell_to_stop()
        asyncio.get_running_loop().call_later(patience_seconds + REACTION_SECONDS, self._kill)

    def _kill(self) -> None:
        for child in self._children:
            child.process.kill()

    async def _keep_one(self) -> None:
        """Keep one child at work; those that die soon are replaced more and more slowly."""
        pause_seconds = 0.0
        while not self._stopping.is_set():
            child = _Child(self._work, self._args)
            self._children.add(child)
            is_ready = await child.wait_until_ready()
            if is_ready and not self._is_ready:
                self._is_ready = True
                self._on_ready()
            await child.wait_until_ended()
            self._children.remove(child)
            self._on_end(child.process_id)
            if self._stopping.is_set():
                return
            if not self._is_ready and child.status > 0:  # it gave up by itself, and so would the others
                self.status = child.status
                self._stop()
                return
            is_steady = child.age_seconds >= STEADY_SECONDS
            pause_seconds = 0.0 if is_steady else min(pause_seconds * 2 or 1.0, MAX_PAUSE_SECONDS)
            log.warning(
                "Process %d ended with status %d; another one starts in %g seconds",
                child.process_id,
                child.status,
                pause_seconds,
            )
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), pause_seconds)


class _Child:
    """One process and the lifeline to it."""

    def __init__(self, work: Callable[..., None], args: tuple[Any, ...]) -> None:
        self._lifeline, its_end = _spawning.Pipe()
        self.process = _spawning.Process(target=_run_child, args=(work, its_end, *args))
        self._began_at = time.monotonic()
        with _signals_held_back():
            self.process.start()
        its_end.close()

    @property
    def process_id(self) -> int:
        assert self.process.pid is not None  # noqa: S101
        return self.process.pid

    @property
    def age_seconds(self) -> float:
        return time.monotonic() - self._began_at

    @property
    def status(self) -> int:
        """The exit status, negative for a signal's. It has ended."""
        assert self.process.exitcode is not None  # noqa: S101
        return self.process.exitcode

    def tell_to_stop(self) -> None:
        with suppress(OSError):  # it has ended by itself
            self._lifeline.send_bytes(b"stop")

    async def wait_until_ready(self) -> bool:
        """Wait until it is ready; False if it ends before."""
        await _readable(self._lifeline.fileno())
        try:
            self._lifeline.recv_bytes()
        except (EOFError, OSError):
            return False
        return True

    async def wait_until_ended(self) -> None:
        """Wait until it has ended."""
        await _readable(self.process.sentinel)
        self.process.join()
        self._lifeline.close()


def _run_child(work: Callable[..., None], lifeline: Connection, *args: object) -> None:
    """Work as a child. Signals are the parent's business: a terminal or systemd sends them to everybody."""
    for number in SIGNALS:
        signal.signal(number, _leave_to_parent)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    work(lifeline, *args)


def _leave_to_parent(*_: object) -> None:
    """Do nothing. SIG_IGN would be inherited by the programs that a child starts."""


@contextmanager
def _signals_held_back() -> Iterator[None]:
    """Block signals in what is started inside, until it is able to take them."""
    resource_tracker.ensure_running()  # `start` would do it, and unblock what we block
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)


async def _readable(descriptor: int) -> None:
    loop = asyncio.get_running_loop()
    readable = asyncio.Event()
    loop.add_reader(descriptor, readable.set)
    try:
        await readable.wait()
    finally:
        loop.remove_reader(descriptor)
