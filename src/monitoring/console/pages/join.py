"""Joining a team with the code of an invitation, or choosing a new password with one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from monitoring.auth.limits import client_network, count_request
from monitoring.console.pages.sign_in import open_session
from monitoring.console.routing import for_strangers
from monitoring.console.sentences import REFUSALS
from monitoring.members.invitations import accept_invitation, find_invitation
from monitoring.members.refusals import Refused

if TYPE_CHECKING:
    from starlette.responses import Response

    from monitoring.console.visits import Visit


# Where a refusal is said; the others are about the person.
_FIELDS = {
    "name_invalid": "name",
    "password_is_email": "password",
    "password_too_long": "password",
    "password_too_short": "password",
}


async def show_code_form(visit: Visit) -> Response:
    """Ask for the code. It is typed and never part of an address, which browsers and proxies keep."""
    return visit.render("join/code.html", error="")


async def join(visit: Visit) -> Response:
    """Show whose invitation a code is, and take in what is needed to accept it."""
    form = await visit.read_form()
    code = form.get("code", "").strip()
    invitation = await find_invitation(code)
    if invitation is None:
        return visit.render("join/code.html", 400, error=REFUSALS["invitation_unknown"])
    name, errors = form.get("name", ""), {}
    if "password" in form:
        # Each try makes work, whether the code is used up by it or not.
        keys = f"address:{client_network(visit.request)}", f"invitation:{invitation.id}"
        await count_request(visit.request, visit.settings.rate_limit_sign_in, *keys)
        try:
            user = await accept_invitation(code, name, form["password"], address=visit.address)
        except Refused as refused:
            errors = {_FIELDS.get(refused.name, "email"): refused.sentence}
        else:
            return visit.redirect("/monitors" if await open_session(visit, user) else "/sign-in")
    return visit.render(
        "join/accept.html",
        400 if errors else 200,
        code=code,
        invitation=invitation,
        name=name,
        errors=errors,
    )


ROUTES = (for_strangers("/join", get=show_code_form, post=join),)
