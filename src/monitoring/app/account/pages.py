"""Settings, your account: who you are, your password, and the browsers you are signed in with."""

from __future__ import annotations

from starlette.responses import Response

from monitoring.app.account.browsers import describe_browser
from monitoring.app.routing import for_everybody
from monitoring.app.sign_in.join import find_fault
from monitoring.app.visits import Visit
from monitoring.auth.limits import count_request
from monitoring.contract.problems import Problem
from monitoring.members import service
from monitoring.members.refusals import Refused
from monitoring.members.sessions import end_session_of, end_sessions, find_addresses, list_sessions


async def show_account(visit: Visit) -> Response:
    """Show a person their own name, email, role and sessions."""
    sessions = await list_sessions(visit.user.id)
    addresses = await find_addresses(visit.team.id, sessions)
    rows = [
        (session, describe_browser(session.browser), addresses.get(str(session.id), "not known"))
        for session in sessions
    ]
    return visit.render("account/account.html", sessions=rows)


async def show_password(visit: Visit) -> Response:
    """Ask for the current password and a new one."""
    return visit.render("account/password.html", errors={})


async def change_password(visit: Visit) -> Response:
    """Change the password. Only this browser stays signed in."""
    assert visit.session  # noqa: S101 - only people who are signed in come here
    form = await visit.read_form()
    # Counted before it is verified: nobody may guess the password in a browser that was left open.
    await count_request(visit.request, visit.settings.rate_limit_sign_in, f"password:{visit.user.id}")
    current, new = form.get("current_password", ""), form.get("new_password", "")
    try:
        await service.change_password(visit.user, current, new, by=visit.actor, keep=visit.session.id)
    except Refused as refused:
        errors = find_fault("new_password", new, visit.user.email)
        if refused.name == "wrong_password":
            errors["current_password"] = refused.sentence
        return visit.render("account/password.html", 400, errors=errors)
    return visit.redirect("/settings/account", notice="password_changed")


async def end_other_session(visit: Visit) -> Response:
    """Sign out one browser. Whoever chooses this one is a stranger afterwards, as after signing out."""
    if not await end_session_of(visit.user, visit.read_id("session_id"), by=visit.actor):
        raise Problem("not_found")
    return visit.redirect("/settings/account", notice="other_session_ended")


async def sign_out_everywhere(visit: Visit) -> Response:
    """End all sessions, this one too."""
    await end_sessions(visit.user.id, by=visit.actor)
    visit.end_session()
    return visit.redirect("/sign-in", notice="signed_out_everywhere")


ROUTES = (
    for_everybody("/settings/account", get=show_account),
    for_everybody("/settings/account/password", get=show_password, post=change_password),
    for_everybody("/settings/account/sessions/{session_id}/end", post=end_other_session),
    for_everybody("/settings/account/sign-out-everywhere", post=sign_out_everywhere),
)
