"""The stored answers to writes."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from tortoise import fields
from tortoise.models import Model

from monitoring.auth.models import Team
from monitoring.backends.fields import JsonTextField, UtcDatetimeField, uuid7


class IdempotencyKey(Model):
    """The first answer to a write, kept for its repetitions."""

    id = fields.UUIDField(primary_key=True, default=uuid7)
    team: fields.ForeignKeyRelation[Team] = fields.ForeignKeyField(
        "monitoring.Team", related_name="idempotency_keys"
    )
    team_id: UUID
    key = fields.CharField(max_length=255)
    request_sha256 = fields.CharField(max_length=64)
    reply_status = fields.IntField()
    reply_headers: JsonTextField[dict[str, str]] = JsonTextField()
    reply_body = fields.TextField()
    created_at: UtcDatetimeField[datetime] = UtcDatetimeField(db_index=True)

    class Meta:
        table = "idempotency_keys"
        unique_together = (("team_id", "key"),)
