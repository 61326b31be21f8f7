"""Stores pages with form errors for an hour, because the browser's Back button requests them again.

The pages contain form input, including secrets. Therefore, the pages are encrypted, and only the session that
submitted the form can read them.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from tortoise.exceptions import IntegrityError

from monitoring.backends.database import transaction
from monitoring.backends.encryption import UndecryptableError, decrypt, encrypt
from monitoring.members.models import KeptAnswer

LIFETIME = timedelta(hours=1)
KEPT_A_SESSION = 5


class Answer(NamedTuple):
    """A page and its status code."""

    status: int
    page: str


async def keep_answer(session_id: UUID, answer: Answer) -> UUID | None:
    """Store a page for a session, and return the stored page's id; None if the session has ended.

    Only the session's newest `KEPT_A_SESSION` pages are kept.
    """
    now, of_session = datetime.now(UTC), KeptAnswer.filter(session_id=session_id)
    page = encrypt(answer.page)
    try:
        async with transaction():
            kept = await KeptAnswer.create(
                session_id=session_id, status=answer.status, page=page, created_at=now
            )
            # Pages committed after `newest` was read are newer, so the deletion does not match them.
            newest = await of_session.order_by("-id").limit(KEPT_A_SESSION).values_list("id", flat=True)
            if len(newest) == KEPT_A_SESSION:
                await of_session.filter(id__lt=newest[-1]).delete()
    except IntegrityError:
        return None
    return kept.id


async def find_answer(session_id: UUID, answer_id: UUID) -> Answer | None:
    """Return a session's stored page; None if it is missing, older than an hour, or cannot be decrypted."""
    recent = KeptAnswer.filter(session_id=session_id, created_at__gt=datetime.now(UTC) - LIFETIME)
    kept = await recent.get_or_none(id=answer_id)
    try:
        return Answer(kept.status, decrypt(kept.page)) if kept else None
    except UndecryptableError:
        return None


async def delete_old_answers(now: datetime) -> int:
    """Delete stored pages older than an hour, and return their number."""
    return await KeptAnswer.filter(created_at__lte=now - LIFETIME).delete()
