"""Results of checks, and what they add up to.

There are more results than of anything else, so they have no model of Tortoise's: PostgreSQL copies them into
partitions.
"""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from tortoise import fields
from tortoise.models import Model

from monitoring.backends.fields import JsonTextField, UtcDatetimeField, uuid7
from monitoring.history.tallies import transfer_of
from monitoring.monitors.models import Monitor


class CheckResult(NamedTuple):
    """What one check found. Its fields are the columns of `checks`, and those of the document's Check."""

    monitor_id: UUID
    checked_at: datetime
    outcome: str
    status_code: int | None
    response_time_ms: int | None
    dns_ms: int | None
    connect_ms: int | None
    tls_ms: int | None
    first_byte_ms: int | None
    error: str | None
    error_message: str | None

    @property
    def transfer_ms(self) -> int | None:
        """How long the answer took after its first byte; None if there was no answer."""
        if self.response_time_ms is None or self.first_byte_ms is None:
            return None
        return transfer_of(
            self.response_time_ms, self.dns_ms, self.connect_ms, self.tls_ms, self.first_byte_ms
        )


class Glimpse(NamedTuple):
    """What a glance at a check shows."""

    outcome: str
    response_time_ms: int | None
    is_in_maintenance: bool = False


class Rollup(Model):
    """The checks of one monitor in one hour or day (UTC). `latencies` is a `Latencies` sketch.

    `phases` are those of `Phases` in its order. Rows of 0.1 have none.
    """

    id = fields.UUIDField(primary_key=True, default=uuid7)
    monitor: fields.ForeignKeyRelation[Monitor] = fields.ForeignKeyField(
        "monitoring.Monitor", related_name="rollups"
    )
    monitor_id: UUID
    window = fields.CharField(max_length=4)
    starts_at: UtcDatetimeField[datetime] = UtcDatetimeField()
    check_count = fields.IntField()
    failed_check_count = fields.IntField()
    latencies: JsonTextField[dict[str, int]] = JsonTextField()
    phases: JsonTextField[list[int] | None] = JsonTextField(null=True)

    class Meta:
        table = "rollups"
        unique_together = (("monitor_id", "window", "starts_at"),)
        indexes = (("window", "starts_at"),)


class Progress(Model):
    """How far a job that goes through time has come."""

    job = fields.CharField(max_length=32, primary_key=True)
    done_until: UtcDatetimeField[datetime] = UtcDatetimeField()

    class Meta:
        table = "progress"
