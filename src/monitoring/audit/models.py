"""The audit log."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from tortoise import fields
from tortoise.models import Model

from monitoring.backends.fields import JsonTextField, UtcDatetimeField, uuid7

MAX_CHARACTERS = 255


class AuditEntry(Model):
    """One act. It names who and what it was about as they were called then, and outlives both."""

    id = fields.UUIDField(primary_key=True, default=uuid7)
    # Any, because this room may not import teams.
    team: fields.ForeignKeyRelation[Any] = fields.ForeignKeyField(
        "monitoring.Team", related_name="audit_entries"
    )
    team_id: UUID
    happened_at: UtcDatetimeField[datetime] = UtcDatetimeField()
    actor = fields.CharField(max_length=MAX_CHARACTERS)
    actor_user_id = fields.UUIDField(null=True)
    actor_client_id = fields.CharField(max_length=MAX_CHARACTERS, null=True)
    address = fields.CharField(max_length=MAX_CHARACTERS, null=True)
    action = fields.CharField(max_length=40)
    subject = fields.CharField(max_length=MAX_CHARACTERS)
    subject_id = fields.CharField(max_length=MAX_CHARACTERS, null=True)
    # For each changed field: its name, the old value and the new one. Secrets are masked.
    changes: JsonTextField[list[list[str]] | None] = JsonTextField(null=True)

    class Meta:
        table = "audit_entries"
        indexes = (("team_id", "id"), ("subject_id",))
