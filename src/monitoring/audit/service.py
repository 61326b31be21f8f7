"""Writes and reads the audit log. An entry is stored in the same transaction as the effects of its action."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from uuid import UUID

from monitoring.audit.actions import Action
from monitoring.audit.actors import Actor
from monitoring.audit.changes import Change
from monitoring.audit.filters import EVERYTHING, EntryFilter
from monitoring.audit.models import MAX_CHARACTERS, AuditEntry
from monitoring.backends.pages import Page, read_page

INSERTED_AT_ONCE = 500


async def record(  # noqa: PLR0913, PLR0917 - the fields of an entry
    team_id: UUID,
    actor: Actor,
    action: Action,
    subject: str = "",
    subject_id: object = None,
    changes: Sequence[Change] = (),
) -> None:
    """Record an action, in the caller's transaction. `subject` is cut to 255 characters."""
    await make_entry(team_id, actor, action, subject, subject_id, changes).save()


async def record_many(team_id: UUID, actor: Actor, action: Action, subjects: Mapping[UUID, str]) -> None:
    """Record an action on many subjects in the caller's transaction. `subjects` has their names by id."""
    entries = [make_entry(team_id, actor, action, name, id_) for id_, name in subjects.items()]
    await AuditEntry.bulk_create(entries, batch_size=INSERTED_AT_ONCE)


async def list_entries(
    team_id: UUID, limit: int, after_id: UUID | None, wanted: EntryFilter = EVERYTHING
) -> Page[AuditEntry]:
    """Return up to `limit` of a team's matching entries, newest first, starting after `after_id`."""
    return await read_page(wanted.apply(AuditEntry.filter(team_id=team_id)), limit, after_id)


async def list_entries_about(team_id: UUID, subject_id: object, limit: int) -> list[AuditEntry]:
    """Return up to `limit` of a team's entries about one subject, newest first."""
    about = AuditEntry.filter(subject_id=str(subject_id), team_id=team_id)
    return await about.order_by("-id").limit(limit)


def make_entry(  # noqa: PLR0913, PLR0917 - as above
    team_id: UUID,
    actor: Actor,
    action: Action,
    subject: str,
    subject_id: object,
    changes: Sequence[Change] = (),
) -> AuditEntry:
    """Return an unsaved entry, for callers that insert it together with other rows in one statement."""
    return AuditEntry(
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
