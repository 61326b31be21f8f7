"""Users, their sessions, and the codes that let them in."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum, auto
from uuid import UUID

from tortoise import fields
from tortoise.models import Model

from monitoring.auth.models import Team
from monitoring.auth.names import MAX_NAME_CHARACTERS
from monitoring.backends.fields import UtcDatetimeField, uuid7

MAX_EMAIL_CHARACTERS = 254  # RFC 5321 §4.5.3.1.3, without its angle brackets
MAX_BROWSER_CHARACTERS = 255


class Role(StrEnum):
    """What a user may do.

    Viewers only look, members work with monitors and articles, owners also manage keys and people.
    """

    OWNER = auto()
    MEMBER = auto()
    VIEWER = auto()


class User(Model):
    """A person, who belongs to exactly one team. Emails are kept as they are compared: one spelling each."""

    id = fields.UUIDField(primary_key=True, default=uuid7)
    team: fields.ForeignKeyRelation[Team] = fields.ForeignKeyField("monitoring.Team", related_name="users")
    team_id: UUID
    email = fields.CharField(max_length=MAX_EMAIL_CHARACTERS, unique=True)
    name = fields.CharField(max_length=MAX_NAME_CHARACTERS)
    password_hash = fields.CharField(max_length=255)
    role = fields.CharField(max_length=10)
    created_at: UtcDatetimeField[datetime] = UtcDatetimeField()
    last_signed_in_at: UtcDatetimeField[datetime | None] = UtcDatetimeField(null=True)

    class Meta:
        table = "users"
        indexes = (("team_id", "id"),)


class Session(Model):
    """A browser that somebody signed in with: the SHA-256 of its token, 256 random bits."""

    id = fields.UUIDField(primary_key=True, default=uuid7)
    user: fields.ForeignKeyRelation[User] = fields.ForeignKeyField("monitoring.User", related_name="sessions")
    user_id: UUID
    token_sha256 = fields.CharField(max_length=64, unique=True)
    created_at: UtcDatetimeField[datetime] = UtcDatetimeField()
    expires_at: UtcDatetimeField[datetime] = UtcDatetimeField()
    last_seen_at: UtcDatetimeField[datetime] = UtcDatetimeField()
    browser = fields.CharField(max_length=MAX_BROWSER_CHARACTERS)

    class Meta:
        table = "sessions"
        indexes = (("user_id", "id"),)


class KeptAnswer(Model):
    """The page that tells what is wrong with a form, for a browser that comes back to it. Encrypted."""

    id = fields.UUIDField(primary_key=True, default=uuid7)
    session: fields.ForeignKeyRelation[Session] = fields.ForeignKeyField("monitoring.Session")
    session_id: UUID
    status = fields.IntField()
    page = fields.TextField()
    created_at: UtcDatetimeField[datetime] = UtcDatetimeField(db_index=True)

    class Meta:
        table = "kept_answers"
        indexes = (("session_id", "id"),)


class PasswordLink(Model):
    """A link by email for one new password: the row is the job of sending it, until it is used or too old."""

    id = fields.UUIDField(primary_key=True, default=uuid7)
    user: fields.ForeignKeyRelation[User] = fields.ForeignKeyField(
        "monitoring.User", related_name="password_links"
    )
    user_id: UUID
    attempts = fields.IntField(default=0)
    # While a worker sends it, `due_at` is the end of the lease. Null once it was sent.
    due_at: UtcDatetimeField[datetime | None] = UtcDatetimeField(null=True, db_index=True)
    claim = fields.UUIDField(null=True)
    nudged_at: UtcDatetimeField[datetime | None] = UtcDatetimeField(null=True)
    created_at: UtcDatetimeField[datetime] = UtcDatetimeField()
    expires_at: UtcDatetimeField[datetime] = UtcDatetimeField(db_index=True)

    class Meta:
        table = "password_links"
        indexes = (("user_id",),)


class Invitation(Model):
    """A code for one use: it lets somebody join a team, or its user set a new password."""

    id = fields.UUIDField(primary_key=True, default=uuid7)
    team: fields.ForeignKeyRelation[Team] = fields.ForeignKeyField(
        "monitoring.Team", related_name="invitations"
    )
    team_id: UUID
    # The user whose password it resets; null if it is for joining.
    user: fields.ForeignKeyNullableRelation[User] = fields.ForeignKeyField(
        "monitoring.User", related_name="reset_codes", null=True
    )
    user_id: UUID | None
    email = fields.CharField(max_length=MAX_EMAIL_CHARACTERS)
    role = fields.CharField(max_length=10)
    code_sha256 = fields.CharField(max_length=64, unique=True)
    invited_by = fields.CharField(max_length=255)
    # Of the letter with a link, as in `PasswordLink`. Never due if none is sent.
    attempts = fields.IntField(default=0, db_default=0)
    due_at: UtcDatetimeField[datetime | None] = UtcDatetimeField(null=True)
    claim = fields.UUIDField(null=True)
    nudged_at: UtcDatetimeField[datetime | None] = UtcDatetimeField(null=True)
    mailed_at: UtcDatetimeField[datetime | None] = UtcDatetimeField(null=True)
    created_at: UtcDatetimeField[datetime] = UtcDatetimeField()
    expires_at: UtcDatetimeField[datetime] = UtcDatetimeField()

    class Meta:
        table = "invitations"
        unique_together = (("team_id", "email"),)
        indexes = (("user_id",), ("due_at",))
