"""Makes the checks: claims what is due, asks many servers at once, and has what they said stored."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from monitoring.backends.errors import BackendUnavailable
from monitoring.backends.outage import Outage
from monitoring.checks.claims import Claimed, claim_due, give_back
from monitoring.checks.gathering import Gathering
from monitoring.checks.lanes import POSTPONEMENT_JITTER, Lanes, Postponements, Turn
from monitoring.checks.load import Load
from monitoring.checks.probing import Finding, probe
from monitoring.checks.sight import Sight
from monitoring.checks.storing import Checked
from monitoring.metrics import CHECKS_IN_FLIGHT, record_check
from monitoring.outbound.client import open_configured_client

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Coroutine

    from monitoring.backends.assembly import Backends
    from monitoring.settings import Settings

TICK_SECONDS = 0.5
# While more is due than one claim took. If some of it was refused, less often: refusing is work, too.
SHORTEST_TICK_SECONDS = 0.02
REFUSING_TICK_SECONDS = 0.1

# What ends makes room for who waits, which is looked at together: many end at once.
CALL_SECONDS = 0.02

# What has to be left of a lease beside the check itself, for asking whether we are blind, and storing.
RESERVE = timedelta(seconds=7)

# Connections that no check takes: references are asked over them.
KEPT_CONNECTIONS = 16

# How long storing may take when the process stops.
LAST_WORDS_SECONDS = 3.0

_MICROSECOND = timedelta(microseconds=1)

log = logging.getLogger(__name__)


@asynccontextmanager
async def run_checker(backends: Backends) -> AsyncIterator[None]:
    """Check monitors until the context ends; none with CHECKS_AT_ONCE=0.

    Left in peace, running checks may take SHUTDOWN_TIMEOUT_SECONDS to finish; left by an exception or
    cancelled, none. What was not finished is given back, for others to check at once.
    """
    settings = backends.settings
    if not settings.checks_at_once:
        yield
        return
    with backends.activate():
        async with open_configured_client(settings) as client:
            sight = Sight(client.send, settings.reference_urls)
            at_once = _affordable(settings.checks_at_once, client.max_connections)
            checker = Checker(settings, lambda claimed: probe(claimed, client, sight), at_once=at_once)
            checker.start(sight.look_for_the_end())
            finishing_seconds = 0.0
            try:
                yield
                finishing_seconds = settings.shutdown_timeout_seconds
            finally:
                await checker.stop(finishing_seconds)


class Checker:
    """The checks of one process. `now` tells the time, and `probe` asks a server.

    `at_once` is how many it makes at once, if that is not what the settings say.
    """

    def __init__(
        self,
        settings: Settings,
        probe: Callable[[Claimed], Awaitable[Finding]],
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        at_once: int | None = None,
    ) -> None:
        self._probe = probe
        self._now = now
        self._outage = Outage("The database is away: no monitor is checked")
        self._exhaustion = Outage("This machine has no sockets left: checks come late")
        self._lanes = Lanes(
            at_once or settings.checks_at_once, settings.checks_per_team, settings.checks_per_host
        )
        self._postponements = Postponements()
        self._without_turn: list[Claimed] = []
        self._load = Load()
        self._gathering = Gathering(self._outage, now)
        self._running: dict[asyncio.Task[None], Claimed] = {}
        self._loops: list[asyncio.Task[None]] = []
        self._pause_seconds = TICK_SECONDS
        self._has_room = asyncio.Event()
        self._stopping = asyncio.Event()

    async def check_once(self) -> list[Checked]:
        """Check what is due, as much as there is room for, store it, and return what was found."""
        await self._claim()
        while self._running:
            await asyncio.wait(self._running)
            self._call_line()
        return await self._gathering.store_all()

    def start(self, *others: Coroutine[None, None, None]) -> None:
        """Check from now on, again and again, and run the others beside."""
        loops = (
            self._claim_on_and_on(),
            self._call_on_and_on(),
            self._gathering.store_on_and_on(),
            self._load.measure(),
            *others,
        )
        self._loops = [asyncio.create_task(each) for each in loops]

    async def stop(self, finishing_seconds: float = 0.0) -> None:
        """Claim no more, let running checks finish for so long, and store; others check the rest at once."""
        self._stopping.set()
        claiming, *_ = self._loops
        unfinished: list[Claimed] = []
        try:
            async with asyncio.timeout(finishing_seconds):
                await asyncio.wait([claiming])  # cancelled in the middle, it would keep what it has claimed
                unfinished = self._dismiss_line()
                with suppress(BackendUnavailable):
                    await give_back(unfinished, self._now())
                if self._running:
                    await asyncio.wait(self._running)
        except TimeoutError:
            log.info("%d checks are left to others", len(self._running))
        finally:
            unfinished += [*self._dismiss_line(), *self._running.values()]
            await _cancel([*self._loops, *self._running])
            with suppress(BackendUnavailable, TimeoutError):  # then the leases run out
                async with asyncio.timeout(LAST_WORDS_SECONDS):
                    await give_back(unfinished, self._now())  # those that went before are not held any more
                    await self._gathering.store_all()

    async def _claim_on_and_on(self) -> None:
        while not self._stopping.is_set():
            self._pause_seconds = TICK_SECONDS
            try:
                await self._claim()
            except BackendUnavailable as error:
                self._outage.begin(error)
            except Exception:
                log.exception("Claiming checks failed; it is tried again")
            CHECKS_IN_FLIGHT.set(len(self._running))
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), self._pause_seconds)

    async def _call_on_and_on(self) -> None:
        while True:
            await self._has_room.wait()
            self._has_room.clear()
            self._call_line()
            await asyncio.sleep(CALL_SECONDS)

    async def _claim(self) -> None:
        """Claim as much as there is room for and begin it; what cannot begin soon is due again later."""
        self._call_line()
        room = self._load.admit(min(self._lanes.room, self._gathering.room))
        if room > 0:
            claimed = await claim_due(self._now(), room)
            self._outage.end()
            self._call_line()  # before those that come now
            refused = [each for each in claimed if not self._take(each)]
            self._without_turn += refused
            if len(claimed) == room:
                self._pause_seconds = REFUSING_TICK_SECONDS if refused else SHORTEST_TICK_SECONDS
        await self._postpone()

    async def _postpone(self) -> None:
        without_turn, self._without_turn = self._without_turn, []
        for seconds, claimed in self._postponements.postpone(without_turn).items():
            jittered = seconds * random.uniform(1, POSTPONEMENT_JITTER)  # noqa: S311 - not all at once again
            await give_back(claimed, self._now() + timedelta(seconds=jittered))

    def _take(self, claimed: Claimed) -> bool:
        """Begin, or line up; False if there is no hope of a turn."""
        turn = self._lanes.take(claimed) if self._is_covered(claimed) else Turn.NEVER
        if turn is Turn.NOW:
            self._begin(claimed)
        return turn is not Turn.NEVER

    def _call_line(self) -> None:
        self._without_turn += self._lanes.send_away(lambda each: not self._is_covered(each))
        for claimed in self._lanes.call():
            self._begin(claimed)

    def _dismiss_line(self) -> list[Claimed]:
        without_turn, self._without_turn = self._without_turn, []
        return [*without_turn, *self._lanes.send_away(lambda _: True)]

    def _begin(self, claimed: Claimed) -> None:
        self._postponements.forget(claimed)
        task = asyncio.create_task(self._check(claimed))
        self._running[task] = claimed
        task.add_done_callback(self._running.pop)

    async def _check(self, claimed: Claimed) -> None:
        try:
            checked_at, began_at = self._now(), time.perf_counter()
            found = await self._probe(claimed)
            self._note(claimed, found, checked_at, time.perf_counter() - began_at)
        except OSError as error:
            self._exhaustion.begin(error)  # the lease ends, and it is checked again
        except Exception:
            log.exception("A check failed by itself; it is made again when its lease has ended")
        else:
            self._exhaustion.end()
        finally:
            self._lanes.leave(claimed)
            if self._lanes.has_line:
                self._has_room.set()

    def _note(self, claimed: Claimed, found: Finding, checked_at: datetime, duration_seconds: float) -> None:
        delay_seconds = max(0.0, (checked_at - claimed.planned_at).total_seconds())
        if claimed.last_checked_at:  # by a machine whose clock may be ahead
            checked_at = max(checked_at, claimed.last_checked_at + _MICROSECOND)
        record_check(found.verdict.outcome, delay_seconds, duration_seconds)
        self._gathering.add(Checked(claimed, checked_at, found.exchange, found.verdict))

    def _is_covered(self, claimed: Claimed) -> bool:
        """Say whether the lease lasts for a check that begins now."""
        timeout = timedelta(seconds=claimed.request.timeout_seconds)
        return self._now() + timeout + RESERVE <= claimed.lease_ends_at


def _affordable(wanted: int, max_connections: int) -> int:
    """Return how many checks to make at once: one that waited for a connection would outlast its lease."""
    affordable = max(1, max_connections - KEPT_CONNECTIONS)
    if wanted > affordable:
        log.warning(
            "CHECKS_AT_ONCE is %d, but this process may open too few files: it makes %d", wanted, affordable
        )
    return min(wanted, affordable)


async def _cancel(tasks: Collection[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
