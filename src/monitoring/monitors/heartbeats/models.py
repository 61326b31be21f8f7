"""The tables of heartbeats: what is known of each job, what it sent, and when pings could reach us."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum, auto
from uuid import UUID

from tortoise import fields
from tortoise.models import Model

from monitoring.backends.fields import UtcDatetimeField, uuid7
from monitoring.monitors.models import Monitor

MAX_USER_AGENT_CHARACTERS = 200


class PingKind(StrEnum):
    """What a ping says of its job. LOG says nothing of it: its body is kept, and nothing else happens."""

    SUCCESS = auto()
    START = auto()
    FAIL = auto()
    LOG = auto()


class Heartbeat(Model):
    """What is known of the job of a monitor of this type.

    The token, which is a UUID, is stored encrypted, and found by its SHA-256. The schedule counts from
    `counted_from`: the last ping that ended a run, or the moment the monitor was resumed. Before the first
    ping it is null.
    """

    id = fields.UUIDField(primary_key=True, default=uuid7)
    monitor: fields.OneToOneRelation[Monitor] = fields.OneToOneField(
        "monitoring.Monitor", related_name="heartbeat"
    )
    monitor_id: UUID
    token_sha256 = fields.CharField(max_length=64, unique=True)
    encrypted_token = fields.TextField()

    counted_from: UtcDatetimeField[datetime | None] = UtcDatetimeField(null=True)
    # The last ping that ended a run, and its exit code if it had one.
    ended_at: UtcDatetimeField[datetime | None] = UtcDatetimeField(null=True)
    ended_with = fields.CharField(max_length=7, null=True)
    exit_code = fields.SmallIntField(null=True)
    # The run under way, if one is
    started_at: UtcDatetimeField[datetime | None] = UtcDatetimeField(null=True)
    run_id = fields.UUIDField(null=True)

    class Meta:
        table = "heartbeats"


class Ping(Model):
    """A ping as it came, with the beginning of its body. The last hundred of a monitor are kept."""

    id = fields.UUIDField(primary_key=True, default=uuid7)
    monitor: fields.ForeignKeyRelation[Monitor] = fields.ForeignKeyField(
        "monitoring.Monitor", related_name="pings"
    )
    monitor_id: UUID
    received_at: UtcDatetimeField[datetime] = UtcDatetimeField()
    kind = fields.CharField(max_length=7)
    exit_code = fields.SmallIntField(null=True)
    run_id = fields.UUIDField(null=True)
    method = fields.CharField(max_length=4)
    user_agent = fields.CharField(max_length=MAX_USER_AGENT_CHARACTERS, null=True)
    body = fields.TextField(null=True)
    is_body_cut = fields.BooleanField(default=False)

    class Meta:
        table = "pings"
        indexes = (("monitor_id", "id"),)


class PingReception(Model):
    """The one row that says until when pings could be received, and when they could be again after a gap."""

    id = fields.IntField(primary_key=True)
    received_until: UtcDatetimeField[datetime] = UtcDatetimeField()
    interrupted_until: UtcDatetimeField[datetime | None] = UtcDatetimeField(null=True)

    class Meta:
        table = "ping_reception"
