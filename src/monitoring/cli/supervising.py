"""Supervises several processes of one kind: starts them, replaces those that die, and stops them.

uvicorn's own supervisor serves only ASGI applications, restarts without a pause, ignores a second signal,
and leaves its children behind when it is killed.

This relies on undocumented names of multiprocessing. In `forkserver` and `resource_tracker`, `ensure_running`
starts the module's helper process. It is called here while signals are blocked. `_config` contains the folder
of the socket.
"""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import forkserver, resource_tracker
from multiprocessing.connection import Connection
from tempfile import TemporaryDirectory
from typing import Any

import typer

from monitoring.cli.failing import reporting_wrong_settings
from monitoring.cli.stopping import DROPPING_SECONDS, SIGNALS

STEADY_SECONDS = 10.0
MAX_PAUSE_SECONDS = 30.0
REACTION_SECONDS = 3.0

# The exit code of a child whose end cannot be observed, because the process that forked it has ended.
UNKNOWN_STATUS = 255

log = logging.getLogger(__name__)

_forking = multiprocessing.get_context("forkserver")


class Supervisor:
    """Keeps child processes running until it is stopped. Their names are `name-0`, `name-1` and so on.

    There is one child for each item of `args_of_each`. It runs `work(lifeline, *args)` in its own process.
    Through the lifeline, a connection, the child reports that it is ready, and the parent tells it to stop.
    The lifeline also breaks when the parent ends for any reason, so no child outlives its parent.

    Children are forked from one process that has imported the modules in `preload`, and has no event loop,
    thread or connection. So children start immediately and share the memory of these modules. If that process
    is killed, the ends of its children cannot be observed. Those children are stopped, and replaced by
    children that are forked from a new process.
    """

    signal_number: int | None = None
    status = 0

    def __init__(
        self,
        work: Callable[..., None],
        args_of_each: Sequence[tuple[object, ...]],
        *,
        name: str,
        finishing_seconds: float,
        preload: Sequence[str] = (),
    ) -> None:
        _forking.set_forkserver_preload(list(preload))
        self._work = work
        self._args_of_each = args_of_each
        self._name = name
        self._finishing_seconds = finishing_seconds
        self._children: dict[str, _Child] = {}
        self._is_ready = False
        self._stopping = asyncio.Event()

    @contextmanager
    def forking(self) -> Iterator[None]:
        """Run the process from which children are forked until the block ends.

        Its socket is in a folder that this method removes, because `multiprocessing` would leave its own
        folder behind after a signal. Raises OSError if the folder for temporary files cannot hold a socket,
        because of its permissions or because its path is too long.
        """
        with TemporaryDirectory(prefix="monitoring-") as folder:
            multiprocessing.current_process()._config["tempdir"] = folder  # type: ignore[attr-defined]  # noqa: SLF001
            with _signals_held_back():
                forkserver.ensure_running()
            yield

    async def run(
        self,
        on_ready: Callable[[], None],
        on_stop: Callable[[], None],
        on_end: Callable[[int], None],
        demand: Callable[[], None] | None = None,
    ) -> None:
        """Run until a signal arrives or a child cannot start.

        If a child cannot start, `status` is set to its exit status.

        `demand` is called first. It runs in its own process, so that this process need not load the modules
        that `demand` imports. If the children could not work, `demand` ends its process with an error message
        and an exit status.

        `on_ready` is called once, when the first child is ready. `on_stop` is called before children are
        stopped, and `on_end` with the id of each process that has ended.
        """
        self._on_ready, self._on_stop, self._on_end = on_ready, on_stop, on_end
        for number in SIGNALS:
            asyncio.get_running_loop().add_signal_handler(number, self._stop, number)
        if demand and not await self._meets(demand):
            return
        try:
            async with asyncio.TaskGroup() as group:
                for seat, args in enumerate(self._args_of_each):
                    group.create_task(self._keep_one(f"{self._name}-{seat}", args))
        finally:
            for child in self._children.values():  # some remain after an unexpected exception
                child.let_go()

    def process_ids(self) -> dict[str, int]:
        """Return the ids of the running processes by name. Thread-safe."""
        return {name: child.process_id for name, child in sorted(self._children.items())}

    def _stop(self, signal_number: int | None = None) -> None:
        """Ask the children to finish. The second call cancels their work. Children that hang are killed."""
        if self._stopping.is_set():
            patience_seconds = DROPPING_SECONDS
        else:
            patience_seconds = self._finishing_seconds + DROPPING_SECONDS
            self.signal_number = signal_number
            self._stopping.set()
            self._on_stop()
        for child in self._children.values():
            child.tell_to_stop()
        asyncio.get_running_loop().call_later(patience_seconds + REACTION_SECONDS, self._kill)

    def _kill(self) -> None:
        for child in self._children.values():
            child.process.kill()

    async def _meets(self, demand: Callable[[], None]) -> bool:
        """Call `demand` in a child process, and return whether it succeeds.

        A failure sets `status`. If a stop is requested first, the child is killed, and the result is False.
        """
        while child := await self._start(_run_demand, (demand,)):
            ended = asyncio.create_task(child.wait_until_ended())
            stopped = asyncio.create_task(self._stopping.wait())
            await asyncio.wait([ended, stopped], return_when=asyncio.FIRST_COMPLETED)
            stopped.cancel()
            child.process.kill()
            await ended
            self._on_end(child.process_id)
            if self._stopping.is_set():
                return False
            if child.status != UNKNOWN_STATUS:
                self.status = child.status if child.status >= 0 else 1
                return self.status == 0
        return False

    async def _start(self, work: Callable[..., None], args: tuple[object, ...]) -> _Child | None:
        """Start a child, retrying while that fails. Returns None if a stop is requested first.

        Starting fails while the process that children are forked from is ending.
        """
        pause_seconds = 0.0
        while not self._stopping.is_set():
            try:
                return _Child(work, args)
            except (OSError, EOFError) as error:
                pause_seconds = min(pause_seconds * 2 or 1.0, MAX_PAUSE_SECONDS)
                log.warning(
                    "No process can be started (%r); the next attempt is in %g seconds", error, pause_seconds
                )
                await self._pause(pause_seconds)
        return None

    async def _pause(self, seconds: float) -> None:
        """Wait for `seconds`, or until a stop is requested."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stopping.wait(), seconds)

    async def _keep_one(self, name: str, args: tuple[object, ...]) -> None:
        """Keep one child running. Pauses become longer if children die soon after their start."""
        pause_seconds = 0.0
        while child := await self._start(self._work, args):
            self._children[name] = child
            is_ready = await child.wait_until_ready()
            if is_ready and not self._is_ready:
                self._is_ready = True
                self._on_ready()
            await child.wait_until_ended()
            del self._children[name]
            self._on_end(child.process_id)
            if self._stopping.is_set():
                return
            # If a child fails before any child has been ready, the other children would fail as well.
            if not self._is_ready and child.status > 0 and child.status != UNKNOWN_STATUS:
                self.status = child.status
                self._stop()
                return
            is_steady = child.age_seconds >= STEADY_SECONDS
            pause_seconds = 0.0 if is_steady else min(pause_seconds * 2 or 1.0, MAX_PAUSE_SECONDS)
            log.warning(
                "Process %d %s; another one starts in %g seconds",
                child.process_id,
                child.describe_end(),
                pause_seconds,
            )
            await self._pause(pause_seconds)


class _Child:
    """A child process and the lifeline to it. Raises OSError or EOFError if the child cannot be started."""

    def __init__(self, work: Callable[..., None], args: tuple[Any, ...]) -> None:
        self._lifeline, its_end = _forking.Pipe()
        self.process = _forking.Process(target=_run_child, args=(work, its_end, *args))
        self._began_at = time.monotonic()
        with its_end:
            try:
                with _signals_held_back():
                    self.process.start()
            except BaseException:
                self._lifeline.close()  # which stops the child if it was forked despite the error
                raise

    @property
    def process_id(self) -> int:
        assert self.process.pid is not None  # noqa: S101
        return self.process.pid

    @property
    def age_seconds(self) -> float:
        return time.monotonic() - self._began_at

    @property
    def status(self) -> int:
        """The exit status of an ended process, negative for a signal."""
        assert self.process.exitcode is not None  # noqa: S101
        return self.process.exitcode

    def describe_end(self) -> str:
        """Return how the process ended, as the predicate of a sentence."""
        if self.status == UNKNOWN_STATUS:
            return "is being stopped, because the process that forked it has ended"
        return f"ended with status {self.status}"

    def tell_to_stop(self) -> None:
        with suppress(OSError):  # the child has already ended
            self._lifeline.send_bytes(b"stop")

    async def wait_until_ready(self) -> bool:
        """Wait until the child is ready. Returns False if it ends first."""
        await _readable(self._lifeline.fileno())
        try:
            self._lifeline.recv_bytes()
        except (EOFError, OSError):
            return False
        return True

    async def wait_until_ended(self) -> None:
        """Wait until the child has ended. If its end can no longer be observed, stop it."""
        await _readable(self.process.sentinel)
        self.process.join()
        self.let_go()

    def let_go(self) -> None:
        """Close the lifeline, which stops a running child."""
        self._lifeline.close()


def _run_child(work: Callable[..., None], lifeline: Connection, *args: object) -> None:
    """Run `work` in a child, ignoring signals, because terminals and systemd also send them to the parent."""
    for number in SIGNALS:
        signal.signal(number, _leave_to_parent)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    work(lifeline, *args)


def _run_demand(_: Connection, demand: Callable[[], None]) -> None:
    """Call `demand` in a child. If it fails, end the child with the exit status that a command would have."""
    with reporting_wrong_settings():
        try:
            demand()
        except typer.Exit as failed:
            sys.exit(failed.exit_code)


def _leave_to_parent(*_: object) -> None:
    """Ignore a signal. SIG_IGN is not used, because programs that a child starts would inherit it."""


@contextmanager
def _signals_held_back() -> Iterator[None]:
    """Hold back signals during the block, so that processes started in it can first install handlers."""
    resource_tracker.ensure_running()  # otherwise `start` would call this, and unblock the signals
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
