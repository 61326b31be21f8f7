"""Signing in and out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from monitoring.audit.actions import Action
from monitoring.audit.service import record
from monitoring.auth.limits import client_network, count_request
from monitoring.backends.database import transaction
from monitoring.console.routing import for_members, for_strangers
from monitoring.console.sentences import REFUSALS
from monitoring.members.refusals import Refused
from monitoring.members.rules import read_email
from monitoring.members.sessions import begin_session, end_session
from monitoring.members.sign_in import authenticate

if TYPE_CHECKING:
    from starlette.responses import Response

    from monitoring.console.visits import Visit
    from monitoring.members.models import User

_PATH = re.compile(r"(/[A-Za-z0-9_-]+){1,8}")


async def show_sign_in(visit: Visit) -> Response:
    """Show the form, or the first page to who is signed in."""
    if visit.session:
        return visit.redirect("/monitors")
    return visit.render("sign_in.html", next=_read_next(visit.query.get("next", "")), email="", error="")


async def sign_in(visit: Visit) -> Response:
    """Begin a session. An unknown email and a wrong password get one and the same answer."""
    form = await visit.read_form()
    email, next_path = form.get("email", ""), _read_next(form.get("next", ""))
    # Counted before the password is verified: guessing is limited, and so is the work it makes.
    keys = [f"address:{client_network(visit.request)}", *_email_key(email)]
    await count_request(visit.request, visit.settings.rate_limit_sign_in, *keys)
    user = await authenticate(email, form.get("password", ""))
    if user and await open_session(visit, user):
        return visit.redirect(next_path or "/monitors")
    error = REFUSALS["sign_in_refused"]
    return visit.render("sign_in.html", 400, next=next_path, email=email, error=error)


async def sign_out(visit: Visit) -> Response:
    """End this browser's session."""
    assert visit.session  # noqa: S101 - only members come here
    async with transaction():
        await end_session(visit.session.id)
        await record(visit.team.id, visit.actor, Action.SIGNED_OUT)
    visit.end_session()
    return visit.redirect("/sign-in", notice="signed_out")


async def open_session(visit: Visit, user: User) -> bool:
    """Sign somebody in, in place of who was signed in before.

    False if they were removed, or have a new password, since they were authenticated.
    """
    browser = visit.request.headers.get("user-agent", "")
    try:
        token = await begin_session(user, browser, address=visit.address)
    except Refused:
        return False
    if visit.session:
        await end_session(visit.session.id)
    visit.begin_session(token)
    return True


def _email_key(email: str) -> list[str]:
    """Return under what an email is counted, in whichever spelling; nobody has one that is none."""
    try:
        return [f"email:{read_email(email)}"]
    except Refused:
        return []


def _read_next(path: str) -> str:
    """Read where to go on: a page of the app, or nowhere."""
    return path if _PATH.fullmatch(path) else ""


ROUTES = (
    for_strangers("/sign-in", get=show_sign_in, post=sign_in),
    for_members("/sign-out", post=sign_out),
)
