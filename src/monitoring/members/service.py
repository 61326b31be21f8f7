"""Operations on team members. Each function is one transaction, and every change locks the team's row."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from monitoring.audit.actions import Action
from monitoring.audit.actors import Actor
from monitoring.audit.changes import Change
from monitoring.audit.service import record
from monitoring.auth.models import Team
from monitoring.backends.database import transaction
from monitoring.members.models import Invitation, Role, User
from monitoring.members.passwords import hash_password, is_same_password
from monitoring.members.refusals import Refused
from monitoring.members.rules import check_password, read_email, read_name
from monitoring.members.sessions import end_sessions


async def list_members(team_id: UUID | None = None) -> list[User]:
    """Return a team's members, or all users if `team_id` is None, oldest first."""
    users = User.filter(team_id=team_id) if team_id else User.all()
    return await users.order_by("id").select_related("team")


async def name_members(team_id: UUID, actors: Collection[str]) -> dict[str, str]:
    """Return the name to show for each of these actors. A member's email is replaced with the member's name.

    Programs, people who are not in the team, and members without a name are returned unchanged.
    """
    if not actors:
        return {}
    members = await User.filter(team_id=team_id, email__in=actors).values_list("email", "name")
    return {actor: actor for actor in actors} | {email: name for email, name in members if name}


async def get_member(team_id: UUID, user_id: UUID) -> User:
    """Return the team's member with this id. Raises `Refused("no_such_member")` if the team has none."""
    user = await User.get_or_none(id=user_id, team_id=team_id).select_related("team")
    if user is None:
        raise Refused("no_such_member")
    return user


async def find_user(email: str) -> User | None:
    """Return the user with this email, ignoring case, and with their team; None if there is no such user.

    Raises `Refused` if the email is invalid.
    """
    return await User.get_or_none(email=read_email(email)).select_related("team")


async def change_role(team_id: UUID, user_id: UUID, role: Role | str, *, by: Actor) -> None:
    """Change a member's role. Raises `Refused` for the team's last owner. Idempotent.

    If an owner gets another role, the codes that the owner created are deleted.
    """
    role = Role(role)
    async with transaction():
        await lock_team(team_id)
        user = await get_member(team_id, user_id)
        if user.role == role:
            return
        if user.role == Role.OWNER:
            await _give_up_ownership(user)
        await User.filter(id=user.id).update(role=role.value)
        change = Change("role", user.role, role.value)
        await record(team_id, by, Action.ROLE_CHANGED, f"{user.email} ({role})", user.id, [change])


async def remove_member(team_id: UUID, user_id: UUID, *, by: Actor) -> None:
    """Remove a member, with their sessions and codes. Raises `Refused` for the team's last owner.

    Keys and monitors belong to the team and are kept.
    """
    async with transaction():
        await lock_team(team_id)
        user = await get_member(team_id, user_id)
        if user.role == Role.OWNER:
            await _give_up_ownership(user)
        await user.delete()
        await record(team_id, by, Action.MEMBER_REMOVED, user.email, user.id)


async def change_name(user: User, name: str, *, by: Actor) -> None:
    """Change a user's name. Raises `Refused("name_invalid")`. Idempotent."""
    name = read_name(name)
    async with transaction():
        await lock_team(user.team_id)
        if await User.filter(id=user.id).exclude(name=name).update(name=name):
            change = Change("name", user.name, name)
            await record(user.team_id, by, Action.NAME_CHANGED, user.email, user.id, [change])


async def change_password(user: User, current: str, new: str, *, by: Actor, keep: UUID | None = None) -> None:
    """Set a new password, and end the user's sessions except `keep`. Raises `Refused`.

    The user's reset codes are deleted.
    """
    if not await is_same_password(current, user.password_hash):
        raise Refused("wrong_password")
    check_password(new, user.email)
    password_hash = await hash_password(new)
    async with transaction():
        await lock_team(user.team_id)
        # Of two concurrent changes, only the first succeeds, because it makes `current` wrong for the second.
        unchanged = User.filter(id=user.id, password_hash=user.password_hash)
        if not await unchanged.update(password_hash=password_hash):
            raise Refused("wrong_password")
        await Invitation.filter(user_id=user.id).delete()
        await end_sessions(user.id, keep=keep)
        await record(user.team_id, by, Action.PASSWORD_CHANGED, user.email, user.id)
    user.password_hash = password_hash


async def lock_team(team_id: UUID) -> None:
    """Lock a team's row until the transaction ends, so that changes to its members are serialised."""
    await Team.lock(team_id)


async def _give_up_ownership(user: User) -> None:
    """Delete the codes that an owner created, because the owner could regain access with such a code.

    Raises `Refused` for the team's last owner.
    """
    if not await User.filter(team_id=user.team_id, role=Role.OWNER.value).exclude(id=user.id).exists():
        raise Refused("last_owner")
    await Invitation.filter(team_id=user.team_id, invited_by=user.email).delete()
