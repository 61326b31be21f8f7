"""Sends letters, which are the service's own emails to one person.

The row that a letter is about, such as an invitation, also stores the letter's due time and claim.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TypeVar

from tortoise.queryset import QuerySet

from monitoring.backends.current import current_backends
from monitoring.backends.database import transaction
from monitoring.backends.leases import Claim, begin_attempt, is_due, is_idle
from monitoring.members.models import Invitation, PasswordLink
from monitoring.notifications.channels import AccountEmail, send_account_email
from monitoring.notifications.models import DeliveryStatus
from monitoring.notifications.retries import conclude

LETTERS_AT_ONCE = 4
MAX_LETTERS_A_SWEEP = 50

# How long a claim on a letter lasts: twice as long as the timeout of an attempt.
LEASE = timedelta(seconds=60)

Row = TypeVar("Row", PasswordLink, Invitation)


async def send_letter(
    rows: QuerySet[Row],
    lifetime: timedelta,
    about: str,
    write: Callable[[Row], AccountEmail],
    sent_at: str | None = None,
) -> None:
    """Send the letter for one row, if the letter is due. The sweep retries failed attempts.

    `rows` selects the row, and `lifetime` is how long such a row is valid. `about` is the row's relation to
    fetch before `write` is called. `sent_at` is the column, if any, for the time at which the mail server
    accepted the letter.
    """
    claim = await _claim(rows, lifetime)
    if claim is None:
        return
    await claim.row.fetch_related(about)
    try:
        result = await send_account_email(write(claim.row))
    except (asyncio.CancelledError, OSError):
        await claim.give_back()
        raise
    now = current_backends().clock.now()
    conclusion = conclude(result, claim.row.attempts, random.random())  # noqa: S311 - jitter is no secret
    ended: dict[str, object] = {"due_at": now + conclusion.wait if conclusion.wait else None}
    if sent_at and conclusion.status is DeliveryStatus.DELIVERED:
        ended[sent_at] = now
    await claim.end(nudged_at=None, **ended)


def find_idle_letters(rows: QuerySet[Row], lifetime: timedelta, now: datetime) -> QuerySet[Row]:
    """Select the unexpired rows whose letters are due and have no queued task, in order of due time."""
    return rows.filter(is_due(now, lifetime), is_idle(now), expires_at__gt=now).order_by("due_at")


async def _claim(rows: QuerySet[Row], lifetime: timedelta) -> Claim[Row] | None:
    """Claim the row and count the attempt. Returns None if the row is not due, has expired or is locked."""
    async with Claim.beginning(rows) as claim_id:
        now = current_backends().clock.now()
        async with transaction():
            due = rows.filter(is_due(now, lifetime), expires_at__gt=now)
            row = await due.select_for_update(skip_locked=True).first()
            if row is None:
                return None
            await begin_attempt(row, claim_id, now + LEASE)
        return Claim(claim_id, row)
