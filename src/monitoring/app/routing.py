"""Makes the routes of pages for anyone, signed-in users, members or owners, with their permission checks.

Forms that other sites submit are refused.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from monitoring.app.post_redirect_get import find_kept, redirect_to_kept
from monitoring.app.rendering import ROOT
from monitoring.app.sentences import NOTICES, Declined
from monitoring.app.visits import Visit

Handler: TypeAlias = Callable[[Visit], Awaitable[Response]]
Guard: TypeAlias = Callable[[Visit], Response | None]


def for_anyone(path: str, *, get: Handler | None = None, post: Handler | None = None) -> Route:
    """Make the route of a page for everybody, signed in or not."""
    return _route(path, get, post, _allow)


def for_link_holders(path: str, *, get: Handler, post: Handler) -> Route:
    """Make the route of a page for people and programs that have its signed link.

    Only they know the link, so a POST needs no CSRF token. `post` must not read the form: mail programs may
    send it as multipart/form-data (RFC 8058), which `read_form` refuses.
    """
    handlers = {"GET": get, "HEAD": get, "POST": post}

    async def serve(request: Request) -> Response:
        return await handlers[request.method](request.scope["visit"])

    return Route(ROOT + path, serve, methods=["GET", "POST"])


def for_signed_in(path: str, *, get: Handler | None = None, post: Handler | None = None) -> Route:
    """Make the route of a page about the user's own account. Anonymous visitors are asked to sign in."""
    return _route(path, get, post, _require_session)


def for_members(path: str, *, get: Handler | None = None, post: Handler | None = None) -> Route:
    """Make the route of a page about the team's data.

    If `post` is given, viewers get an error page. Otherwise, viewers see the page without its forms.
    """
    return _route(path, get, post, _require_member if post else _require_viewer)


def for_owners(path: str, *, get: Handler | None = None, post: Handler | None = None) -> Route:
    """Make the route of a page for the team's owners. Other members get an error page."""
    return _route(path, get, post, _require_owner)


def _route(path: str, get: Handler | None, post: Handler | None, guard: Guard) -> Route:
    handlers = {method: handler for method, handler in (("GET", get), ("POST", post)) if handler}

    async def serve(request: Request) -> Response:
        visit: Visit = request.scope["visit"]
        is_form = request.method == "POST"
        if is_form:
            visit.require_same_site()
            # The form is read before the session is looked up, because the session may end during a slow
            # upload.
            await visit.read_form()
        async with visit.take_turn():
            await visit.recognise()
            await visit.count()
            if turned_away := guard(visit):
                return turned_away
            if is_form:
                await visit.require_csrf_token()
                visit.may_keep_answer = get is not None
                return await redirect_to_kept(await handlers["POST"](visit), visit)
            return await find_kept(visit) or await handlers["GET"](visit)

    return Route(ROOT + path, serve, methods=list(handlers))


def _allow(_visit: Visit) -> None:
    return None


def _require_session(visit: Visit) -> Response | None:
    if visit.session:
        return None
    if visit.request.method == "POST":
        if kept := visit.keep_form():
            return visit.render(
                "sign_in/sign_in.html",
                403,
                email=visit.last_email,
                errors={},
                kept=kept,
                next=visit.path_in_world,
                notice=NOTICES["form_kept"],
                place=visit.locate("/sign-in", next=visit.path_in_world),
            )
        return visit.redirect("/sign-in", notice="session_ended")
    return visit.redirect("/sign-in", next=visit.path_in_world)


def _require_viewer(visit: Visit) -> Response | None:
    visit.is_of_team = True
    return _require_session(visit)


def _require_member(visit: Visit) -> Response | None:
    turned_away = _require_viewer(visit)
    if not turned_away and visit.is_viewer:
        raise Declined("viewers_only_look")
    return turned_away


def _require_owner(visit: Visit) -> Response | None:
    turned_away = _require_viewer(visit)
    if not turned_away and not visit.is_owner:
        raise Declined("owners_only")
    return turned_away
