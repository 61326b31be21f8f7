"""Rate limits: counted, announced on the answer, and refused when exceeded."""

from __future__ import annotations

from ipaddress import ip_network
from typing import TYPE_CHECKING

from monitoring.backends.current import current_backends
from monitoring.contract.problems import Problem
from monitoring.contract.replies import add_reply_header
from monitoring.metrics import RATE_LIMIT_HITS

if TYPE_CHECKING:
    from starlette.requests import HTTPConnection

    from monitoring.backends.counters import Allowance
    from monitoring.settings import RateLimitPolicy


async def count_request(request: HTTPConnection, policy: RateLimitPolicy, *keys: str) -> None:
    """Count a request under each key and announce the tightest. Raises `Problem("rate_limited")`.

    What one key refuses is not counted under those after it: nobody uses up what is another's.
    """
    counters, allowances = current_backends().counters, []
    for key in keys:
        allowances.append(await counters.hit(policy, key))
        if not allowances[-1].allowed:
            break
    demand_allowance(request, min(allowances, key=_room_left))


def demand_allowance(request: HTTPConnection, allowance: Allowance) -> None:
    """Announce what is left of a limit. Raises `Problem("rate_limited")` if nothing is."""
    for name, value in allowance.headers().items():
        add_reply_header(request.scope, name, value)
    if not allowance.allowed:
        RATE_LIMIT_HITS.labels(allowance.policy.name).inc()
        raise Problem("rate_limited", retry_after_seconds=allowance.reset_seconds)


def client_address(request: HTTPConnection) -> str:
    """Return the caller's address, as the server sees it behind its trusted proxies."""
    return request.client.host if request.client else "unknown"


def client_network(request: HTTPConnection) -> str:
    """Return what is counted as one caller: an address, of IPv6 its /64, which a customer has as a whole."""
    address = client_address(request)
    if ":" not in address:
        return address
    return str(ip_network(f"{address.partition('%')[0]}/64", strict=False))


def _room_left(allowance: Allowance) -> tuple[bool, int, int]:
    # Of two exceeded limits the one that lasts longer tells when to come back.
    return allowance.allowed, allowance.remaining, -allowance.reset_seconds
