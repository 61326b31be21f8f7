"""The settings pages of the team's members and invitations, and the owners' actions on them."""

from __future__ import annotations

from starlette.responses import Response

from monitoring.app.members import invitations
from monitoring.app.routing import for_members, for_owners
from monitoring.app.sentences import REFUSALS, ROLE_OPTIONS
from monitoring.app.visits import Visit
from monitoring.auth.models import ApiKey
from monitoring.auth.service import list_keys
from monitoring.contract.problems import Problem
from monitoring.members import service
from monitoring.members.invitations import list_invitations, make_reset_code
from monitoring.members.models import Role, User
from monitoring.members.refusals import Refused


async def show_members(visit: Visit) -> Response:
    """List the members. Owners also see the invitations."""
    invitations = await list_invitations(visit.team.id) if visit.is_owner else []
    return visit.render(
        "members/list.html",
        members=await service.list_members(visit.team.id),
        invitations=invitations,
        names=await service.name_members(visit.team.id, {each.invited_by for each in invitations}),
    )


async def show_member(visit: Visit) -> Response:
    """Show a member, and the actions that an owner can take on them."""
    return _render_member(visit, await _find_member(visit))


async def change_role(visit: Visit) -> Response:
    """Change a member's role."""
    member = await _find_member(visit)
    form = await visit.read_form()
    role = form.get("role", "")
    if role not in list(Role):
        return _render_member(visit, member, REFUSALS["role_unknown"])
    try:
        await service.change_role(visit.team.id, member.id, Role(role), by=visit.actor)
    except Refused as refused:
        return _render_member(visit, member, refused.sentence)
    return visit.redirect("/settings/members", notice="role_changed")


async def ask_for_reset_code(visit: Visit) -> Response:
    """Explain what a password reset code does, and ask for confirmation before making one."""
    return visit.render("members/reset.html", member=await _find_member(visit))


async def make_code(visit: Visit) -> Response:
    """Make a password reset code, and show it only on this page."""
    member = await _find_member(visit)
    try:
        invited = await make_reset_code(visit.team.id, member.id, by=visit.actor)
    except Refused:  # another request has just removed the member
        raise Problem("not_found") from None
    return visit.render(
        "members/code.html",
        invited=invited,
        member=member,
        is_mailed=False,
        place=visit.locate("/settings/members"),
    )


async def ask_to_remove(visit: Visit) -> Response:
    """Ask for confirmation before removing a member. Explain what is removed and what stays."""
    member = await _find_member(visit)
    return visit.render("members/remove.html", member=member, keys=await _living_keys_of(member), error="")


async def remove_member(visit: Visit) -> Response:
    """Remove a member."""
    member = await _find_member(visit)
    try:
        await service.remove_member(visit.team.id, member.id, by=visit.actor)
    except Refused as refused:
        keys = await _living_keys_of(member)
        return visit.render("members/remove.html", 400, member=member, keys=keys, error=refused.sentence)
    return visit.redirect("/settings/members", notice="member_removed")


async def _find_member(visit: Visit) -> User:
    """Return the team's member that the path names. Raises Problem if there is none."""
    try:
        return await service.get_member(visit.team.id, visit.read_id("user_id"))
    except Refused:
        raise Problem("not_found") from None


async def _living_keys_of(member: User) -> list[ApiKey]:
    """Return the unrevoked API keys that a member created.

    The member may know the secrets of these keys, which stay valid after the member is removed.
    """
    keys = await list_keys(member.team_id)
    return [key for key in keys if key.created_by == member.email and key.revoked_at is None]


def _render_member(visit: Visit, member: User, error: str = "") -> Response:
    return visit.render(
        "members/member.html", 400 if error else 200, member=member, role_options=ROLE_OPTIONS, error=error
    )


ROUTES = (
    *invitations.ROUTES,
    for_members("/settings/members", get=show_members),
    for_owners("/settings/members/{user_id}", get=show_member, post=change_role),
    for_owners("/settings/members/{user_id}/reset-code", get=ask_for_reset_code, post=make_code),
    for_owners("/settings/members/{user_id}/remove", get=ask_to_remove, post=remove_member),
)
