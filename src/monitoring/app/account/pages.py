"""The settings pages about the user's own account and browsers, and about the team's plan."""

from __future__ import annotations

from starlette.responses import Response

from monitoring.app.routing import for_members, for_signed_in
from monitoring.app.sign_in.join import find_fault
from monitoring.app.visits import Visit
from monitoring.auth.limits import count_request
from monitoring.contract.problems import Problem
from monitoring.members import service
from monitoring.members.refusals import Refused
from monitoring.members.sessions import end_session_of, end_sessions, find_addresses, list_sessions

# The first match is used. The order matters because most User-Agent headers also name other browsers, for
# compatibility.
_BROWSERS = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
)
_SYSTEMS = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("CrOS", "ChromeOS"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
)


async def show_account(visit: Visit) -> Response:
    """Show the user's own name, email, role and sessions."""
    sessions = await list_sessions(visit.user.id)
    addresses = await find_addresses(visit.team.id, sessions)
    rows = [
        (session, describe_browser(session.browser), addresses.get(str(session.id), "not known"))
        for session in sessions
    ]
    return visit.render("account/account.html", sessions=rows)


async def show_name(visit: Visit) -> Response:
    """Show the form that changes the user's name."""
    return visit.render("account/name.html", name=visit.user.name, error=None)


async def change_name(visit: Visit) -> Response:
    """Change the user's name, which the team sees."""
    name = (await visit.read_form()).get("name", "")
    try:
        await service.change_name(visit.user, name, by=visit.actor)
    except Refused as refused:
        return visit.render("account/name.html", 400, name=name, error=refused.sentence)
    return visit.redirect("/settings/account", notice="name_changed")


async def show_password(visit: Visit) -> Response:
    """Show the form that changes the password."""
    return visit.render("account/password.html", errors={})


async def change_password(visit: Visit) -> Response:
    """Change the password. Only this browser stays signed in."""
    assert visit.session  # noqa: S101 - the route requires a session
    form = await visit.read_form()
    # The attempt is counted before the password is verified. This limits guesses by somebody who finds the
    # browser unattended.
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
    """Sign out one of the user's browsers. Raises `Problem("not_found")` if the session is not the user's."""
    if not await end_session_of(visit.user, visit.read_id("session_id"), by=visit.actor):
        raise Problem("not_found")
    return visit.redirect("/settings/account", notice="other_session_ended")


async def sign_out_everywhere(visit: Visit) -> Response:
    """End all of the user's sessions, including this one."""
    await end_sessions(visit.user.id, by=visit.actor)
    visit.end_session()
    return visit.redirect("/sign-in", notice="signed_out_everywhere")


def describe_browser(user_agent: str) -> str:
    """Return a description of a browser for its user to recognise, such as "Firefox on Linux".

    A client can forge the description by sending a false User-Agent header.
    """
    browser = next((name for mark, name in _BROWSERS if mark in user_agent), "Another browser")
    system = next((name for mark, name in _SYSTEMS if mark in user_agent), None)
    return f"{browser} on {system}" if system else browser


async def show_plan(visit: Visit) -> Response:
    """Show the team's plan, and the limits that apply to every team."""
    settings = visit.settings
    return visit.render(
        "account/plan.html",
        used=visit.team.monitors_count,
        allowed=visit.team.max_monitors,
        limits=[
            ("Requests of one API key, and page views of one person", settings.rate_limit_api),
            ("Extra checks your team requests", settings.rate_limit_check_now),
            ("Test notifications and redeliveries your team requests", settings.rate_limit_notifications),
        ],
        retention=[
            ("Each check", settings.check_retention_days),
            ("Response times by hour", settings.hourly_retention_days),
            ("Response times by day", settings.daily_retention_days),
        ],
        larger_plans=[
            (name, max_monitors)
            for name, max_monitors in settings.plans.items()
            if max_monitors > visit.team.max_monitors
        ],
    )


ROUTES = (
    for_signed_in("/settings/account", get=show_account),
    for_signed_in("/settings/account/name", get=show_name, post=change_name),
    for_signed_in("/settings/account/password", get=show_password, post=change_password),
    for_signed_in("/settings/account/sessions/{session_id}/end", post=end_other_session),
    for_signed_in("/settings/account/sign-out-everywhere", post=sign_out_everywhere),
    for_members("/settings/plan", get=show_plan),
)
