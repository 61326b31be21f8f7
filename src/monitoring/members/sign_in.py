"""Authenticates users by email and password."""

from __future__ import annotations

from monitoring.audit.actions import Action
from monitoring.audit.actors import somebody
from monitoring.audit.service import record
from monitoring.backends.database import transaction
from monitoring.members.models import User
from monitoring.members.passwords import hash_password, is_outdated, is_same_password
from monitoring.members.refusals import Refused
from monitoring.members.service import find_user


async def authenticate(email: str, password: str, *, is_known: bool = False) -> User | None:
    """Return the user, with their team; None if there is no such user, or the password is wrong.

    An unknown user and a wrong password take the same time. A stored hash with outdated parameters is
    replaced. Callers must count the attempt against its rate limits beforehand. Raises
    `Problem("service_unavailable")` if too many attempts are waiting.
    """
    user = await _find_user(email)
    stored_hash = user.password_hash if user else None
    if not await is_same_password(password, stored_hash, is_known=is_known) or user is None:
        return None
    if is_outdated(user.password_hash):
        return await _rehash(user, password)
    return user


async def record_refusal(email: str, action: Action, address: str) -> None:
    """Record a failed sign-in from an IP address in the audit log of the user's team.

    Nothing is recorded for an unknown email. Call this after sending the HTTP response, so that the
    response's timing does not reveal which emails are known.
    """
    async with transaction():
        if user := await _find_user(email):
            await record(user.team_id, somebody(address), action, user.email, user.id)


async def _find_user(email: str) -> User | None:
    try:
        return await find_user(email)
    except Refused:
        return None


async def _rehash(user: User, password: str) -> User | None:
    """Store a new hash of the same password, and return the user; None if the password was changed."""
    unchanged = User.filter(id=user.id, password_hash=user.password_hash)
    user.password_hash = await hash_password(password)
    return user if await unchanged.update(password_hash=user.password_hash) else None
