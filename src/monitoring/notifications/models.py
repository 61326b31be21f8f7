"""Notification webhooks, and their deliveries."""

from __future__ import annotations

from enum import StrEnum, auto
from typing import TYPE_CHECKING

from tortoise import fields
from tortoise.models import Model

from monitoring.auth.names import MAX_NAME_CHARACTERS
from monitoring.backends.fields import JsonTextField, UtcDatetimeField, uuid7

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from monitoring.auth.models import Team


class NotificationWebhook(Model):
    """A server of a team's. The secret is encrypted, and only signing and the first answer read it."""

    id = fields.UUIDField(primary_key=True, default=uuid7)
    team: fields.ForeignKeyRelation[Team] = fields.ForeignKeyField(
        "monitoring.Team", related_name="notification_webhooks"
    )
    team_id: UUID
    type = "webhook"  # becomes a column when the document has receivers of other channels
    name = fields.CharField(max_length=MAX_NAME_CHARACTERS)
    url = fields.CharField(max_length=2048)
    events: JsonTextField[list[str]] = JsonTextField()
    enabled = fields.BooleanField()
    disabled_reason = fields.CharField(max_length=255, null=True)
    secret = fields.TextField()
    created_at: UtcDatetimeField[datetime] = UtcDatetimeField()
    updated_at: UtcDatetimeField[datetime] = UtcDatetimeField()

    class Meta:
        table = "notification_webhooks"
        indexes = (("team_id", "id"),)


class DeliveryStatus(StrEnum):
    """As the document names them. A delivery is pending while it waits and while it is sent."""

    PENDING = auto()
    DELIVERED = auto()
    FAILED = auto()


class NotificationDelivery(Model):
    """One message to one webhook: the row is the job. `payload` is the body, byte for byte."""

    id = fields.UUIDField(primary_key=True, default=uuid7)
    webhook: fields.ForeignKeyRelation[NotificationWebhook] = fields.ForeignKeyField(
        "monitoring.NotificationWebhook", related_name="deliveries"
    )
    webhook_id: UUID
    event = fields.CharField(max_length=32)
    payload = fields.TextField()
    status = fields.CharField(max_length=10)
    attempts = fields.IntField(default=0)
    # While a worker sends it, `due_at` is the end of the lease. None if nothing is left to do.
    due_at: UtcDatetimeField[datetime | None] = UtcDatetimeField(null=True, db_index=True)
    claim = fields.UUIDField(null=True)
    # When somebody last sent a message for it. The sweep then leaves it alone for a while.
    nudged_at: UtcDatetimeField[datetime | None] = UtcDatetimeField(null=True)
    status_code = fields.IntField(null=True)
    error_message = fields.CharField(max_length=255, null=True)
    created_at: UtcDatetimeField[datetime] = UtcDatetimeField(db_index=True)
    delivered_at: UtcDatetimeField[datetime | None] = UtcDatetimeField(null=True)

    class Meta:
        table = "notification_deliveries"
        indexes = (("webhook_id", "id"),)
