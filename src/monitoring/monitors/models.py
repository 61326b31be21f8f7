"""Monitors, and the writes that are answered once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tortoise import fields
from tortoise.models import Model

from monitoring.backends.fields import JsonTextField, UtcDatetimeField, uuid7

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from monitoring.auth.models import Team


class Monitor(Model):
    """A watched web address. Columns are named like the document's fields, and the last two are ours."""

    id = fields.UUIDField(primary_key=True, default=uuid7)
    team: fields.ForeignKeyRelation[Team] = fields.ForeignKeyField("monitoring.Team", related_name="monitors")
    team_id: UUID

    name = fields.CharField(max_length=100)
    url = fields.CharField(max_length=2048)
    method = fields.CharField(max_length=7)
    request_headers: JsonTextField[dict[str, str]] = JsonTextField()
    request_body = fields.TextField(null=True)
    expected_status_codes: JsonTextField[list[str]] = JsonTextField()
    required_keyword = fields.CharField(max_length=255, null=True)
    forbidden_keyword = fields.CharField(max_length=255, null=True)
    interval_seconds = fields.IntField()
    timeout_seconds = fields.IntField()
    follow_redirects = fields.BooleanField()
    verify_tls = fields.BooleanField()
    tls_expiry_warning_days = fields.IntField()
    failure_threshold = fields.IntField()
    recovery_threshold = fields.IntField()
    paused = fields.BooleanField()
    tags: JsonTextField[list[str]] = JsonTextField()

    status = fields.CharField(max_length=10)
    status_changed_at: UtcDatetimeField[datetime] = UtcDatetimeField()
    last_checked_at: UtcDatetimeField[datetime | None] = UtcDatetimeField(null=True)
    next_check_at: UtcDatetimeField[datetime | None] = UtcDatetimeField(null=True)
    last_response_time_ms = fields.IntField(null=True)
    last_error = fields.CharField(max_length=255, null=True)
    created_at: UtcDatetimeField[datetime] = UtcDatetimeField()
    updated_at: UtcDatetimeField[datetime] = UtcDatetimeField()

    version = fields.IntField(default=1)
    search_text = fields.TextField()

    class Meta:
        table = "monitors"
        indexes = (("team_id", "id"),)


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
