"""The pages for signing in and out."""

from __future__ import annotations

import re

from starlette.background import BackgroundTask
from starlette.responses import Response

from monitoring.app.routing import for_anyone, for_signed_in
from monitoring.app.sentences import REFUSALS
from monitoring.app.sign_in.attempts import count_attempt, note_refusal
from monitoring.app.visits import MAX_FIELDS, Visit
from monitoring.audit.actions import Action
from monitoring.audit.service import record
from monitoring.backends.database import transaction
from monitoring.contract.problems import Problem
from monitoring.contract.urlencoding import parse_pairs
from monitoring.members.models import User
from monitoring.members.refusals import Refused
from monitoring.members.sessions import begin_session, end_session
from monitoring.members.sign_in import authenticate

_PATH = re.compile(r"(/[A-Za-z0-9_-]+){1,8}")


async def show_sign_in(visit: Visit) -> Response:
    """Show the sign-in form. Redirect signed-in users to the monitor list."""
    if visit.session:
        return visit.redirect("/monitors")
    next_path = _read_next(visit.query.get("next", ""))
    return visit.render("sign_in/sign_in.html", next=next_path, email=visit.last_email, errors={}, kept="")


async def sign_in(visit: Visit) -> Response:
    """Begin a session. An unknown email and a wrong password get the same response."""
    form = await visit.read_form()
    email, password = form.get("email", ""), form.get("password", "")
    next_path = _read_next(form.get("next", ""))
    kept = form.get("kept", "") if next_path else ""
    shown = {"next": next_path, "email": email, "kept": kept}
    if errors := _find_empty(email, password):  # an empty field is no guess, so it is not counted
        return visit.render("sign_in/sign_in.html", 400, errors=errors, **shown)
    # The attempt is counted before the password is verified. This limits guesses, and the CPU time they cost.
    attempt = await count_attempt(visit.request, email)
    user = await authenticate(email, password, is_known=attempt.is_known)
    if user and await open_session(visit, user):
        if kept:
            return visit.render("sign_in/form_kept.html", path=next_path, fields=_read_kept(kept))
        return visit.redirect(next_path or "/monitors")
    errors = {"": REFUSALS["sign_in_refused"]}
    refusal = visit.render("sign_in/sign_in.html", 400, errors=errors, **shown)
    # Only the refusals for existing accounts are recorded. They are recorded after the response is sent, so
    # that the response's timing does not reveal whether the account exists.
    refusal.background = BackgroundTask(note_refusal, attempt)
    return refusal


async def sign_out(visit: Visit) -> Response:
    """End this browser's session."""
    assert visit.session  # noqa: S101 - the route requires a session
    async with transaction():
        await end_session(visit.session.id)
        await record(visit.team.id, visit.actor, Action.SIGNED_OUT)
    visit.end_session()
    return visit.redirect("/sign-in", notice="signed_out")


async def open_session(visit: Visit, user: User) -> bool:
    """Sign a user in, and end the browser's previous session.

    Returns False if the user was removed, or their password changed, since they were authenticated.
    """
    browser = visit.request.headers.get("user-agent", "")
    try:
        token = await begin_session(user, browser, address=visit.address)
    except Refused:
        return False
    if visit.session:
        await end_session(visit.session.id)
    visit.begin_session(token, user.email)
    return True


def _find_empty(email: str, password: str) -> dict[str, str]:
    """Return an error message for each empty field, by field name."""
    missing = {} if email.strip() else {"email": REFUSALS["email_empty"]}
    return missing if password else missing | {"password": REFUSALS["password_empty"]}


def _read_next(path: str) -> str:
    """Return the path of the page to open after signing in; empty unless it is a path of this app."""
    return path if _PATH.fullmatch(path) else ""


def _read_kept(kept: str) -> list[tuple[str, str]]:
    """Decode a form encoded by `Visit.keep_form`. Raises Problem for malformed text."""
    try:
        return parse_pairs(kept.encode(), MAX_FIELDS)
    except ValueError:
        raise Problem("malformed_request") from None


ROUTES = (
    for_anyone("/sign-in", get=show_sign_in, post=sign_in),
    for_signed_in("/sign-out", post=sign_out),
)
