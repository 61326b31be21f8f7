"""A thread pool that several owners share fairly: no owner waits for all the work of another owner."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from typing import Any, TypeVar

Result = TypeVar("Result")


class FairThreads:
    """A thread pool that serves its owners round-robin."""

    def __init__(self, count: int, name: str) -> None:
        self._threads = ThreadPoolExecutor(count, thread_name_prefix=name)
        self._lock = Lock()
        self._waiting: dict[Hashable, deque[tuple[Future[Any], Callable[[], Any]]]] = {}  # ordered by turn
        self._is_closed = False

    def submit(self, owner: Hashable, work: Callable[[], Result]) -> Future[Result]:
        """Schedule work for an owner. `close` cancels work that has not started."""
        future: Future[Result] = Future()
        with self._lock:
            if self._is_closed:
                _cancel(future)
                return future
            self._waiting.setdefault(owner, deque()).append((future, work))
            self._threads.submit(self._work_once)
        return future

    def close(self) -> None:
        """Cancel all work that has not started."""
        with self._lock:
            self._is_closed = True
            waiting = [future for works in self._waiting.values() for future, _ in works]
            self._waiting.clear()
        for future in waiting:
            _cancel(future)
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _work_once(self) -> None:
        with self._lock:
            owner = next(iter(self._waiting), None)
            works = self._waiting.pop(owner, None)
            if not works:  # `close` has removed the work
                return
            future, work = works.popleft()
            if works:
                self._waiting[owner] = works  # behind all other owners
        if not future.set_running_or_notify_cancel():
            return
        try:
            future.set_result(work())
        except BaseException as error:  # noqa: BLE001 - the future's `result` raises it
            future.set_exception(error)


def _cancel(future: Future[Any]) -> None:
    """Cancel a future, and wake the callers of `wait` and `as_completed`.

    `Future.cancel` alone would not wake them.
    """
    future.cancel()
    future.set_running_or_notify_cancel()
