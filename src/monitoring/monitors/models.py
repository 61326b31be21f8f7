"""The tables of monitors, of the state of their checks, and of how their time is counted."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from tortoise import fields
from tortoise.models import Model

from monitoring.auth.models import Team
from monitoring.auth.names import MAX_NAME_CHARACTERS
from monitoring.backends.fields import JsonTextField, UtcDatetimeField, uuid7
from monitoring.by_key.placing import MAX_KEY_CHARACTERS
from monitoring.contract.document import Json

# The type of monitors that are not asked: jobs report to them.
HEARTBEAT = "heartbeat"


class Monitor(Model):
    """A watched web address. Columns are named like the document's fields, and the last three are ours."""

    id = fields.UUIDField(primary_key=True, default=uuid7)
    team: fields.ForeignKeyRelation[Team] = fields.ForeignKeyField("monitoring.Team", related_name="monitors")
    team_id: UUID

    name = fields.CharField(max_length=MAX_NAME_CHARACTERS)
    type = fields.CharField(max_length=20, default="http", db_default="http")
    url = fields.CharField(max_length=2048)
    method = fields.CharField(max_length=7)
    request_headers: JsonTextField[dict[str, str]] = JsonTextField()
    request_body = fields.TextField(null=True)
    expected_status_codes: JsonTextField[list[str]] = JsonTextField()
    required_keyword = fields.CharField(max_length=255, null=True)
    forbidden_keyword = fields.CharField(max_length=255, null=True)
    assertions: JsonTextField[list[dict[str, Json]]] = JsonTextField(default=list, db_default=[])
    interval_seconds = fields.IntField()
    timeout_seconds = fields.IntField()
    follow_redirects = fields.BooleanField()
    verify_tls = fields.BooleanField()
    certificate_authority = fields.TextField(null=True)
    client_certificate = fields.TextField(null=True)  # encrypted
    tls_expiry_warning_days = fields.IntField()
    slow_threshold_ms = fields.IntField(null=True)
    failure_threshold = fields.IntField()
    recovery_threshold = fields.IntField()
    retry_interval_seconds = fields.IntField(default=10, db_default=10)
    paused = fields.BooleanField()
    tags: JsonTextField[list[str]] = JsonTextField()
    # What the document has in the member named like the type; those of `http` are columns.
    settings: JsonTextField[dict[str, Any]] = JsonTextField(default=dict, db_default={})

    status = fields.CharField(max_length=20)
    status_changed_at: UtcDatetimeField[datetime] = UtcDatetimeField()
    created_at: UtcDatetimeField[datetime] = UtcDatetimeField()
    updated_at: UtcDatetimeField[datetime] = UtcDatetimeField()

    # What the team's own programs call it.
    key = fields.CharField(max_length=MAX_KEY_CHARACTERS, null=True)
    version = fields.IntField(default=1)
    search_text = fields.TextField()
    # The credentials that `request_headers` has masks for: encrypted JSON, empty if there are none. Null
    # means that an earlier release stored the headers, and left credentials among them.
    encrypted_headers = fields.TextField(null=True)

    # What the contract says, the rules of its operation as JSON, its encrypted credential, when its document
    # was read last, and why not since.
    contract: JsonTextField[dict[str, Json] | None] = JsonTextField(null=True)
    contract_rules = fields.TextField(null=True)
    contract_authorization = fields.TextField(null=True)
    contract_read_at: UtcDatetimeField[datetime | None] = UtcDatetimeField(null=True)
    contract_problem = fields.CharField(max_length=255, null=True)

    check_state: CheckState
    _check_state: CheckState

    class Meta:
        table = "monitors"
        indexes = (("team_id", "id"),)

    def remember(self, check_state: CheckState) -> None:
        """Attach the check state, as `select_related` does, to save a query."""
        self._check_state = check_state


class CheckState(Model):
    """What checks move: when a monitor is checked next, by whom, and what was last seen.

    A narrow row beside the wide one, so that a check that changes nothing writes little. The table keeps the
    name that the release before asks for, which may run beside this one.
    """

    id = fields.UUIDField(primary_key=True, default=uuid7)
    monitor: fields.OneToOneRelation[Monitor] = fields.OneToOneField(
        "monitoring.Monitor", related_name="check_state"
    )
    monitor_id: UUID

    # While a monitor is claimed, `due_at` is the end of the lease; while it is paused, there is none.
    due_at: UtcDatetimeField[datetime | None] = UtcDatetimeField(null=True, db_index=True)
    claim = fields.UUIDField(null=True)
    next_check_at: UtcDatetimeField[datetime | None] = UtcDatetimeField(null=True)
    last_checked_at: UtcDatetimeField[datetime | None] = UtcDatetimeField(null=True)
    last_response_time_ms = fields.IntField(null=True)
    last_error = fields.CharField(max_length=32, null=True)
    # When the last seen certificate expires
    certificate_expires_at: UtcDatetimeField[datetime | None] = UtcDatetimeField(null=True)
    # The warnings that channels were told, the fields of `Warnings`.
    certificate_told_days = fields.IntField(null=True)
    is_degradation_told = fields.BooleanField(default=False, db_default=False)
    degradation_streak = fields.IntField(default=0, db_default=0)

    # The current or next span of maintenance. One in the past has no effect.
    maintenance_from: UtcDatetimeField[datetime | None] = UtcDatetimeField(null=True)
    maintenance_until: UtcDatetimeField[datetime | None] = UtcDatetimeField(null=True)

    # The monitor's Health, field by field.
    settled = fields.CharField(max_length=10, default="pending")
    is_degraded = fields.BooleanField(default=False)
    is_blind = fields.BooleanField(default=False)
    streak = fields.IntField(default=0)
    streak_started_at: UtcDatetimeField[datetime | None] = UtcDatetimeField(null=True)
    seen_until: UtcDatetimeField[datetime | None] = UtcDatetimeField(null=True)

    class Meta:
        table = "watches"


class PendingDeletion(Model):
    """A monitor that will be deleted at `delete_at`, unless somebody undoes its deletion before.

    `deletion_id` is the same for all that one act deletes.
    """

    id = fields.UUIDField(primary_key=True, default=uuid7)
    monitor: fields.OneToOneRelation[Monitor] = fields.OneToOneField(
        "monitoring.Monitor", related_name="pending_deletion"
    )
    monitor_id: UUID
    team: fields.ForeignKeyRelation[Team] = fields.ForeignKeyField(
        "monitoring.Team", related_name="pending_deletions"
    )
    team_id: UUID
    deletion_id = fields.UUIDField()
    delete_at: UtcDatetimeField[datetime] = UtcDatetimeField(db_index=True)

    class Meta:
        table = "pending_deletions"
        indexes = (("team_id", "deletion_id"),)


class StateChange(Model):
    """From this moment on a monitor's time counts as `state`, until its next change."""

    id = fields.UUIDField(primary_key=True, default=uuid7)
    monitor: fields.ForeignKeyRelation[Monitor] = fields.ForeignKeyField(
        "monitoring.Monitor", related_name="state_changes"
    )
    monitor_id: UUID
    changed_at: UtcDatetimeField[datetime] = UtcDatetimeField()
    state = fields.CharField(max_length=10)

    class Meta:
        table = "state_changes"
        unique_together = (("monitor_id", "changed_at"),)
