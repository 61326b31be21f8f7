"""The page on which people join a team, or choose a new password, with an invitation's code or link."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from starlette.responses import Response

from monitoring.app.routing import for_anyone
from monitoring.app.sentences import REFUSALS, Declined
from monitoring.app.sign_in.pages import open_session
from monitoring.app.visits import Visit
from monitoring.auth.limits import client_network, count_under
from monitoring.members.invitations import accept_invitation, find_invitation
from monitoring.members.models import Invitation
from monitoring.members.refusals import Refused
from monitoring.members.rules import check_password

# The field beside which each of these refusals is shown. All other refusals are shown beside the email.
_FIELDS = {
    "name_invalid": "name",
    "password_is_email": "password",
    "password_too_common": "password",
    "password_too_long": "password",
    "password_too_short": "password",
}


# The URL may contain a link's token, so the browser must not send it to another page as the referrer.
NO_REFERRER = {"Referrer-Policy": "no-referrer"}


async def show_code_form(visit: Visit) -> Response:
    """Show the form for an invitation's code. If the URL has a link's token, show the form for the password.

    Raises Declined if the token is not valid.
    """
    token = visit.query.get("token", "")
    if not token:
        return visit.render("sign_in/code.html", error="")
    invitation = await find_invitation(token)
    if invitation is None:
        raise Declined("invitation_link_expired")
    response = _render_form(visit, token, invitation)
    response.headers.update(NO_REFERRER)
    return response


async def join(visit: Visit) -> Response:
    """Show the invitation of the submitted code, with a form for the password.

    If the submitted form contains a password, accept the invitation and sign in.
    """
    form = await visit.read_form()
    code = form.get("code", "").strip()
    invitation = await find_invitation(code)
    if invitation is None:
        return visit.render("sign_in/code.html", 400, error=REFUSALS["invitation_unknown"])
    name, errors = form.get("name", ""), {}
    if "password" in form:
        # Every attempt is counted, because it costs CPU time even if it does not use up the code.
        await count_under(
            visit.request,
            (visit.settings.rate_limit_sign_in_address, client_network(visit.request)),
            (visit.settings.rate_limit_sign_in, f"invitation:{invitation.id}"),
        )
        try:
            user = await accept_invitation(code, name, form["password"], address=visit.address)
        except Refused as refused:
            errors = {_FIELDS.get(refused.name, "email"): refused.sentence}
            if "name" in errors:
                errors |= find_fault("password", form["password"], invitation.email)
        else:
            return visit.redirect("/monitors" if await open_session(visit, user) else "/sign-in")
    return _render_form(visit, code, invitation, name, errors, is_kept=True)


def _render_form(  # noqa: PLR0913 - what the form shows
    visit: Visit,
    code: str,
    invitation: Invitation,
    name: str = "",
    errors: Mapping[str, str] = MappingProxyType({}),
    *,
    is_kept: bool = False,
) -> Response:
    return visit.render(
        "sign_in/accept.html",
        400 if errors else 200,
        code=code,
        invitation=invitation,
        name=name,
        errors=errors,
        is_kept=is_kept,
    )


def find_fault(field: str, password: str, email: str) -> dict[str, str]:
    """Return a new password's error, with `field` as its key; an empty dict for a valid password."""
    try:
        check_password(password, email)
    except Refused as refused:
        return {field: refused.sentence}
    return {}


ROUTES = (for_anyone("/join", get=show_code_form, post=join),)
