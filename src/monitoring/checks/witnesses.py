"""Uses the servers that a checker checks as witnesses, to find out whether this service is offline.

If unrelated servers become unreachable at the same time, this service must be offline. Checkers use witnesses
if they have no REFERENCE_URLS. Checkers only connect to a witness, and do not send a request.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from monitoring.checks.claims import Claimed
from monitoring.monitors.health import GRACE, State
from monitoring.outbound.dialer import Call, Dialer
from monitoring.outbound.failures import ExchangeFailed, FailureCode
from monitoring.outbound.resolving import Resolver
from monitoring.outbound.targets import Endpoint

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList

# The minimum number of witnesses' domains, and of their distinct servers. Fewer could really all be down at
# the same time.
FEWEST_DOMAINS = 5

MOST_ASKED = 20
MOST_REMEMBERED = 1000
ANSWER_SECONDS = 5.0


def domain_of(host: str) -> str | None:
    """Return the registered domain of a host: `example.co.uk` for `www.example.co.uk`.

    Return None for an IP address, and for a public suffix such as `co.uk`.
    """
    name = host.rstrip(".")
    if name.rpartition(".")[2].isdigit() or ":" in name:
        return None
    domain: str | None = _public_suffixes().privatesuffix(name)
    return domain


@cache  # loading the list of suffixes, before a checker's first check, takes about 250 ms and 2 MiB
def _public_suffixes() -> PublicSuffixList:
    from publicsuffixlist import PublicSuffixList  # noqa: PLC0415 - as above

    # Private suffixes are left out. Their subdomains belong to different owners, but are at one provider, so
    # they can fail together.
    return PublicSuffixList(only_icann=True)


class _Witness(NamedTuple):
    endpoint: Endpoint
    until: float


class Witnesses:
    """Remembers, for each domain, one checked server that is not known to be down.

    `clock` is monotonic, in seconds.
    """

    def __init__(
        self,
        dialer: Dialer,
        make_resolver: Callable[[], Resolver],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._dialer = dialer
        self._make_resolver = make_resolver
        self._clock = clock
        self._by_domain: dict[str, _Witness] = {}

    @property
    def count(self) -> int:
        """How many domains have a witness. A witness is dropped if it has not been checked again when due."""
        now = self._clock()
        self._by_domain = {domain: each for domain, each in self._by_domain.items() if each.until >= now}
        return len(self._by_domain)

    def note_check(self, claimed: Claimed) -> None:
        """Remember the server of a monitor that is about to be checked, if it can be a witness.

        A server cannot be a witness if it is already down, if its URL has an IP address instead of a name, or
        if it is checked without a connection to a port.
        """
        endpoint = claimed.probe.endpoint
        domain = domain_of(endpoint.host) if endpoint else None
        if endpoint is None or domain is None or not endpoint.port:
            return
        known = self._by_domain.pop(domain, None)
        if claimed.health.settled == State.DOWN:
            if known and known.endpoint.host != endpoint.host:
                self._by_domain[domain] = known
            return
        seconds = claimed.interval_seconds + GRACE.total_seconds()
        self._by_domain[domain] = _Witness(endpoint, self._clock() + seconds)
        if len(self._by_domain) > MOST_REMEMBERED:
            del self._by_domain[next(iter(self._by_domain))]  # the least recently checked one

    async def is_any_there(self) -> bool:
        """Connect to up to `MOST_ASKED` random witnesses, and return True as soon as one connection succeeds.

        Also return True if there are too few witnesses, or if they are on too few distinct servers.
        """
        if self.count < FEWEST_DOMAINS:
            return True
        chosen = random.sample(list(self._by_domain.items()), min(MOST_ASKED, len(self._by_domain)))
        async with self._make_resolver() as resolver:  # a new resolver has no cached IP addresses
            return await self._is_any_of(chosen, resolver)

    async def _is_any_of(self, chosen: Sequence[tuple[str, _Witness]], resolver: Resolver) -> bool:
        connecting = [
            asyncio.ensure_future(self._look_for(domain, each.endpoint, resolver)) for domain, each in chosen
        ]
        places: set[str] = set()
        try:
            for ended in asyncio.as_completed(connecting):
                place = await ended
                if place is None:
                    return True
                places.add(place)
            return len(places) < FEWEST_DOMAINS
        finally:
            for task in connecting:
                task.cancel()
            await asyncio.gather(*connecting, return_exceptions=True)

    async def _look_for(self, domain: str, endpoint: Endpoint, resolver: Resolver) -> str | None:
        """Connect to a witness. Return None if the connection succeeds.

        Otherwise return the server's IP address, or the domain if the host name cannot be resolved.
        """
        place = domain

        async def connect(call: Call) -> None:
            connection = await call.connect(endpoint, asyncio.Protocol)
            connection.transport.abort()

        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                [address, *_] = await resolver.resolve(endpoint.host)
                place = str(address)
                await self._dialer.call(connect, ANSWER_SECONDS)
                return None
        except ExchangeFailed as failed:
            # A gateway that has lost its uplink may resolve every host name to its own IP address. All
            # witnesses would then look like one server, so the domain is returned instead of the IP address.
            return domain if failed.failure.code is FailureCode.BLOCKED_ADDRESS else place
        except OSError:  # the connection timed out, or no socket was left
            return place
