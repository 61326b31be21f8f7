"""One check: ask the server, judge what it says, and doubt ourselves."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from monitoring.checks.judging import Verdict, is_about_the_network, judge
from monitoring.monitors.health import Outcome
from monitoring.outbound.exchanges import Exchange

if TYPE_CHECKING:
    from monitoring.checks.claims import Claimed
    from monitoring.checks.sight import Sight
    from monitoring.outbound.client import HttpClient


class Finding(NamedTuple):
    """What a check found."""

    exchange: Exchange
    verdict: Verdict


BLIND = Finding(Exchange(), Verdict(Outcome.UNKNOWN, message="The service itself was offline"))


async def probe(claimed: Claimed, client: HttpClient, sight: Sight) -> Finding:
    """Check a monitor. A failure that may be our own network's says nothing about it: then we are `BLIND`.

    Raises OSError when this machine has no sockets left.
    """
    began_at = time.monotonic()
    exchange = await client.send(claimed.request)
    verdict = judge(exchange, claimed.expectation, datetime.now(UTC))
    if verdict.error and is_about_the_network(verdict.error) and await sight.is_blind(began_at):
        return BLIND
    if exchange.body:  # it has been judged, and findings wait to be stored
        exchange = exchange._replace(body=b"")
    return Finding(exchange, verdict)
