"""What checks add up to. There is no model for single results: see `results.py`."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from tortoise import fields
from tortoise.models import Model

from monitoring.backends.fields import JsonTextField, UtcDatetimeField, uuid7
from monitoring.monitors.models import Monitor


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
