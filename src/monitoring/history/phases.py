"""Where the time of answers went, added up over many checks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from tortoise.backends.base.client import BaseDBAsyncClient

from monitoring.backends.fields import read_id
from monitoring.backends.statements import spell
from monitoring.monitors.health import Outcome

# Only answers: of a failure, some phases are missing, and its time is a timeout's.
_SUM = f"""
    SELECT monitor_id, count(*), sum(coalesce(dns_ms, 0)), sum(coalesce(connect_ms, 0)),
        sum(coalesce(tls_ms, 0)), sum(first_byte_ms), sum(response_time_ms)
    FROM checks
    WHERE checked_at >= $1 AND checked_at < $2 AND outcome IN ('{Outcome.UP}', '{Outcome.DEGRADED}')
        AND response_time_ms IS NOT NULL AND first_byte_ms IS NOT NULL AND monitor_id IN ({{ids}})
    GROUP BY monitor_id
"""  # noqa: S608 - names of our own


class Phases(NamedTuple):
    """Milliseconds of `answer_count` answers together. The transfer is what the other phases leave."""

    answer_count: int = 0
    dns_ms: int = 0
    connect_ms: int = 0
    tls_ms: int = 0
    first_byte_ms: int = 0
    transfer_ms: int = 0

    def plus(self, other: Phases) -> Phases:
        """Add the answers of another."""
        return Phases(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))

    def averages(self) -> tuple[float, ...] | None:
        """Return the average of each phase in its order; None without an answer."""
        return tuple(each / self.answer_count for each in self[1:]) if self.answer_count else None


def transfer_of(response_time_ms: int, *phases_ms: int | None) -> int:
    """Return what the other phases leave of a response time, which is the transfer."""
    # Each phase is rounded by itself, so together they may be a little more than the whole.
    return max(0, response_time_ms - sum(each or 0 for each in phases_ms))


async def sum_phases(
    connection: BaseDBAsyncClient, monitor_ids: Sequence[UUID], values: Sequence[object]
) -> dict[UUID, Phases]:
    """Add up each monitor's phases. `values` are from when, until before when, and the ids, as stored."""
    ids = ", ".join(f"${number}" for number, _ in enumerate(monitor_ids, start=3))
    _, rows = await connection.execute_query(spell(connection, _SUM.format(ids=ids)), list(values))
    return {read_id(monitor_id): read_sums(*sums) for monitor_id, *sums in rows}


def read_sums(answer_count: int, *sums_ms: int) -> Phases:
    """Read the sums of so many answers: each phase but the transfer, and last the whole time."""
    if not answer_count:
        return Phases()
    dns_ms, connect_ms, tls_ms, first_byte_ms, total_ms = map(int, sums_ms)
    transfer_ms = transfer_of(total_ms, dns_ms, connect_ms, tls_ms, first_byte_ms)
    return Phases(answer_count, dns_ms, connect_ms, tls_ms, first_byte_ms, transfer_ms)
