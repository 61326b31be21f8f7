"""Sends invitations by email. Each invitation contains a link for joining the team."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from tortoise.queryset import QuerySet

from monitoring.backends.current import current_backends
from monitoring.backends.leases import sweep_idle
from monitoring.backends.tasks import task
from monitoring.members.invitations import LIFETIME, write_link
from monitoring.members.models import Invitation
from monitoring.members.refusals import INVITATION_DAYS
from monitoring.notifications.channels import AccountEmail
from monitoring.notifications.personal_emails import (
    LETTERS_AT_ONCE,
    MAX_LETTERS_A_SWEEP,
    find_idle_letters,
    send_letter,
)

# The email contains no text by members, because they could use it to send spam to any email address. The
# operator chooses the team's name.
TITLE = "Join {team}"
TEXT = """\
{invited_by} invites you to join the team {team}, as {email}.
The link works once, within {days} days. If you do not know them, do nothing."""
LABEL = "Join the team"
WHY = "because {invited_by} entered this address"


@task(queue_name="notifications", at_once=LETTERS_AT_ONCE)
async def send_invitation(invitation_id: str) -> None:
    """Send an invitation if it is due. A duplicate task message has no effect."""
    await send_letter(
        Invitation.filter(id=UUID(invitation_id)), LIFETIME, "team", _write, sent_at="mailed_at"
    )


async def sweep_invitations() -> int:
    """Queue a task for each due invitation that has no task. Return the number of queued tasks."""
    return await sweep_idle(send_invitation, _find_idle, MAX_LETTERS_A_SWEEP)


async def _find_idle(now: datetime) -> QuerySet[Invitation]:
    return find_idle_letters(Invitation.all(), LIFETIME, now)


def _write(invitation: Invitation) -> AccountEmail:
    words = {
        "team": invitation.team.name,
        "email": invitation.email,
        "invited_by": invitation.invited_by,
        "days": INVITATION_DAYS,
    }
    return AccountEmail(
        id=invitation.id,
        recipient=invitation.email,
        written_at=invitation.created_at,
        title=TITLE.format(**words),
        text=TEXT.format(**words),
        label=LABEL,
        link=write_link(invitation, current_backends().settings.base_url),
        why=WHY.format(**words),
    )
