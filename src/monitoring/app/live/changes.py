"""Wakes open live pages when their data changes. The database is polled once a second for all of them."""

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

# The minimum time between two updates of a page that keeps changing. Together with the polling interval, it
# keeps a page at most three seconds old.
REST_SECONDS = 1.5

# A page without changes is sent an empty line after this time. A page that receives nothing for 25 seconds
# warns its user that it is stale, and proxies close an idle connection after a minute or more.
SILENCE_SECONDS = 10.0

# The fingerprints of everything that a page shows, in the order of its `Shown` items.
Fingerprints: TypeAlias = tuple[str, ...]


class Changes:
    """The open live pages that wait for changes. Call `look` regularly while the process serves requests."""

    def __init__(self, is_stopping: Callable[[], bool]) -> None:
        self._is_stopping = is_stopping
        # Grouped by data, because pages that show the same data wait for the same fingerprints.
        self._waiting: defaultdict[tuple[Shown, ...], set[_Waiting]] = defaultdict(set)
        # The fingerprints of the last poll, only for data that some page waits for.
        self._known: Mapping[Shown, str] = {}

    async def read_fingerprints(self, shown: tuple[Shown, ...]) -> Fingerprints:
        """Return the current fingerprints of a page's data. Call this before reading the page's rows.

        The fingerprints may be a second old. If a row changes before it is read, the next poll detects that.
        """
        known = self._known
        unknown = [each for each in shown if each not in known]
        return _pick({**known, **await read_fingerprints(unknown)} if unknown else known, shown)

    async def wait(
        self, shown: tuple[Shown, ...], fingerprints: Fingerprints, standing: Standing
    ) -> Fingerprints | None:
        """Wait until the fingerprints change, and return the new ones.

        Without a change, the same fingerprints are returned after `SILENCE_SECONDS`. None is returned if the
        page has to reconnect, because the session has ended, the user's role or team has changed, the process
        is stopping, or the database is unavailable.
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
        """Poll the fingerprints of all waiting pages, and wake the pages whose fingerprints have changed.

        Sessions are read after the fingerprints, so that a page whose session has ended gets no further
        update.
        """
        if self._is_stopping():
            self._send_all_away()
            return
        try:
            self._known = await read_fingerprints({each for shown in self._waiting for each in shown})
            due = self._find_due()
            standings = await read_standings([waiting.standing.session_id for waiting in due])
        except BaseException:
            # The pages reconnect, and the responses to their scripts' next requests report the error.
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
            if all(each in self._known for each in shown):  # false if the wait began during the poll
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
