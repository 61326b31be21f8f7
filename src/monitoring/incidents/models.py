"""Incidents, kept for good."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum, auto
from uuid import UUID

from tortoise import fields
from tortoise.models import Model

from monitoring.backends.fields import JsonTextField, UtcDatetimeField, uuid7
from monitoring.contract.document import Json

MAX_AUTHOR_CHARACTERS = 255


class IncidentState(StrEnum):
    """Whether an incident is over."""

    OPEN = auto()
    RESOLVED = auto()


class Resolution(StrEnum):
    """How an incident ended, as the document names it."""

    RECOVERED = auto()
    PAUSED = auto()
    DELETED = auto()


class Incident(Model):
    """A time in which a monitor was down. A unique index allows one open incident a monitor.

    `monitor_id` is no foreign key: an incident outlives its monitor. Nor is `team_id`, which is for lists:
    inserts would wait for whoever locks the team.
    """

    id = fields.UUIDField(primary_key=True, default=uuid7)
    team_id = fields.UUIDField()
    monitor_id = fields.UUIDField()
    started_at: UtcDatetimeField[datetime] = UtcDatetimeField()
    confirmed_at: UtcDatetimeField[datetime] = UtcDatetimeField()
    acknowledged_at: UtcDatetimeField[datetime | None] = UtcDatetimeField(null=True)
    acknowledged_by = fields.CharField(max_length=MAX_AUTHOR_CHARACTERS, null=True)
    resolved_at: UtcDatetimeField[datetime | None] = UtcDatetimeField(null=True)
    resolution = fields.CharField(max_length=10, null=True)
    error = fields.CharField(max_length=32)
    error_message = fields.CharField(max_length=255)
    # Status and headers of the answer to the check that confirmed it, if there was an answer
    answer: JsonTextField[dict[str, Json] | None] = JsonTextField(null=True)

    class Meta:
        table = "incidents"
        indexes = (("team_id", "id"), ("monitor_id", "id"))


class IncidentNote(Model):
    """What somebody wrote about an incident."""

    id = fields.UUIDField(primary_key=True, default=uuid7)
    incident: fields.ForeignKeyRelation[Incident] = fields.ForeignKeyField(
        "monitoring.Incident", related_name="notes"
    )
    incident_id: UUID
    author = fields.CharField(max_length=MAX_AUTHOR_CHARACTERS)
    text = fields.TextField()
    created_at: UtcDatetimeField[datetime] = UtcDatetimeField()

    class Meta:
        table = "incident_notes"
        indexes = (("incident_id", "id"),)
