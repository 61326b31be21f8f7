"""Who an email and a password belong to."""

from __future__ import annotations

from monitoring.members.models import User
from monitoring.members.passwords import hash_password, is_outdated, is_same_password
from monitoring.members.refusals import Refused
from monitoring.members.rules import read_email


async def authenticate(email: str, password: str) -> User | None:
    """Return the user with their team; None if there is none or the password is another.

    Both refusals cost the same work. A hash with yesterday's parameters is replaced on the way. Attempts are
    not counted here: callers do that first.
    """
    user = await _find_user(email)
    if not await is_same_password(password, user.password_hash if user else None) or user is None:
        return None
    if is_outdated(user.password_hash):
        return await _rehash(user, password)
    return user


async def _find_user(email: str) -> User | None:
    try:
        return await User.get_or_none(email=read_email(email)).select_related("team")
    except Refused:
        return None


async def _rehash(user: User, password: str) -> User | None:
    """Keep a newer hash of the same password, unless the password was changed meanwhile."""
    unchanged = User.filter(id=user.id, password_hash=user.password_hash)
    user.password_hash = await hash_password(password)
    return user if await unchanged.update(password_hash=user.password_hash) else None
