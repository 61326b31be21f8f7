"""Who may open a page: strangers, viewers, members or owners. It accepts only forms of our own pages."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from monitoring.app.post_redirect_get import come_back, lead_to
from monitoring.app.rendering import ROOT
from monitoring.app.sentences import NOTICES, Declined
from monitoring.app.visits import Visit

Handler: TypeAlias = Callable[[Visit], Awaitable[Response]]
Guard: TypeAlias = Callable[[Visit], Response | None]


def for_strangers(path: str, *, get: Handler | None = None, post: Handler | None = None) -> Route:
    """Open a page to everybody."""
    return _route(path, get, post, _let_in)


def for_holders(path: str, *, get: Handler, post: Handler) -> Route:
    """Open a page to whoever has the signed link that its address holds, and to programs too.

    The link is what nobody else knows, so that `post` needs no form of ours and must not read one.
    """
    handlers = {"GET": get, "HEAD": get, "POST": post}

    async def serve(request: Request) -> Response:
        return await handlers[request.method](request.scope["visit"])

    return Route(ROOT + path, serve, methods=["GET", "POST"])


def for_everybody(path: str, *, get: Handler | None = None, post: Handler | None = None) -> Route:
    """Open a page about a person's own account to whoever is signed in; others are asked to sign in first."""
    return _route(path, get, post, _demand_session)


def for_members(path: str, *, get: Handler | None = None, post: Handler | None = None) -> Route:
    """Open a page of the team. Viewers see it without its forms; a page that takes a form is not for them."""
    return _route(path, get, post, _demand_member if post else _demand_viewer)


def for_owners(path: str, *, get: Handler | None = None, post: Handler | None = None) -> Route:
    """Open a page to owners of the team; other members are told that it is for owners."""
    return _route(path, get, post, _demand_owner)


def _route(path: str, get: Handler | None, post: Handler | None, guard: Guard) -> Route:
    handlers = {method: handler for method, handler in (("GET", get), ("POST", post)) if handler}

    async def serve(request: Request) -> Response:
        visit: Visit = request.scope["visit"]
        is_form = request.method == "POST"
        if is_form:
            visit.demand_own_site()
            # Read before the session is looked up: it may end while somebody sends a form slowly.
            await visit.read_form()
        async with visit.take_turn():
            await visit.recognise()
            await visit.count()
            if turned_away := guard(visit):
                return turned_away
            if is_form:
                await visit.demand_own_form()
                visit.keeps_answers = get is not None
                return await lead_to(await handlers["POST"](visit), visit)
            return await come_back(visit) or await handlers["GET"](visit)

    return Route(ROOT + path, serve, methods=list(handlers))


def _let_in(_visit: Visit) -> None:
    return None


def _demand_session(visit: Visit) -> Response | None:
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
                next=visit.path,
                notice=NOTICES["form_kept"],
                place=visit.locate("/sign-in", next=visit.path),
            )
        return visit.redirect("/sign-in", notice="session_ended")
    return visit.redirect("/sign-in", next=visit.path)


def _demand_viewer(visit: Visit) -> Response | None:
    visit.is_of_team = True
    return _demand_session(visit)


def _demand_member(visit: Visit) -> Response | None:
    turned_away = _demand_viewer(visit)
    if not turned_away and visit.is_viewer:
        raise Declined("viewers_only_look")
    return turned_away


def _demand_owner(visit: Visit) -> Response | None:
    turned_away = _demand_viewer(visit)
    if not turned_away and not visit.is_owner:
        raise Declined("owners_only")
    return turned_away
