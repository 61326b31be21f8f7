"""Wakes open pages when something that they show has changed. One look a second serves the whole process."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from monitoring.app.live.fingerprints import Shown, read_fingerprints
from monitoring.members.sessions import Standing, read_standings

LOOK_INTERVAL_SECONDS = 1.0

# A page that keeps changing is sent at most once in this time. With the time between two looks, it is at most
# three seconds old.
REST_SECONDS = 1.5

# A page that receives nothing for 25 seconds tells its reader that it is old. Proxies give up after a minute,
# or later.
SILENCE_SECONDS = 10.0

# Of all that a page shows, in that order.
Fingerprints: TypeAlias = tuple[str, ...]


class Changes:
    """The changes that open pages wait for. Call `look` regularly while the process serves."""

    def __init__(self, is_stopping: Callable[[], bool]) -> None:
        self._is_stopping = is_stopping
        # Pages that show the same wait together.
        self._waiting: defaultdict[tuple[Shown, ...], set[_Waiting]] = defaultdict(set)
        # As of the last look, and only of what somebody waits for.
        self._known: Mapping[Shown, str] = {}

    async def read_fingerprints(self, shown: tuple[Shown, ...]) -> Fingerprints:
        """Return the fingerprints of what a page shows: a second old at most, and no newer than its rows."""
        known = self._known
        unknown = [each for each in shown if each not in known]
        return _pick({**known, **await read_fingerprints(unknown)} if unknown else known, shown)

    async def wait(
        self, shown: tuple[Shown, ...], fingerprints: Fingerprints, standing: Standing
    ) -> Fingerprints | None:
        """Wait until what is shown has other fingerprints, and return those; after a silence, the same.

        Returns None if the page has to ask again: the session has ended, or its person has another role or
        team, or the process stops, or the database is away.
        """
        woken: asyncio.Future[Fingerprints | None] = asyncio.get_running_loop().create_future()
        waiting = _Waiting(fingerprints, standing, time.monotonic(), woken)
        together = self._waiting[shown]
        together.add(waiting)
        try:
            return await woken
        finally:
            together.discard(waiting)
            if not together:
                del self._waiting[shown]

    async def look(self) -> None:
        """Read the fingerprints of all that pages wait for, and wake the pages whose fingerprints differ.

        Sessions are read after the fingerprints, so a page whose session has ended gets nothing more.
        """
        if self._is_stopping():
            self._send_all_away()
            return
        try:
            self._known = await read_fingerprints({each for shown in self._waiting for each in shown})
            due = self._find_due()
            standings = await read_standings([waiting.standing.session_id for waiting in due])
        except BaseException:
            # The request that each script sends next gets the database's own error.
            self._known = {}
            self._send_all_away()
            raise
        for waiting, fingerprints in due.items():
            is_living = standings.get(waiting.standing.session_id) == waiting.standing
            waiting.wake(fingerprints if is_living else None)

    def _find_due(self) -> dict[_Waiting, Fingerprints]:
        now = time.monotonic()
        due: dict[_Waiting, Fingerprints] = {}
        for shown, together in self._waiting.items():
            if all(each in self._known for each in shown):  # who came during the look is not in it
                fingerprints = _pick(self._known, shown)
                due |= {waiting: fingerprints for waiting in together if waiting.is_due(fingerprints, now)}
        return due

    def _send_all_away(self) -> None:
        for together in self._waiting.values():
            for waiting in together:
                waiting.wake(None)


@dataclass(frozen=True, eq=False, slots=True)
class _Waiting:
    fingerprints: Fingerprints
    standing: Standing
    since: float
    woken: asyncio.Future[Fingerprints | None]

    def is_due(self, fingerprints: Fingerprints, now: float) -> bool:
        passed_seconds = now - self.since
        is_changed = fingerprints != self.fingerprints
        return passed_seconds >= REST_SECONDS and (passed_seconds > SILENCE_SECONDS or is_changed)

    def wake(self, fingerprints: Fingerprints | None) -> None:
        if not self.woken.done():
            self.woken.set_result(fingerprints)


def _pick(fingerprints: Mapping[Shown, str], shown: Iterable[Shown]) -> Fingerprints:
    return tuple(fingerprints[each] for each in shown)
