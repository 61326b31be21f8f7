"""Rate limits: count requests, report the remaining quota in headers, and refuse excess requests."""

from __future__ import annotations

from starlette.requests import HTTPConnection

from monitoring.backends.counters import Allowance
from monitoring.backends.current import current_backends
from monitoring.contract.problems import Problem
from monitoring.metrics import RATE_LIMIT_HITS
from monitoring.settings import RateLimitPolicy
from monitoring.web.caller_networks import network_of, plain_address
from monitoring.web.replies import notes_of


async def count_request(request: HTTPConnection, policy: RateLimitPolicy, *keys: str) -> None:
    """Count a request against one policy, under each of the keys, and report the tightest limit in headers.

    Raises `Problem("rate_limited")`.
    """
    await count_under(request, *((policy, key) for key in keys))


async def count_under(request: HTTPConnection, *limits: tuple[RateLimitPolicy, str]) -> list[Allowance]:
    """Count a request against several limits, and report the tightest one in the reply's headers.

    Once a limit is exceeded, the following limits do not count the request, so that no caller can exhaust
    another caller's limit. Raises `Problem("rate_limited")`.
    """
    counters, allowances = current_backends().counters, []
    for policy, key in limits:
        allowances.append(await counters.hit(policy, key))
        if not allowances[-1].allowed:
            break
    demand_allowance(request, min(allowances, key=_room_left))
    return allowances


def demand_allowance(request: HTTPConnection, allowance: Allowance) -> None:
    """Report a limit in the reply's headers. Raises `Problem("rate_limited")` if it is exceeded."""
    notes_of(request.scope).headers.update(allowance.headers())
    _refuse_excess(allowance)


async def demand_room(policy: RateLimitPolicy, key: str) -> None:
    """Count a use under `key`, without reporting the limit in headers. Raises `Problem("rate_limited")`."""
    _refuse_excess(await current_backends().counters.hit(policy, key))


def _refuse_excess(allowance: Allowance) -> None:
    if not allowance.allowed:
        RATE_LIMIT_HITS.labels(allowance.policy.name).inc()
        raise Problem("rate_limited", retry_after_seconds=allowance.reset_seconds)


def client_address(request: HTTPConnection) -> str:
    """Return the client's address, which trusted proxies may have forwarded. `unknown` if there is none."""
    return plain_address(request.client.host) if request.client else "unknown"


def client_network(request: HTTPConnection) -> str:
    """Return the network that limits count as one client: an IPv4 address or an IPv6 /64."""
    return network_of(client_address(request))


def _room_left(allowance: Allowance) -> tuple[bool, int, int]:
    # If two limits are exceeded, the one with the later reset determines Retry-After.
    return allowance.allowed, allowance.remaining, -allowance.reset_seconds
