"""Finds out whether this service is offline, after a check failed in a way that being offline explains."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from monitoring.checks.witnesses import FEWEST_DOMAINS, Witnesses
from monitoring.metrics import CHECKER_BLIND
from monitoring.outbound.exchanges import Exchange, OutboundRequest
from monitoring.outbound.failures import FailureCode

ANSWER_SECONDS = 5.0

# How long a result is valid, and the minimum time between attempts. These limits matter because many checks
# may fail at the same time.
HOLDING_SECONDS = 5.0
DISTANCE_SECONDS = 1.0

# Failures that this service's own network connection can cause. For example, a gateway that has lost its
# uplink may resolve every host name to its own IP address, to which checks do not connect. All other failures
# can occur only if the server responds.
_ABOUT_THE_NETWORK = frozenset(
    {
        FailureCode.DNS_FAILURE,
        FailureCode.CONNECTION_REFUSED,
        FailureCode.CONNECTION_FAILED,
        FailureCode.TIMEOUT,
        FailureCode.TLS_INVALID,
        FailureCode.BLOCKED_ADDRESS,
    }
)

log = logging.getLogger(__name__)


def is_about_the_network(code: str) -> bool:
    """Return whether this service's own network may have caused a failure with this code."""
    return code in _ABOUT_THE_NETWORK


class Connectivity:
    """Finds out whether this service is online, by requesting all reference URLs at the same time.

    The service is offline if no reference URL responds. Without reference URLs, the class instead connects to
    the witnesses, which are servers that this checker checks. If there are too few witnesses, the service
    counts as online. `clock` returns a monotonic time in seconds.
    """

    def __init__(
        self,
        send: Callable[[OutboundRequest], Awaitable[Exchange]],
        reference_urls: Sequence[str],
        clock: Callable[[], float] = time.monotonic,
        witnesses: Witnesses | None = None,
    ) -> None:
        self._send = send
        self._requests = [
            OutboundRequest(method="GET", url=url, timeout_seconds=ANSWER_SECONDS) for url in reference_urls
        ]
        self._clock = clock
        self._witnesses = witnesses
        self._asking = asyncio.Lock()
        self._asked_at = self._answered_at = self._blind_at = float("-inf")
        self._is_blind = False

    async def is_blind(self, check_began_at: float, *, is_news: bool = True) -> bool:
        """Return whether a check has just failed because this service was offline.

        `check_began_at` is a time from `clock`. If the monitor was already down (not `is_news`), witnesses
        are tried only while this service is known to be offline.

        An attempt to reach the references or witnesses counts only if it started after the check began.
        Checks that fail at the same time share an attempt.
        """
        if not self._requests and not self._may_ask_witnesses(is_news=is_news):
            return False
        async with self._asking:  # while this check waits, another check may get the result
            if self._blind_at >= check_began_at:
                return True
            if self._asked_at < check_began_at or self._clock() - self._answered_at > HOLDING_SECONDS:
                await asyncio.sleep(max(0.0, self._asked_at + DISTANCE_SECONDS - self._clock()))
                await self._ask()
            return self._is_blind

    def _may_ask_witnesses(self, *, is_news: bool) -> bool:
        if self._witnesses is None or not (is_news or self._is_blind):
            return False
        return self._witnesses.count >= FEWEST_DOMAINS

    async def look_for_the_end(self) -> None:
        """While this service is offline, test every few seconds whether it still is. Run until cancelled."""
        while True:
            await asyncio.sleep(HOLDING_SECONDS)
            async with self._asking:
                if self._is_blind:
                    await self._ask()

    async def _ask(self) -> None:
        asked_at = self._clock()
        is_blind = not await (
            self._witnesses.is_any_there()
            if self._witnesses and not self._requests
            else self._is_any_reference_there()
        )
        self._asked_at, self._answered_at = asked_at, self._clock()
        if is_blind:
            self._blind_at = self._answered_at
        if is_blind and not self._is_blind:
            silent = "no URL of REFERENCE_URLS" if self._requests else "none of the servers that it checked"
            log.warning(
                "This machine is offline: %s responds. Failed checks count as unknown until one responds",
                silent,
            )
        elif self._is_blind and not is_blind:
            log.info("Over: this machine was offline")
        self._is_blind = is_blind
        CHECKER_BLIND.set(is_blind)

    async def _is_any_reference_there(self) -> bool:
        """Return True as soon as one reference responds, without waiting for the others."""
        sending = [asyncio.ensure_future(self._send(request)) for request in self._requests]
        try:
            for answered in asyncio.as_completed(sending):
                with suppress(OSError):  # no socket was left
                    if (await answered).failure is None:
                        return True
            return False
        finally:
            for task in sending:
                task.cancel()
            await asyncio.gather(*sending, return_exceptions=True)
