"""The audit log. An entry is written in the transaction of its action, so neither exists alone."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from monitoring.audit.filters import EVERYTHING
from monitoring.audit.models import MAX_CHARACTERS, AuditEntry
from monitoring.backends.pages import Page, read_page

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from monitoring.audit.actions import Action
    from monitoring.audit.actors import Actor
    from monitoring.audit.changes import Change
    from monitoring.audit.filters import EntryFilter


async def record(  # noqa: PLR0913, PLR0917 - who did what to what
    team_id: UUID,
    actor: Actor,
    action: Action,
    subject: str = "",
    subject_id: object = None,
    changes: Sequence[Change] = (),
) -> None:
    """Record an action, in the caller's transaction. `subject` is cut to 255 characters."""
    await AuditEntry.create(
        team_id=team_id,
        happened_at=datetime.now(UTC),
        actor=actor.name[:MAX_CHARACTERS],
        actor_user_id=actor.user_id,
        actor_client_id=actor.client_id,
        address=actor.address[:MAX_CHARACTERS] if actor.address else None,
        action=action.value,
        subject=subject[:MAX_CHARACTERS],
        subject_id=None if subject_id is None else str(subject_id)[:MAX_CHARACTERS],
        changes=[list(change) for change in changes] or None,
    )


async def list_entries(
    team_id: UUID, limit: int, after_id: UUID | None, wanted: EntryFilter = EVERYTHING
) -> Page[AuditEntry]:
    """Return up to `limit` entries of a team that fit, newest first, from the one after `after_id` on."""
    return await read_page(wanted.apply(AuditEntry.filter(team_id=team_id)), limit, after_id)
