"""The app as an ASGI application: its pages, inside the same layers as the API."""

from __future__ import annotations

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from monitoring.app import maintenance_form, monitor_filter, monitor_form
from monitoring.app.changes import Changes
from monitoring.app.errors import ErrorPages
from monitoring.app.following import Readings, Renderings
from monitoring.app.pages import (
    account,
    acknowledge,
    article_costs,
    articles,
    audit_log,
    channels,
    corrections,
    deliveries,
    email_readers,
    forgotten_password,
    join,
    keys,
    maintenance,
    members,
    monitors,
    plan,
    sign_in,
)
from monitoring.app.rendering import ROOT, Pages
from monitoring.app.routing import for_members
from monitoring.app.turns import Turns
from monitoring.app.visits import Visit
from monitoring.contract.catalogue import Catalogue
from monitoring.contract.problems import Problem
from monitoring.settings import Settings
from monitoring.web.telemetry import RequestTelemetry

NAME = "app"  # stands in metrics and the access log, where API requests have their operation

SUBJECTS = (
    sign_in,
    join,
    forgotten_password,
    acknowledge,
    email_readers,
    monitors,
    article_costs,  # before the id of any article
    articles,
    corrections,
    keys,
    channels,
    deliveries,
    maintenance,
    members,
    account,
    audit_log,
    plan,
)


class App:
    """Serves every page below /app. Requests find it under `request.app`."""

    def __init__(self, settings: Settings, catalogue: Catalogue, is_stopping: Callable[[], bool]) -> None:
        self.changes = Changes(is_stopping)
        self.renderings = Renderings()
        self.readings = Readings()
        self.turns = Turns()
        self.max_body_bytes = settings.max_body_bytes
        self._catalogue = catalogue
        self._pages = Pages(settings)
        for form in (maintenance_form, monitor_filter, monitor_form):
            form.judge()
        routes = [route for subject in SUBJECTS for route in subject.ROUTES]
        router = Router([*routes, *self._own_routes()], redirect_slashes=False)
        errors = ErrorPages(router, self.receive, catalogue)
        self._app: ASGIApp = RequestTelemetry(errors, otherwise=NAME)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request for a page."""
        scope["app"] = self
        await self._app(scope, receive, send)

    def receive(self, request: Request) -> Visit:
        """Begin a request's visit, or return it. It is a stranger's until `recognise` finds a session."""
        visit: Visit = request.scope.setdefault("visit", Visit(request, self._pages, self._catalogue))
        return visit

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
