"""How Acme's servers answer: made up, and the same every time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from math import pi, sin
from typing import TYPE_CHECKING

from monitoring.outbound.exchanges import Exchange
from monitoring.outbound.failures import Failure, FailureCode
from monitoring.outbound.stopwatch import Timings

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from random import Random

NO_ANSWER = Failure(FailureCode.TIMEOUT, "No answer within 15 seconds")


@dataclass(frozen=True, slots=True)
class Trouble:
    """A time in which a server does not answer, answers with a status, or answers slowly.

    It begins `since` before now and lasts `long`.
    """

    since: timedelta
    long: timedelta
    status_code: int = 200
    slower_by_ms: int = 0
    failure: Failure | None = None

    @property
    def is_outage(self) -> bool:
        """Say whether checks fail meanwhile."""
        return self.failure is not None or self.status_code != 200


def answer(
    moment: datetime, now: datetime, typical_ms: int, troubles: Sequence[Trouble], chance: Random
) -> Exchange:
    """Answer a check at some moment."""
    busy = 1 + 0.18 * sin((moment.hour + moment.minute / 60 - 9) / 24 * 2 * pi)
    first_byte_ms = typical_ms * busy * chance.lognormvariate(0, 0.13) + (
        typical_ms if chance.random() < 0.01 else 0
    )
    status_code = 200
    for trouble in troubles:
        if timedelta() <= moment - (now - trouble.since) < trouble.long:
            if trouble.failure:
                return Exchange(failure=trouble.failure, timings=Timings(total_ms=trouble.slower_by_ms))
            status_code = trouble.status_code
            first_byte_ms += trouble.slower_by_ms * chance.uniform(0.8, 1.3)
    dns_ms, connect_ms, tls_ms = (chance.uniform(0.8, 1.3) * ms for ms in (4, 11, 19))
    total_ms = dns_ms + connect_ms + tls_ms + first_byte_ms + chance.uniform(1, 6)
    return Exchange(
        status_code=status_code,
        timings=Timings(
            dns_ms=dns_ms,
            connect_ms=connect_ms,
            tls_ms=tls_ms,
            first_byte_ms=first_byte_ms,
            total_ms=total_ms,
        ),
    )
