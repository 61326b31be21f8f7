"""The settings pages that create invitations, show their codes, and withdraw them."""

from __future__ import annotations

from starlette.responses import Response

from monitoring.app.routing import for_owners
from monitoring.app.sentences import REFUSALS, ROLE_OPTIONS
from monitoring.app.visits import Visit
from monitoring.contract.problems import Problem
from monitoring.members.invitations import invite, list_invitations, withdraw_invitation
from monitoring.members.models import Invitation, Role
from monitoring.members.refusals import Refused
from monitoring.members.rules import read_email
from monitoring.members.service import name_members
from monitoring.notifications.confirming import count_unrequested
from monitoring.notifications.invitation_emails import send_invitation


async def show_invite(visit: Visit) -> Response:
    """Show the form for the email and role of a person to invite."""
    return _render_form(visit, "", Role.MEMBER.value, {})


async def invite_member(visit: Visit) -> Response:
    """Create an invitation, and show its code, which no other page shows.

    Resubmitting the form replaces the invitation and its code.
    """
    form = await visit.read_form()
    email, role = form.get("email", ""), form.get("role", "")
    if role not in list(Role):
        return _render_form(visit, email, Role.MEMBER.value, {"role": REFUSALS["role_unknown"]})
    try:
        is_mailed = await _may_be_mailed(visit, email)
        invited = await invite(visit.team.id, email, Role(role), by=visit.actor, is_mailed=is_mailed)
    except Refused as refused:
        return _render_form(visit, email, role, {"email": refused.sentence})
    if is_mailed:
        await send_invitation.send(str(invited.invitation.id))
    return visit.render(
        "members/code.html",
        invited=invited,
        member=None,
        is_mailed=is_mailed,
        place=visit.locate("/settings/members"),
    )


async def _may_be_mailed(visit: Visit, email: str) -> bool:
    """Count an invitation against the rate limits for email, and return whether it may be emailed.

    Returns False if no sender address is configured, or if a rate limit is reached.
    """
    if visit.settings.email_from is None:
        return False
    try:
        await count_unrequested(visit.team.id, read_email(email))
    except Problem as problem:
        if problem.name != "rate_limited":
            raise
        return False
    return True


async def ask_to_withdraw(visit: Visit) -> Response:
    """Ask for confirmation before withdrawing an invitation."""
    invitation = await _find_invitation(visit)
    names = await name_members(visit.team.id, [invitation.invited_by])
    return visit.render("members/withdraw.html", invitation=invitation, names=names)


async def withdraw(visit: Visit) -> Response:
    """Withdraw an invitation."""
    try:
        await withdraw_invitation(visit.team.id, visit.read_id("invitation_id"), by=visit.actor)
    except Refused:
        raise Problem("not_found") from None
    return visit.redirect("/settings/members", notice="invitation_withdrawn")


async def _find_invitation(visit: Visit) -> Invitation:
    """Return the team's valid invitation that the path names. Raises Problem if there is none."""
    invitation_id = visit.read_id("invitation_id")
    for invitation in await list_invitations(visit.team.id):
        if invitation.id == invitation_id:
            return invitation
    raise Problem("not_found")


def _render_form(visit: Visit, email: str, role: str, errors: dict[str, str]) -> Response:
    return visit.render(
        "members/invite.html",
        400 if errors else 200,
        email=email,
        role=role,
        sends_email=visit.settings.email_from is not None,
        role_options=ROLE_OPTIONS,
        errors=errors,
    )


ROUTES = (
    for_owners("/settings/members/invite", get=show_invite, post=invite_member),
    for_owners("/settings/members/invitations/{invitation_id}/withdraw", get=ask_to_withdraw, post=withdraw),
)
