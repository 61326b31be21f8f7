"""Teams and their API keys."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from tortoise import fields
from tortoise.models import Model

from monitoring.auth.names import MAX_NAME_CHARACTERS
from monitoring.backends.fields import JsonTextField, UtcDatetimeField, uuid7


class Team(Model):
    """Owns monitors and keys. Whoever makes or deletes a monitor counts it here, in the same transaction."""

    id = fields.UUIDField(primary_key=True, default=uuid7)
    name = fields.CharField(max_length=MAX_NAME_CHARACTERS, unique=True)
    plan = fields.CharField(max_length=40)
    max_monitors = fields.IntField()
    monitors_count = fields.IntField(default=0)
    created_at: UtcDatetimeField[datetime] = UtcDatetimeField()
    # The team that this one is the sandbox of: test keys belong to it, and people do not.
    sandbox_of: fields.ForeignKeyNullableRelation[Team] = fields.ForeignKeyField(
        "monitoring.Team", related_name="sandboxes", null=True
    )
    sandbox_of_id: UUID | None
    # When a key or a person last used this sandbox, accurate to a minute.
    sandbox_used_at: UtcDatetimeField[datetime | None] = UtcDatetimeField(null=True)

    class Meta:
        table = "teams"

    @classmethod
    async def lock(cls, team_id: UUID) -> Team:
        """Return a team, locked until the transaction ends. This comes before all other locks."""
        return await cls.select_for_update(no_key=True).get(id=team_id)


class ApiKey(Model):
    """A client_id and the SHA-256 of its secret: 256 random bits need no slow hash."""

    id = fields.UUIDField(primary_key=True, default=uuid7)
    team: fields.ForeignKeyRelation[Team] = fields.ForeignKeyField("monitoring.Team", related_name="keys")
    team_id: UUID
    client_id = fields.CharField(max_length=64, unique=True)
    secret_sha256 = fields.CharField(max_length=64)
    name = fields.CharField(max_length=MAX_NAME_CHARACTERS)
    scopes: JsonTextField[list[str]] = JsonTextField()
    created_by = fields.CharField(max_length=255, null=True)
    created_at: UtcDatetimeField[datetime] = UtcDatetimeField()
    last_used_at: UtcDatetimeField[datetime | None] = UtcDatetimeField(null=True)
    revoked_at: UtcDatetimeField[datetime | None] = UtcDatetimeField(null=True)

    class Meta:
        table = "api_keys"
        indexes = (("team_id", "id"),)


class RevokedToken(Model):
    """A token that its own client gave up before it ended, by its `jti`. Dropped some time after that end."""

    token_id = fields.CharField(max_length=64, primary_key=True)
    expires_at: UtcDatetimeField[datetime] = UtcDatetimeField(db_index=True)

    class Meta:
        table = "revoked_tokens"
