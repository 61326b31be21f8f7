"""Sign-in sessions, each with its user, browser and expiry."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from monitoring.audit.actions import Action
from monitoring.audit.actors import Actor
from monitoring.audit.models import AuditEntry
from monitoring.audit.service import record
from monitoring.auth.credentials import hash_secret
from monitoring.backends.current import current_backends
from monitoring.backends.database import transaction
from monitoring.members.models import MAX_BROWSER_CHARACTERS, Session, User
from monitoring.members.queries import list_living_sessions
from monitoring.members.refusals import Refused

TOKEN_RANDOM_BYTES = 32  # 43 URL-safe characters, 256 bits

# "Last seen" is accurate to five minutes, which avoids a write for every page.
LAST_SEEN_GRAIN = timedelta(minutes=5)


class Standing(NamedTuple):
    """An active session's id, with its user's team and role."""

    session_id: UUID
    team_id: UUID
    role: str


async def begin_session(user: User, browser: str, *, address: str | None = None) -> str:
    """Begin a session, and return its token, of which only a hash is stored.

    The user's expired sessions are deleted. Raises `Refused("wrong_password")` if the user was removed, or
    the password was changed, since the user was authenticated.
    """
    token, now = secrets.token_urlsafe(TOKEN_RANDOM_BYTES), datetime.now(UTC)
    lifetime = timedelta(hours=current_backends().settings.session_hours)
    async with transaction():
        # A password change takes the same lock and then ends all sessions, so a later change also ends this
        # session.
        current = await User.select_for_update(no_key=True).get_or_none(id=user.id)
        if current is None or current.password_hash != user.password_hash:
            raise Refused("wrong_password")
        await Session.filter(user_id=user.id, expires_at__lte=now).delete()
        session = await Session.create(
            user_id=user.id,
            token_sha256=hash_secret(token),
            created_at=now,
            expires_at=now + lifetime,
            last_seen_at=now,
            browser="".join(filter(str.isprintable, browser))[:MAX_BROWSER_CHARACTERS],
        )
        await User.filter(id=user.id).update(last_signed_in_at=now)
        await record(user.team_id, Actor(user.email, user.id, address), Action.SIGNED_IN, "", session.id)
    return token


async def find_session(token: str) -> Session | None:
    """Return a token's session with its user and team, and update when the session was last seen.

    Returns None if the token has no active session.
    """
    if not token.isascii():
        return None
    now = datetime.now(UTC)
    living = Session.filter(token_sha256=hash_secret(token), expires_at__gt=now)
    session = await living.select_related("user__team").get_or_none()
    if session and now - session.last_seen_at > LAST_SEEN_GRAIN:
        await Session.filter(id=session.id).update(last_seen_at=now)
        session.last_seen_at = now
    return session


async def read_standings(session_ids: Collection[UUID]) -> dict[UUID, Standing]:
    """Return the standings of the active sessions among `session_ids`, by session id.

    Does not update when the sessions were last seen.
    """
    living = await list_living_sessions(session_ids, datetime.now(UTC))
    return {session_id: Standing(session_id, team_id, role) for session_id, team_id, role in living}


async def list_sessions(user_id: UUID) -> list[Session]:
    """Return a user's active sessions, newest first."""
    return await Session.filter(user_id=user_id, expires_at__gt=datetime.now(UTC)).order_by("-id")


async def find_addresses(team_id: UUID, sessions: Sequence[Session]) -> dict[str, str]:
    """Return the IP address from which each session began, by session id.

    The addresses come from the audit log, which has recorded them since release 0.2.0.
    """
    if not sessions:
        return {}
    ids = [each.id for each in sessions]
    # Ids are ordered by time, so the index on the team's entries narrows the search to a few rows.
    begun = AuditEntry.filter(team_id=team_id, id__gte=min(ids), action=Action.SIGNED_IN.value)
    rows = await begun.filter(subject_id__in=[str(each) for each in ids])
    return {row.subject_id: row.address for row in rows if row.subject_id and row.address}


async def end_session(session_id: UUID) -> None:
    """End a session. Idempotent."""
    await Session.filter(id=session_id).delete()


async def end_session_of(user: User, session_id: UUID, *, by: Actor) -> bool:
    """End one of a user's sessions, and record this in the audit log.

    Returns False if the user has no session with this id.
    """
    async with transaction():
        if not await Session.filter(id=session_id, user_id=user.id).delete():
            return False
        await record(user.team_id, by, Action.SESSION_ENDED, user.email, session_id)
        return True


async def end_sessions(user_id: UUID, *, keep: UUID | None = None, by: Actor | None = None) -> None:
    """End all of a user's sessions except `keep`. If `by` is given, record this in the audit log."""
    async with transaction():
        user = await User.select_for_update(no_key=True).get_or_none(id=user_id)
        if user is None:
            return
        ended = Session.filter(user_id=user_id)
        await (ended.exclude(id=keep) if keep else ended).delete()
        if by:
            await record(user.team_id, by, Action.SIGNED_OUT_EVERYWHERE, user.email, user.id)
