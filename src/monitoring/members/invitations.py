"""Codes with which people join a team or set a new password, and emailed links that work like the codes.

An owner creates a code, and passes it on to the person who is to use it.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from tortoise.exceptions import IntegrityError
from tortoise.queryset import QuerySet

from monitoring.audit.actions import Action
from monitoring.audit.actors import Actor
from monitoring.audit.service import record
from monitoring.auth.credentials import hash_secret
from monitoring.auth.links import read_link, sign_link
from monitoring.backends.current import current_backends
from monitoring.backends.database import transaction
from monitoring.members.models import Invitation, Role, User
from monitoring.members.passwords import hash_password
from monitoring.members.refusals import INVITATION_DAYS, Refused
from monitoring.members.rules import check_password, read_email, read_name
from monitoring.members.service import get_member, lock_team
from monitoring.members.sessions import end_sessions

LIFETIME = timedelta(days=INVITATION_DAYS)
CODE_PREFIX = "mon_invite_"
PURPOSE = "join"  # the purpose that a link is signed for, and the path of its page
CODE_RANDOM_BYTES = 32  # 43 URL-safe characters, 256 bits

_CODE = re.compile(rf"{CODE_PREFIX}[A-Za-z0-9_-]{{43}}")


@dataclass(frozen=True, slots=True)
class Invited:
    """A new invitation with its code, which is not stored and cannot be shown again."""

    invitation: Invitation
    code: str


async def invite(
    team_id: UUID, email: str, role: Role | str, *, by: Actor, is_mailed: bool = False
) -> Invited:
    """Invite a person to a team. The person's earlier invitations to it become invalid.

    With `is_mailed`, a worker emails a link that works like the code. Raises `Refused` if the person is
    already in this team. A person in another team can be invited, but cannot join.
    """
    email, role = read_email(email), Role(role)
    async with transaction():
        await lock_team(team_id)
        if await User.exists(email=email, team_id=team_id):
            raise Refused("already_member")
        invited = await _make_code(team_id, email, role, by, is_mailed=is_mailed)
        await record(team_id, by, Action.MEMBER_INVITED, f"{email} ({role})", invited.invitation.id)
        return invited


async def make_reset_code(team_id: UUID, user_id: UUID, *, by: Actor) -> Invited:
    """Create a code with which a member can set a new password. Raises `Refused` for an unknown member.

    The old password works until the new one is set.
    """
    async with transaction():
        await lock_team(team_id)
        user = await get_member(team_id, user_id)
        invited = await _make_code(team_id, user.email, Role(user.role), by, user)
        await record(team_id, by, Action.RESET_CODE_MADE, user.email, user.id)
        return invited


async def list_invitations(team_id: UUID) -> list[Invitation]:
    """Return the unexpired invitations of people who have not joined yet, newest first."""
    return await _living().filter(team_id=team_id, user_id=None).order_by("-id")


async def withdraw_invitation(team_id: UUID, invitation_id: UUID, *, by: Actor) -> None:
    """Delete a team's invitation. Raises `Refused("invitation_unknown")` if no invitation has this id."""
    async with transaction():
        await lock_team(team_id)
        invitation = await Invitation.get_or_none(id=invitation_id, team_id=team_id, user_id=None)
        if invitation is None:
            raise Refused("invitation_unknown")
        await invitation.delete()
        await record(team_id, by, Action.INVITATION_WITHDRAWN, invitation.email, invitation.id)


def write_link(invitation: Invitation, base_url: str) -> str:
    """Return an invitation's link. It is signed, so access to the database is not enough to forge it."""
    token = sign_link(PURPOSE, {"invitation": str(invitation.id)}, invitation.expires_at)
    return f"{base_url}/app/{PURPOSE}?token={token}"


async def find_invitation(code: str) -> Invitation | None:
    """Return the unexpired invitation for a code or a link's token; None if there is none.

    The invitation is returned with its team and, if it is for a new password, with its user.
    """
    code = code.strip()
    if _CODE.fullmatch(code):
        found = _living().get_or_none(code_sha256=hash_secret(code))
    elif claims := read_link(PURPOSE, code):
        found = _living().get_or_none(id=UUID(claims["invitation"]))
    else:
        return None
    return await found.select_related("team", "user")


async def accept_invitation(code: str, name: str, password: str, *, address: str | None = None) -> User:
    """Use a code or a link's token to join a team, or to set a new password and end the user's sessions.

    `name` is only used for joining. A refused attempt does not use up the code. Raises `Refused`.
    """
    invitation = await find_invitation(code)
    if invitation is None:
        raise Refused("invitation_unknown")
    name = name if invitation.user else read_name(name)
    check_password(password, invitation.email)
    if invitation.user is None and await User.exists(email=invitation.email):
        raise Refused("email_taken")
    password_hash = await hash_password(password)
    try:
        async with transaction():
            await lock_team(invitation.team_id)
            # Deleting the invitation uses it up, so a concurrent attempt finds nothing to delete.
            if not await _living().filter(id=invitation.id).delete():
                raise Refused("invitation_unknown")
            if invitation.user:
                return await _reset_password(invitation.user, invitation, password_hash, address)
            return await _join(invitation, name, password_hash, address)
    except IntegrityError:  # the person joined another team concurrently
        raise Refused("email_taken") from None


async def _join(invitation: Invitation, name: str, password_hash: str, address: str | None) -> User:
    if await User.exists(email=invitation.email):
        raise Refused("email_taken")
    user = await User.create(
        team=invitation.team,
        email=invitation.email,
        name=name,
        password_hash=password_hash,
        role=invitation.role,
        created_at=datetime.now(UTC),
    )
    actor = Actor(user.email, user.id, address)
    await record(user.team_id, actor, Action.MEMBER_JOINED, user.role, user.id)
    return user


async def _reset_password(
    user: User, invitation: Invitation, password_hash: str, address: str | None
) -> User:
    await User.filter(id=user.id).update(password_hash=password_hash)
    await end_sessions(user.id)
    actor = Actor(user.email, user.id, address)
    await record(user.team_id, actor, Action.PASSWORD_RESET, user.email, user.id)
    user.password_hash, user.team = password_hash, invitation.team
    return user


async def _make_code(  # noqa: PLR0913 - the parts of an invitation
    team_id: UUID, email: str, role: Role, by: Actor, user: User | None = None, *, is_mailed: bool = False
) -> Invited:
    """Create an invitation and its code.

    The team's earlier invitations for the same email are deleted, and so are its expired invitations.
    """
    code, now = CODE_PREFIX + secrets.token_urlsafe(CODE_RANDOM_BYTES), datetime.now(UTC)
    await Invitation.filter(team_id=team_id, email=email).delete()
    await Invitation.filter(team_id=team_id, expires_at__lte=now).delete()
    invitation = await Invitation.create(
        team_id=team_id,
        user=user,
        email=email,
        role=role.value,
        code_sha256=hash_secret(code),
        invited_by=by.name,
        due_at=current_backends().clock.now() if is_mailed else None,
        created_at=now,
        expires_at=now + LIFETIME,
    )
    return Invited(invitation, code)


def _living() -> QuerySet[Invitation]:
    return Invitation.filter(expires_at__gt=datetime.now(UTC))
