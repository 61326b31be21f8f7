"""Runs checks: claims due monitors, checks many of them at once, and buffers the findings to be stored."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Coroutine
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta

from monitoring.backends.assembly import Backends
from monitoring.backends.clock import SMALLEST_JUMP
from monitoring.backends.current import current_backends
from monitoring.backends.errors import BackendUnavailable
from monitoring.backends.outage import Outage, note_delay
from monitoring.checks.claims import Claimed, claim_due, claim_misdated, give_back
from monitoring.checks.fair_queue import POSTPONEMENT_JITTER, FairQueue, Postponements, Turn
from monitoring.checks.load import Load
from monitoring.checks.prober import open_prober
from monitoring.checks.probes.protocol import Finding
from monitoring.checks.result_buffer import ResultBuffer
from monitoring.checks.storing import Checked
from monitoring.metrics import CHECKS_IN_FLIGHT, record_check
from monitoring.settings import Settings
from monitoring.tracing import span

TICK_SECONDS = 0.5
# The pauses between claims while more monitors are due than one claim takes. The second pause applies if the
# queue refused some monitors, because handling refusals takes time, too.
SHORTEST_TICK_SECONDS = 0.02
REFUSING_TICK_SECONDS = 0.1

# How often to look for due times set too far ahead because a clock was wrong. If this machine's clock is
# set back, the checker also looks immediately.
MISDATED_INTERVAL_SECONDS = 60.0

# How often waiting checks are started in place of finished checks. This happens in batches, because many
# checks finish at the same time.
CALL_SECONDS = 0.02

# A check begins only if the lease on its monitor ends at least this long after the check's timeout. After the
# timeout, the checker may have to find out whether it is offline, and must store the finding.
RESERVE = timedelta(seconds=7)

# Connections reserved for requests that find out whether this service is offline.
KEPT_CONNECTIONS = 16

# The maximum time to give claims back and store results when the process stops.
LAST_WORDS_SECONDS = 3.0

log = logging.getLogger(__name__)


@asynccontextmanager
async def run_checker(backends: Backends) -> AsyncIterator[None]:
    """Check monitors until the context ends. With CHECKS_AT_ONCE=0, check none.

    If the context ends normally, running checks get SHUTDOWN_TIMEOUT_SECONDS to finish. If it ends by an
    exception or is cancelled, running checks are cancelled immediately. The claims of unfinished checks are
    given back, so that another checker can run these checks immediately.
    """
    settings = backends.settings
    if not settings.checks_at_once:
        yield
        return
    with backends.activate():
        async with open_prober(settings) as prober:
            await backends.clock.read()  # before any claim depends on it
            at_once = _affordable(settings.checks_at_once, prober.max_connections)
            checker = Checker(settings, prober.probe, backends.clock.now, at_once)
            checker.start(prober.connectivity.look_for_the_end())
            finishing_seconds = 0.0
            try:
                yield
                finishing_seconds = settings.shutdown_timeout_seconds
            finally:
                await checker.stop(finishing_seconds)


class Checker:
    """Runs the checks of one process. `now` returns the time, and `probe` runs one check.

    At most `at_once` checks run at the same time. Its default is `settings.checks_at_once`.
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
        self._exhaustion = Outage("This machine has no sockets left: checks are late")
        self._queue = FairQueue(
            at_once or settings.checks_at_once, settings.checks_per_team, settings.checks_per_host
        )
        self._postponements = Postponements()
        self._without_turn: list[Claimed] = []
        self._load = Load()
        self._results = ResultBuffer(now)
        self._running: dict[asyncio.Task[None], Claimed] = {}
        self._loops: list[asyncio.Task[None]] = []
        self._pause_seconds = TICK_SECONDS
        self._looks_for_misdated_at = float("-inf")
        self._claimed_at = now()
        self._has_room = asyncio.Event()
        self._stopping = asyncio.Event()

    def start(self, *others: Coroutine[None, None, None]) -> None:
        """Start checking, and run the coroutines `others` as well, until `stop` is called."""
        loops = (
            self._claim_on_and_on(),
            self._call_on_and_on(),
            self._results.store_on_and_on(),
            self._load.measure(),
            *others,
        )
        self._loops = [asyncio.create_task(each) for each in loops]

    async def stop(self, finishing_seconds: float = 0.0) -> None:
        """Stop claiming monitors, and give running checks `finishing_seconds` to finish.

        Then give back the claims of unfinished checks, and store the results of finished checks.
        """
        self._stopping.set()
        claiming, *_ = self._loops
        unfinished: list[Claimed] = []
        try:
            async with asyncio.timeout(finishing_seconds):
                await asyncio.wait([claiming])  # cancelling this task could lose claims that it is making
                unfinished = self._dismiss_line()
                with suppress(BackendUnavailable):
                    await give_back(unfinished, self._now())
                if self._running:
                    await asyncio.wait(self._running)
        except TimeoutError:
            log.info("%d unfinished checks are left to other checkers", len(self._running))
        finally:
            unfinished += [*self._dismiss_line(), *self._running.values()]
            await _cancel([*self._loops, *self._running])
            with suppress(BackendUnavailable, TimeoutError):  # if this fails, the leases expire
                async with asyncio.timeout(LAST_WORDS_SECONDS):
                    await give_back(unfinished, self._now())  # skips claims that were given back above
                    await self._results.store_all()

    async def _claim_on_and_on(self) -> None:
        while not self._stopping.is_set():
            self._pause_seconds = TICK_SECONDS
            try:
                await self._claim()
            except BackendUnavailable as error:
                note_delay("Claiming checks", error)
            except Exception:
                log.exception("Claiming checks failed and will be tried again")
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
        """Claim as many due monitors as there is room for, and begin or queue their checks.

        Postpone the monitors that the queue refuses.
        """
        clock = current_backends().clock
        if not clock.is_known:  # a starting process must not trust the machine's clock
            await clock.read()
        if not clock.is_known:
            return
        self._call_line()
        room = self._load.admit(min(self._queue.free, self._results.free))
        if room > 0:
            claimed = await self._claim_misdated(room) or await claim_due(self._now(), room)
            self._call_line()  # waiting checks go first
            refused = [each for each in claimed if not self._take(each)]
            self._without_turn += refused
            if len(claimed) == room:
                self._pause_seconds = REFUSING_TICK_SECONDS if refused else SHORTEST_TICK_SECONDS
        await self._postpone()

    async def _claim_misdated(self, room: int) -> list[Claimed]:
        """Claim monitors whose due time was set too far ahead because a clock was wrong.

        Claim none unless `MISDATED_INTERVAL_SECONDS` have passed since the last look, or this machine's clock
        was just set back.
        """
        now = self._now()
        is_set_back, self._claimed_at = now < self._claimed_at - SMALLEST_JUMP, now
        if not is_set_back and time.monotonic() < self._looks_for_misdated_at:
            return []
        claimed = await claim_misdated(now, room)
        if len(claimed) < room:  # otherwise there may be more of these monitors
            self._looks_for_misdated_at = time.monotonic() + MISDATED_INTERVAL_SECONDS
        return claimed

    async def _postpone(self) -> None:
        without_turn, self._without_turn = self._without_turn, []
        for seconds, claimed in self._postponements.postpone(without_turn, self._queue.is_quick).items():
            jittered = seconds * random.uniform(1, POSTPONEMENT_JITTER)  # noqa: S311 - so that they do not come back together
            await give_back(claimed, self._now() + timedelta(seconds=jittered))

    def _take(self, claimed: Claimed) -> bool:
        """Begin a check or queue it. Return False if the check was refused."""
        turn = self._queue.take(claimed) if self._is_covered(claimed) else Turn.NEVER
        if turn is Turn.NOW:
            self._begin(claimed)
        return turn is not Turn.NEVER

    def _call_line(self) -> None:
        self._without_turn += self._queue.send_away(lambda each: not self._is_covered(each))
        for claimed in self._queue.call():
            self._begin(claimed)

    def _dismiss_line(self) -> list[Claimed]:
        without_turn, self._without_turn = self._without_turn, []
        return [*without_turn, *self._queue.send_away(lambda _: True)]

    def _begin(self, claimed: Claimed) -> None:
        self._postponements.forget(claimed)
        task = asyncio.create_task(self._check(claimed))
        self._running[task] = claimed
        task.add_done_callback(self._running.pop)

    async def _check(self, claimed: Claimed) -> None:
        checked_at, began_at = self._now(), time.perf_counter()
        try:
            with span("check", "client", {"monitoring.monitor_id": claimed.monitor_id}) as recorded:
                found = await self._probe(claimed)
                recorded.note("monitoring.check.outcome", found.outcome)
            self._note(claimed, found, checked_at, time.perf_counter() - began_at)
        except OSError as error:
            self._exhaustion.begin(error)  # the check is repeated when its lease has ended
        except Exception:
            log.exception(
                "A check ended with an unexpected error; it will be repeated when the checker's claim on "
                "it expires"
            )
        else:
            self._exhaustion.end()
        finally:
            self._queue.leave(claimed, time.perf_counter() - began_at)
            if self._queue.has_line:
                self._has_room.set()

    def _note(self, claimed: Claimed, found: Finding, checked_at: datetime, duration_seconds: float) -> None:
        delay_seconds = max(0.0, (checked_at - claimed.planned_at).total_seconds())
        record_check(found.outcome, delay_seconds, duration_seconds)
        self._results.add(Checked(claimed, claimed.date(checked_at), found))

    def _is_covered(self, claimed: Claimed) -> bool:
        """Return whether the lease lasts long enough for a check that begins now."""
        timeout = timedelta(seconds=claimed.timeout_seconds)
        return self._now() + timeout + RESERVE <= claimed.lease_ends_at


def _affordable(wanted: int, max_connections: int) -> int:
    """Return `wanted`, or fewer checks if this process cannot open a connection for each check at once.

    Otherwise, a check might wait for a connection until its lease ends.
    """
    affordable = max(1, max_connections - KEPT_CONNECTIONS)
    if wanted > affordable:
        log.warning(
            "CHECKS_AT_ONCE is %d, but this process may not open that many files: it runs %d checks at once",
            wanted,
            affordable,
        )
    return min(wanted, affordable)


async def _cancel(tasks: Collection[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
