"""The app as an ASGI application: its pages, wrapped in telemetry and error pages."""

from __future__ import annotations

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from monitoring.app.account import pages as account
from monitoring.app.articles import corrections
from monitoring.app.articles import pages as articles
from monitoring.app.audit import pages as audit_log
from monitoring.app.channels import deliveries, email_readers
from monitoring.app.channels import pages as channels
from monitoring.app.errors import ErrorPages
from monitoring.app.incidents import acknowledge_link
from monitoring.app.incidents import pages as incidents
from monitoring.app.keys import pages as keys
from monitoring.app.live.changes import Changes
from monitoring.app.maintenance import form as maintenance_form
from monitoring.app.maintenance import pages as maintenance
from monitoring.app.members import pages as members
from monitoring.app.monitors import (
    actions,
    detail_page,
    downloads,
    form_pages,
    list_filter,
    list_page,
    selection,
)
from monitoring.app.monitors import form as monitor_form
from monitoring.app.rendering import ROOT, Pages, RenderedPages
from monitoring.app.routing import for_members
from monitoring.app.session_turns import Turns
from monitoring.app.sign_in import forgotten_password, join
from monitoring.app.sign_in import pages as sign_in
from monitoring.app.visits import Site, Visit
from monitoring.app.worlds import showing, take_world
from monitoring.contract.catalogue import Catalogue
from monitoring.contract.problems import Problem
from monitoring.settings import Settings
from monitoring.web.telemetry import RequestTelemetry

NAME = "app"  # used in metrics and the access log, in place of the operation name of API requests

# The modules that define routes, in the order in which paths are matched. Fixed paths come before paths with
# an id.
SUBJECTS = (
    sign_in,
    join,
    forgotten_password,
    acknowledge_link,
    email_readers,
    list_page,
    selection,
    form_pages,
    detail_page,
    downloads,
    actions,
    incidents,
    articles,
    corrections,
    keys,
    channels,
    deliveries,
    maintenance,
    members,
    account,
    audit_log,
)


class App:
    """Serves every page under /app. Each request's scope contains its `Visit`."""

    def __init__(self, settings: Settings, catalogue: Catalogue, is_stopping: Callable[[], bool]) -> None:
        self.max_body_bytes = settings.max_body_bytes
        self._pages = Pages(settings)
        self.site = Site(self._pages, catalogue, Changes(is_stopping), RenderedPages(), Turns())
        for form in (maintenance_form, list_filter, monitor_form):
            form.judge()
        routes = [route for subject in SUBJECTS for route in subject.ROUTES]
        self._router = Router([*routes, *self._own_routes()], redirect_slashes=False)
        self._app: ASGIApp = RequestTelemetry(ErrorPages(self._visit, catalogue), otherwise=NAME)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request for a page."""
        scope["app"] = self
        await self._app(scope, receive, send)

    async def _visit(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Create the request's visit, and route the request.

        The visit is anonymous until `recognise` finds a session.
        """
        is_sandbox, path = take_world(scope["path"].removeprefix(ROOT))
        scope["path"] = ROOT + path
        with showing(sandbox=is_sandbox):
            scope["visit"] = Visit(Request(scope, receive), self.site)
            await self._router(scope, receive, send)

    def _own_routes(self) -> list[Route]:
        return [
            for_members("", get=_show_first_page),
            for_members("/", get=_show_first_page),
            Route(f"{ROOT}/assets/{{name}}", self._serve_asset),
        ]

    async def _serve_asset(self, request: Request) -> Response:
        found = self._pages.serve_asset(request.path_params["name"], request.query_params.get("v", ""))
        if found is None:
            raise Problem("not_found")
        return found


async def _show_first_page(visit: Visit) -> Response:
    return visit.redirect("/monitors")
