"""Sends password links by email to users who forgot their password."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from tortoise.queryset import QuerySet

from monitoring.backends.current import current_backends
from monitoring.backends.leases import sweep_idle
from monitoring.backends.tasks import task
from monitoring.members.models import PasswordLink
from monitoring.members.password_links import LIFETIME, write_link
from monitoring.notifications.channels import AccountEmail
from monitoring.notifications.personal_emails import (
    LETTERS_AT_ONCE,
    MAX_LETTERS_A_SWEEP,
    find_idle_letters,
    send_letter,
)

TITLE = "Choose a new password"
TEXT = """\
Somebody, probably you, asked for a new password for {email}.
The link works once, within an hour. If it was not you, do nothing: your password stays as it is."""
LABEL = "Choose a new password"
WHY = "because somebody asked for it on the page where people sign in"


@task(queue_name="notifications", at_once=LETTERS_AT_ONCE)
async def send_password_link(link_id: str) -> None:
    """Send a password link if it is due. A duplicate task message has no effect."""
    await send_letter(PasswordLink.filter(id=UUID(link_id)), LIFETIME, "user", _write)


async def sweep_password_links() -> int:
    """Queue a task for each due password link that has no task. Return the number of queued tasks."""
    return await sweep_idle(send_password_link, _find_idle, MAX_LETTERS_A_SWEEP)


async def _find_idle(now: datetime) -> QuerySet[PasswordLink]:
    return find_idle_letters(PasswordLink.all(), LIFETIME, now)


def _write(link: PasswordLink) -> AccountEmail:
    return AccountEmail(
        id=link.id,
        recipient=link.user.email,
        written_at=link.created_at,
        title=TITLE,
        text=TEXT.format(email=link.user.email),
        label=LABEL,
        link=write_link(link, current_backends().settings.base_url),
        why=WHY,
    )
