"""Emails links to users who forgot their password. The row of a link is the job, like a delivery's."""

from __future__ import annotations

import asyncio
import random
from datetime import datetime, timedelta
from uuid import UUID

from tortoise.queryset import QuerySet

from monitoring.backends.current import current_backends
from monitoring.backends.database import transaction
from monitoring.backends.leases import Claim, begin_attempt, is_due, is_idle, sweep_idle
from monitoring.backends.tasks import task
from monitoring.members.models import PasswordLink
from monitoring.members.password_links import LIFETIME, write_link
from monitoring.notifications.channels import AccountEmail, send_account_email
from monitoring.notifications.rules import conclude

LETTERS_AT_ONCE = 4
MAX_LETTERS_A_SWEEP = 50

# Far longer than an attempt may take.
LEASE = timedelta(seconds=60)

TITLE = "Choose a new password"
TEXT = """\
Somebody, probably you, asked for a new password for {email}.
The link works once, within an hour. If it was not you, do nothing: your password stays as it is."""
LABEL = "Choose a new password"
WHY = "because somebody asked for it on the page where people sign in"


@task(queue_name="notifications", at_once=LETTERS_AT_ONCE)
async def send_password_link(link_id: str) -> None:
    """Send a link if it is due. A second task message does nothing. The sweep retries failed attempts."""
    claim = await _claim(UUID(link_id))
    if claim is None:
        return
    try:
        result = await send_account_email(_write(claim.row))
    except (asyncio.CancelledError, OSError):
        await claim.give_back()
        raise
    conclusion = conclude(result, claim.row.attempts, random.random())  # noqa: S311 - jitter is no secret
    due_at = current_backends().clock.now() + conclusion.wait if conclusion.wait else None
    await claim.end(due_at=due_at, nudged_at=None)


async def sweep_password_links() -> int:
    """Queue a task for every idle link that is due. Returns how many."""
    return await sweep_idle(send_password_link, _find_idle_links, MAX_LETTERS_A_SWEEP)


async def _claim(link_id: UUID) -> Claim[PasswordLink] | None:
    """Claim a link and count the attempt. Returns None if it is not due, too old or used."""
    async with Claim.beginning(PasswordLink.filter(id=link_id)) as claim_id:
        now = current_backends().clock.now()
        async with transaction():
            due = PasswordLink.filter(is_due(now, LIFETIME), id=link_id, expires_at__gt=now)
            link = await due.select_for_update(skip_locked=True).first()
            if link is None:
                return None
            await begin_attempt(link, claim_id, now + LEASE)
        await link.fetch_related("user")
        return Claim(claim_id, link)


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


async def _find_idle_links(now: datetime) -> QuerySet[PasswordLink]:
    return PasswordLink.filter(is_due(now, LIFETIME), is_idle(now), expires_at__gt=now).order_by("due_at")
