"""Notification channels, and their deliveries."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum, auto
from typing import Any
from uuid import UUID

from tortoise import fields
from tortoise.models import Model

from monitoring.auth.models import Team
from monitoring.auth.names import MAX_NAME_CHARACTERS
from monitoring.backends.fields import JsonTextField, UtcDatetimeField, uuid7
from monitoring.by_key.placing import MAX_KEY_CHARACTERS

# The type of channels that are a team's own server.
WEBHOOK = "webhook"
# The type of channels whose address must be confirmed.
EMAIL = "email"
# The event that asks for it.
CONFIRMATION = "channel.confirmation"


class NotificationChannel(Model):
    """Where a team is notified. Columns hold what answers show, and `secret` what they must not."""

    id = fields.UUIDField(primary_key=True, default=uuid7)
    team: fields.ForeignKeyRelation[Team] = fields.ForeignKeyField(
        "monitoring.Team", related_name="notification_channels"
    )
    team_id: UUID
    type = fields.CharField(max_length=20, default="webhook", db_default="webhook")
    name = fields.CharField(max_length=MAX_NAME_CHARACTERS)
    # Empty for types without a URL.
    url = fields.CharField(max_length=2048)
    # The fields that only this type has.
    settings: JsonTextField[dict[str, Any]] = JsonTextField(default=dict, db_default={})
    events: JsonTextField[list[str]] = JsonTextField()
    enabled = fields.BooleanField()
    disabled_reason = fields.CharField(max_length=255, null=True)
    secret = fields.TextField()
    # When a reader of the email address asked for notifications. Other types need no consent.
    confirmed_at: UtcDatetimeField[datetime | None] = UtcDatetimeField(null=True)
    # When a reader last confirmed or unsubscribed. Links to confirm from before are used up.
    answered_at: UtcDatetimeField[datetime | None] = UtcDatetimeField(null=True)
    # What the team's own programs call it.
    key = fields.CharField(max_length=MAX_KEY_CHARACTERS, null=True)
    created_at: UtcDatetimeField[datetime] = UtcDatetimeField()
    updated_at: UtcDatetimeField[datetime] = UtcDatetimeField()

    @property
    def is_unconfirmed(self) -> bool:
        """Whether nobody who reads its address has asked for its notifications."""
        return self.type == EMAIL and self.confirmed_at is None

    class Meta:
        table = "notification_channels"
        indexes = (("team_id", "id"),)


class ReceiverExam(Model):
    """The last exam of a webhook's receiver. `results` are those of the document, and null until it ended."""

    id = fields.UUIDField(primary_key=True, default=uuid7)
    channel: fields.ForeignKeyRelation[NotificationChannel] = fields.ForeignKeyField(
        "monitoring.NotificationChannel", related_name="exams"
    )
    channel_id: UUID
    results: JsonTextField[list[dict[str, Any]] | None] = JsonTextField(null=True)
    created_at: UtcDatetimeField[datetime] = UtcDatetimeField()
    # When a worker took it, which no other does then.
    started_at: UtcDatetimeField[datetime | None] = UtcDatetimeField(null=True)

    class Meta:
        table = "receiver_exams"
        indexes = (("channel_id", "id"),)


class Mute(Model):
    """Nobody is told what happens to a monitor until `muted_until`. Without one, until it is unmuted."""

    id = fields.UUIDField(primary_key=True, default=uuid7)
    # Any, because the room of monitors builds on this one.
    monitor: fields.OneToOneRelation[Any] = fields.OneToOneField("monitoring.Monitor", related_name="mute")
    monitor_id: UUID
    team: fields.ForeignKeyRelation[Team] = fields.ForeignKeyField("monitoring.Team", related_name="mutes")
    team_id: UUID
    muted_until: UtcDatetimeField[datetime | None] = UtcDatetimeField(null=True)
    # An actor's name. Null if an earlier release muted the monitor.
    muted_by = fields.CharField(max_length=255, null=True)

    class Meta:
        table = "mutes"
        indexes = (("team_id", "monitor_id"),)


class DeliveryStatus(StrEnum):
    """The statuses of the document. A delivery is pending while it waits and while it is sent."""

    PENDING = auto()
    DELIVERED = auto()
    FAILED = auto()
    SKIPPED = auto()  # over, acknowledged or muted before it was sent


class NotificationDelivery(Model):
    """One message to one channel: the row is the job. `payload` is the event as JSON."""

    id = fields.UUIDField(primary_key=True, default=uuid7)
    channel: fields.ForeignKeyRelation[NotificationChannel] = fields.ForeignKeyField(
        "monitoring.NotificationChannel", related_name="deliveries"
    )
    channel_id: UUID
    event = fields.CharField(max_length=32)
    # The incident, monitor or article of the event.
    subject_id = fields.UUIDField(null=True, db_index=True)
    payload = fields.TextField()
    status = fields.CharField(max_length=10)
    attempts = fields.IntField(default=0)
    # While a worker sends it, `due_at` is the end of the lease. Null once the delivery has ended.
    due_at: UtcDatetimeField[datetime | None] = UtcDatetimeField(null=True, db_index=True)
    claim = fields.UUIDField(null=True)
    # Why it was not sent at once, a `routing.Hold`.
    hold = fields.CharField(max_length=10, null=True)
    # The digest that includes this delivery, which ends as the digest does.
    digest_id = fields.UUIDField(null=True, db_index=True)
    # When a task message for it was last sent. The sweep then skips it for a while.
    nudged_at: UtcDatetimeField[datetime | None] = UtcDatetimeField(null=True)
    # False as long as the receiver refused every attempt. Null in rows of an earlier release.
    may_have_arrived = fields.BooleanField(default=False, db_default=True)
    status_code = fields.IntField(null=True)
    # Why the last attempt failed, or why it was skipped.
    error_message = fields.CharField(max_length=255, null=True)
    created_at: UtcDatetimeField[datetime] = UtcDatetimeField(db_index=True)
    # When the last attempt ended. Null if there was none, or if an earlier release made it.
    attempted_at: UtcDatetimeField[datetime | None] = UtcDatetimeField(null=True)
    delivered_at: UtcDatetimeField[datetime | None] = UtcDatetimeField(null=True)

    class Meta:
        table = "notification_deliveries"
        indexes = (("channel_id", "id"),)


class KeptRequest(Model):
    """What a sandbox would have sent for a delivery: the request of the last attempt, without secrets."""

    id = fields.UUIDField(primary_key=True, default=uuid7)
    delivery: fields.OneToOneRelation[NotificationDelivery] = fields.OneToOneField(
        "monitoring.NotificationDelivery", related_name="kept_request"
    )
    delivery_id: UUID
    # As the document's `KeptRequest`
    request: JsonTextField[dict[str, Any]] = JsonTextField()

    class Meta:
        table = "kept_requests"
