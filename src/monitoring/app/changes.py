"""Tells open pages of a process that something they show has changed: one look a second serves them all."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NamedTuple

from monitoring.app.marks import read_marks

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from monitoring.app.marks import Shown

LOOK_INTERVAL_SECONDS = 1.0


class Changes:
    """What pages wait for. `look` is to be repeated for as long as the process serves."""

    def __init__(self, is_stopping: Callable[[], bool]) -> None:
        self._is_stopping = is_stopping
        self._waiting: set[_Waiting] = set()
        # As of the last look, and only of what somebody waits for.
        self._marks: Mapping[Shown, str] = {}

    def count_waiting(self) -> int:
        """Return how many pages wait."""
        return len(self._waiting)

    async def read_mark(self, shown: tuple[Shown, ...]) -> str:
        """Return the mark of all that a page shows. It may be a second old, but no newer than the rows."""
        marks = self._marks
        unknown = [each for each in shown if each not in marks]
        return _join({**marks, **await read_marks(unknown)} if unknown else marks, shown)

    async def wait(
        self, shown: tuple[Shown, ...], mark: str, seconds: float, gone: Callable[[], Awaitable[object]]
    ) -> bool:
        """Wait until what is shown has another mark, and say whether it has.

        The process that stops waits no longer, nor does a request whose client is `gone`.
        """
        moved: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        waiting = _Waiting(shown, mark, moved)
        leaving = asyncio.ensure_future(gone())
        self._waiting.add(waiting)
        try:
            await asyncio.wait((moved, leaving), timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._waiting.discard(waiting)
            leaving.cancel()
        return moved.done() and moved.result()

    async def look(self) -> None:
        """Read the marks of all that pages wait for, and wake those that have another one."""
        if self._is_stopping():
            self._wake(lambda _: False)
            return
        try:
            self._marks = await read_marks({each for waiting in self._waiting for each in waiting.shown})
        except BaseException:
            # Nobody knows. Whoever asks is told that by the database itself.
            self._marks = {}
            self._wake(lambda _: True)
            raise
        self._wake(lambda waiting: self._has_moved(waiting) or None)

    def _has_moved(self, waiting: _Waiting) -> bool:
        # Who came during the look is not in it.
        is_known = all(each in self._marks for each in waiting.shown)
        return is_known and _join(self._marks, waiting.shown) != waiting.mark

    def _wake(self, judge: Callable[[_Waiting], bool | None]) -> None:
        for waiting in self._waiting:
            verdict = judge(waiting)
            if verdict is not None and not waiting.moved.done():
                waiting.moved.set_result(verdict)


class _Waiting(NamedTuple):
    shown: tuple[Shown, ...]
    mark: str
    moved: asyncio.Future[bool]


def _join(marks: Mapping[Shown, str], shown: tuple[Shown, ...]) -> str:
    return "\n".join(marks[each] for each in shown)
