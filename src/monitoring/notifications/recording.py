"""Records changes of channels in the audit log, in the caller's transaction."""

from __future__ import annotations

from collections.abc import Sequence

from monitoring.audit.actions import Action
from monitoring.audit.actors import Actor
from monitoring.audit.changes import Change
from monitoring.audit.service import record
from monitoring.notifications.models import NotificationChannel


async def record_act(
    channel: NotificationChannel, action: Action, by: Actor | None, changes: Sequence[Change] = ()
) -> None:
    """Record an action on a channel in the audit log. Does nothing if `by` is None."""
    if by:
        await record(channel.team_id, by, action, channel.name, channel.id, changes)
