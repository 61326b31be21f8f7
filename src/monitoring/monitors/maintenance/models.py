"""Maintenance windows, and the time that monitors spent in them."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from tortoise import fields
from tortoise.models import Model

from monitoring.auth.models import Team
from monitoring.auth.names import MAX_NAME_CHARACTERS
from monitoring.backends.fields import JsonTextField, UtcDatetimeField, uuid7
from monitoring.by_key.placing import MAX_KEY_CHARACTERS
from monitoring.monitors.models import Monitor


class MaintenanceWindow(Model):
    """When maintenance begins, how long it lasts, and for which monitors.

    Occurrences that began until `ended_at` are over. `due_at` is when a worker looks at the window next; null
    means that no occurrence follows.
    """

    id = fields.UUIDField(primary_key=True, default=uuid7)
    team: fields.ForeignKeyRelation[Team] = fields.ForeignKeyField(
        "monitoring.Team", related_name="maintenance_windows"
    )
    team_id: UUID

    name = fields.CharField(max_length=MAX_NAME_CHARACTERS)
    starts_at: UtcDatetimeField[datetime] = UtcDatetimeField()
    duration_seconds = fields.IntField()
    recurrence = fields.CharField(max_length=200, null=True)
    time_zone = fields.CharField(max_length=64)
    monitor_ids: JsonTextField[list[str]] = JsonTextField()
    tags: JsonTextField[list[str]] = JsonTextField()

    ended_at: UtcDatetimeField[datetime | None] = UtcDatetimeField(null=True)
    due_at: UtcDatetimeField[datetime | None] = UtcDatetimeField(null=True, db_index=True)
    # What the team's own programs call it.
    key = fields.CharField(max_length=MAX_KEY_CHARACTERS, null=True)
    created_at: UtcDatetimeField[datetime] = UtcDatetimeField()
    updated_at: UtcDatetimeField[datetime] = UtcDatetimeField()

    class Meta:
        table = "maintenance_windows"
        indexes = (("team_id", "id"),)


class MaintenanceSpan(Model):
    """A monitor was in maintenance from `starts_at` until before `ends_at`. Its spans do not overlap."""

    id = fields.UUIDField(primary_key=True, default=uuid7)
    monitor: fields.ForeignKeyRelation[Monitor] = fields.ForeignKeyField(
        "monitoring.Monitor", related_name="maintenance_spans"
    )
    monitor_id: UUID
    starts_at: UtcDatetimeField[datetime] = UtcDatetimeField()
    ends_at: UtcDatetimeField[datetime] = UtcDatetimeField()

    class Meta:
        table = "maintenance_spans"
        unique_together = (("monitor_id", "starts_at"),)
