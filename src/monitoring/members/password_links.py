"""Emailed links for users who forgot their password. A link works once, within an hour."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

from monitoring.audit.actions import Action
from monitoring.audit.actors import Actor, somebody
from monitoring.audit.service import record
from monitoring.auth.links import read_link, sign_link
from monitoring.backends.current import current_backends
from monitoring.backends.database import transaction
from monitoring.members.models import Invitation, PasswordLink, User
from monitoring.members.passwords import hash_password
from monitoring.members.refusals import Refused
from monitoring.members.rules import check_password
from monitoring.members.service import find_user, lock_team
from monitoring.members.sessions import end_sessions

PURPOSE = "new-password"

# Equal to the window of the rate limit (`MAX_LINKS_OF_ONE_PERSON` in `app/sign_in/attempts.py`), so that a
# person who has reached the limit still has a valid link.
LIFETIME = timedelta(hours=1)


async def request_link(email: str, address: str) -> UUID | None:
    """Create a password link for the user with this email, and return its id; None if no such user exists.

    Earlier links stay valid, so that other people cannot invalidate them by requesting more. Call this after
    sending the HTTP response, so that the response's timing does not reveal which emails are known.
    """
    async with transaction():
        try:
            user = await find_user(email)
        except Refused:
            return None
        if user is None:
            return None
        now = current_backends().clock.now()
        link = await PasswordLink.create(
            user_id=user.id, created_at=now, expires_at=now + LIFETIME, due_at=now
        )
        await record(user.team_id, somebody(address), Action.PASSWORD_LINK_ASKED, user.email, user.id)
        return link.id


def write_link(link: PasswordLink, base_url: str) -> str:
    """Return a link's URL. It is signed, so access to the database is not enough to forge it.

    The query string, which contains the token, is never logged.
    """
    return f"{base_url}/app/{PURPOSE}?token={sign_link(PURPOSE, {'link': str(link.id)}, link.expires_at)}"


async def find_link(token: str) -> PasswordLink | None:
    """Return a token's link, with its user and team.

    Returns None if the link is used or expired, or if the token's signature is not valid.
    """
    claims = read_link(PURPOSE, token)
    if claims is None:
        return None
    living = PasswordLink.filter(id=UUID(claims["link"]), expires_at__gt=current_backends().clock.now())
    return await living.select_related("user__team").first()


async def use_link(link: PasswordLink, password: str, *, address: str) -> User:
    """Set a new password, and delete all of the user's sessions, links and codes. Raises `Refused`.

    A refused password does not use up the link.
    """
    user = link.user
    check_password(password, user.email)
    password_hash = await hash_password(password)
    async with transaction():
        await lock_team(user.team_id)
        # Deleting the link uses it up, so a concurrent attempt finds nothing to delete.
        if not await PasswordLink.filter(id=link.id, expires_at__gt=current_backends().clock.now()).delete():
            raise Refused("password_link_used")
        await PasswordLink.filter(user_id=user.id).delete()
        await Invitation.filter(user_id=user.id).delete()
        await User.filter(id=user.id).update(password_hash=password_hash)
        await end_sessions(user.id)
        actor = Actor(user.email, user.id, address)
        await record(user.team_id, actor, Action.PASSWORD_RESET_BY_LINK, user.email, user.id)
    user.password_hash = password_hash
    return user


async def delete_expired_links(now: datetime) -> int:
    """Delete expired password links, and return their number."""
    return await PasswordLink.filter(expires_at__lte=now).delete()
