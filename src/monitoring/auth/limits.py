"""Rate limits: counted, announced on the answer, and refused when exceeded."""

from __future__ import annotations

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
    """Count a request under each key and announce the tightest. Raises `Problem("rate_limited")`."""
    counters = current_backends().counters
    allowances = [await counters.hit(policy, key) for key in keys]
    demand_allowance(request, min(allowances, key=_room_left))


def demand_allowance(request: HTTPConnection, allowance: Allowance) -> None:
    """Announce what is left of a limit. Raises `Problem("rate_limited")` if nothing is."""
    for name, value in allowance.headers().items():
        add_reply_header(request, name, value)
    if not allowance.allowed:
        RATE_LIMIT_HITS.labels(allowance.policy.name).inc()
        raise Problem("rate_limited", retry_after_seconds=allowance.reset_seconds)


def client_address(request: HTTPConnection) -> str:
    """Return the caller's address, as the server sees it behind its trusted proxies."""
    return request.client.host if request.client else "unknown"


def _room_left(allowance: Allowance) -> tuple[bool, int, int]:
    # Of two exceeded limits the one that lasts longer tells when to come back.
    return allowance.allowed, allowance.remaining, -allowance.reset_seconds
