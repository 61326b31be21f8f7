"""Tells open pages of a process that something they show has changed: one look a second serves them all."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from monitoring.app.live.marks import Shown, read_marks
from monitoring.members.sessions import Standing, read_standings

LOOK_INTERVAL_SECONDS = 1.0

# What changes all the time is told so often and no more. With the look, that is within three seconds.
REST_SECONDS = 1.5

# A page that hears nothing for 25 seconds says that it is old. Proxies give up after a minute, or later.
SILENCE_SECONDS = 10.0

# Of all that a page shows, in that order.
Marks: TypeAlias = tuple[str, ...]


class Changes:
    """What pages wait for. `look` is to be repeated for as long as the process serves."""

    def __init__(self, is_stopping: Callable[[], bool]) -> None:
        self._is_stopping = is_stopping
        # Pages that show the same wait together.
        self._waiting: defaultdict[tuple[Shown, ...], set[_Waiting]] = defaultdict(set)
        # As of the last look, and only of what somebody waits for.
        self._marks: Mapping[Shown, str] = {}

    async def read_marks(self, shown: tuple[Shown, ...]) -> Marks:
        """Return the marks of all that a page shows. They may be a second old, but no newer than the rows."""
        marks = self._marks
        unknown = [each for each in shown if each not in marks]
        return _pick({**marks, **await read_marks(unknown)} if unknown else marks, shown)

    async def wait(self, shown: tuple[Shown, ...], marks: Marks, standing: Standing) -> Marks | None:
        """Wait until what is shown has other marks, and return those; or the same marks after some silence.

        Returns None if the page is to ask anew: the session has ended, or its person has another role or
        team, or the process stops, or the database is away.
        """
        told: asyncio.Future[Marks | None] = asyncio.get_running_loop().create_future()
        waiting = _Waiting(marks, standing, time.monotonic(), told)
        together = self._waiting[shown]
        together.add(waiting)
        try:
            return await told
        finally:
            together.discard(waiting)
            if not together:
                del self._waiting[shown]

    async def look(self) -> None:
        """Read the marks of all that pages wait for, and tell those that have other ones.

        Whose session has ended is told nothing: sessions are read after the marks.
        """
        if self._is_stopping():
            self._send_all_away()
            return
        try:
            self._marks = await read_marks({each for shown in self._waiting for each in shown})
            due = self._find_due()
            standings = await read_standings([waiting.standing.session_id for waiting in due])
        except BaseException:
            # Nobody knows. Whoever asks anew is told that by the database itself.
            self._marks = {}
            self._send_all_away()
            raise
        for waiting, marks in due.items():
            is_living = standings.get(waiting.standing.session_id) == waiting.standing
            waiting.tell(marks if is_living else None)

    def _find_due(self) -> dict[_Waiting, Marks]:
        now = time.monotonic()
        due: dict[_Waiting, Marks] = {}
        for shown, together in self._waiting.items():
            if all(each in self._marks for each in shown):  # who came during the look is not in it
                marks = _pick(self._marks, shown)
                due |= {waiting: marks for waiting in together if waiting.is_due(marks, now)}
        return due

    def _send_all_away(self) -> None:
        for together in self._waiting.values():
            for waiting in together:
                waiting.tell(None)


@dataclass(frozen=True, eq=False, slots=True)
class _Waiting:
    marks: Marks
    standing: Standing
    since: float
    told: asyncio.Future[Marks | None]

    def is_due(self, marks: Marks, now: float) -> bool:
        passed_seconds = now - self.since
        return passed_seconds >= REST_SECONDS and (passed_seconds > SILENCE_SECONDS or marks != self.marks)

    def tell(self, marks: Marks | None) -> None:
        if not self.told.done():
            self.told.set_result(marks)


def _pick(marks: Mapping[Shown, str], shown: Iterable[Shown]) -> Marks:
    return tuple(marks[each] for each in shown)
