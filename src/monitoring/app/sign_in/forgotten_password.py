"""The pages for forgotten passwords. One requests a link by email, and the other sets a new password.

Neither the response nor its timing reveals whether an email address has an account.
"""

from __future__ import annotations

import logging
from functools import partial

from starlette.background import BackgroundTask
from starlette.responses import Response

from monitoring.app.routing import for_anyone
from monitoring.app.sentences import REFUSALS, Declined
from monitoring.app.sign_in.attempts import MAX_LINKS_OF_ONE_PERSON, spell_email
from monitoring.app.sign_in.join import NO_REFERRER, find_fault
from monitoring.app.sign_in.pages import open_session
from monitoring.app.visits import Visit
from monitoring.auth.limits import client_network, count_under
from monitoring.backends.current import current_backends
from monitoring.backends.errors import BackendUnavailable
from monitoring.contract.problems import Problem
from monitoring.members.models import PasswordLink
from monitoring.members.password_links import PURPOSE, find_link, request_link, use_link
from monitoring.members.refusals import Refused
from monitoring.notifications.password_emails import send_password_link

ASK = "/forgotten-password"
CHOOSE = f"/{PURPOSE}"

log = logging.getLogger(__name__)


async def show_request(visit: Visit) -> Response:
    """Show the form for an email address. Raises `Problem("not_found")` if no mail server is configured."""
    _demand_mail_server(visit)
    return visit.render("sign_in/forgotten_password.html", email="", error="")


async def ask_for_link(visit: Visit) -> Response:
    """Show the same confirmation for every email address, and send a link if the address has an account.

    The account is looked up after the response is sent, so that the response's timing does not reveal whether
    the account exists.
    """
    _demand_mail_server(visit)
    typed = (await visit.read_form()).get("email", "")
    network = client_network(visit.request)
    await count_under(visit.request, (visit.settings.rate_limit_sign_in_address, network))
    email = spell_email(typed)
    if not email:
        error = REFUSALS["email_invalid"]
        return visit.render("sign_in/forgotten_password.html", 400, email=typed, error=error)
    answer = visit.render("sign_in/on_its_way.html", email=email, place=visit.locate(ASK), is_kept=True)
    answer.background = BackgroundTask(partial(_send_link, email, network))
    return answer


async def show_new_password(visit: Visit) -> Response:
    """Show the form for the new password. Raises Declined if the link is not valid."""
    token = visit.query.get("token", "")
    return _render_form(visit, await _find(token), token)


async def set_new_password(visit: Visit) -> Response:
    """Set the new password of the link's user, end all of their sessions, and sign them in."""
    form = await visit.read_form()
    token = form.get("token", "")
    link, password = await _find(token), form.get("password", "")
    # Every attempt is counted, because it costs CPU time even if it does not use up the link.
    await count_under(
        visit.request,
        (visit.settings.rate_limit_sign_in_address, client_network(visit.request)),
        (visit.settings.rate_limit_sign_in, f"password link:{link.id}"),
    )
    if faults := find_fault("password", password, link.user.email):
        return _render_form(visit, link, token, faults["password"])
    try:
        user = await use_link(link, password, address=visit.address)
    except Refused:  # another request has just used the link
        raise Declined("password_link_expired") from None
    return visit.redirect("/monitors" if await open_session(visit, user) else "/sign-in")


async def _find(token: str) -> PasswordLink:
    link = await find_link(token)
    if link is None:
        raise Declined("password_link_expired")
    return link


async def _send_link(email: str, network: str) -> None:
    """Send a link, unless the email has reached its rate limit. In that case, an earlier link still works."""
    try:
        if not (await current_backends().counters.hit(MAX_LINKS_OF_ONE_PERSON, email)).allowed:
            return
        if link_id := await request_link(email, network):
            await send_password_link.send(str(link_id))
    except BackendUnavailable as error:
        log.warning("an email with a link to set a new password could not be sent: %s", error)


def _demand_mail_server(visit: Visit) -> None:
    if visit.settings.email_from is None:
        raise Problem("not_found")


def _render_form(visit: Visit, link: PasswordLink, token: str, error: str = "") -> Response:
    response = visit.render(
        "sign_in/new_password.html",
        400 if error else 200,
        user=link.user,
        token=token,
        error=error,
        place=visit.locate(CHOOSE, token=token),
    )
    response.headers.update(NO_REFERRER)
    return response


ROUTES = (
    for_anyone(ASK, get=show_request, post=ask_for_link),
    for_anyone(CHOOSE, get=show_new_password, post=set_new_password),
)
