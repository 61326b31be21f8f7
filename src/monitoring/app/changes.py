"""Tells open pages of a process that something they show has changed: one look a second serves them all."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from monitoring.app.marks import read_marks
from monitoring.members.sessions import read_standings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from uuid import UUID

    from monitoring.app.marks import Shown
    from monitoring.members.sessions import Standing

LOOK_INTERVAL_SECONDS = 1.0

# What changes all the time is told so often and no more. With the look, that is within three seconds.
REST_SECONDS = 1.5

# Proxies give up on an answer that says nothing for a minute, or later.
SILENCE_SECONDS = 20.0


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

    async def read_mark(self, shown: Sequence[Shown]) -> str:
        """Return the mark of all that a page shows. It may be a second old, but no newer than the rows."""
        marks = self._marks
        unknown = [each for each in shown if each not in marks]
        return _join({**marks, **await read_marks(unknown)} if unknown else marks, shown)

    async def wait(self, shown: Sequence[Shown], mark: str, standing: Standing) -> str | None:
        """Wait until what is shown has another mark, and return that; or the same mark after some silence.

        Returns None if the page is to ask anew: the session has ended, or its person has another role or
        team, or the process stops, or the database is away.
        """
        told: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()
        waiting = _Waiting(shown, mark, standing, time.monotonic(), told)
        self._waiting.add(waiting)
        try:
            return await told
        finally:
            self._waiting.discard(waiting)

    async def look(self) -> None:
        """Read the marks of all that pages wait for, and tell those that have another one.

        Whose session has ended is told nothing: sessions are read after the marks.
        """
        if self._is_stopping():
            self._tell(self._waiting, {})
            return
        try:
            self._marks = await read_marks({each for waiting in self._waiting for each in waiting.shown})
            due = [waiting for waiting in self._waiting if self._is_due(waiting)]
            standings = await read_standings([waiting.standing.session_id for waiting in due])
        except BaseException:
            # Nobody knows. Whoever asks anew is told that by the database itself.
            self._marks = {}
            self._tell(self._waiting, {})
            raise
        self._tell(due, standings)

    def _tell(self, pages: Iterable[_Waiting], standings: Mapping[UUID, Standing]) -> None:
        for waiting in pages:
            is_living = standings.get(waiting.standing.session_id) == waiting.standing
            if not waiting.told.done():
                waiting.told.set_result(_join(self._marks, waiting.shown) if is_living else None)

    def _is_due(self, waiting: _Waiting) -> bool:
        passed_seconds = time.monotonic() - waiting.since
        # Who came during the look is not in it.
        if passed_seconds < REST_SECONDS or not all(each in self._marks for each in waiting.shown):
            return False
        return passed_seconds > SILENCE_SECONDS or _join(self._marks, waiting.shown) != waiting.mark


@dataclass(frozen=True, eq=False, slots=True)
class _Waiting:
    shown: Sequence[Shown]
    mark: str
    standing: Standing
    since: float
    told: asyncio.Future[str | None]


def _join(marks: Mapping[Shown, str], shown: Iterable[Shown]) -> str:
    return "\n".join(marks[each] for each in shown)
