"""Undocumented facts about Connexion 3.3 that the contract relies on: an upgrade fails here first."""

import asyncio
import inspect
from importlib.metadata import version

import pytest
from connexion.middleware.abstract import RoutedAPI, RoutedMiddleware
from connexion.middleware.main import ConnexionMiddleware
from connexion.middleware.routing import RoutingMiddleware
from connexion.middleware.security import SecurityMiddleware, SecurityOperation
from connexion.security import AbstractSecurityHandler, SecurityHandlerFactory
from starlette.types import Message

from bakery.service import bakery_document, build_bakery
from monitoring.web.connexion_bridge import Endpoints, operation_id_of
from monitoring.web.endpoint import Endpoint


def test_the_version_is_the_one_these_assumptions_were_read_from() -> None:
    assert version("connexion").startswith("3.3.")


@pytest.mark.parametrize(("path", "operation_id"), [("/health", "get_health"), ("/unknown", "")])
def test_routing_leaves_the_operation_in_the_scope(path: str, operation_id: str) -> None:
    about = {"method": "GET", "path": path, "raw_path": path.encode(), "query_string": b"", "headers": []}
    scope = {"type": "http", "state": {}, **about}

    async def receive() -> Message:
        return {"type": "http.request"}

    async def send(_: Message) -> None: ...

    async def route() -> None:
        await build_bakery()(scope, receive, send)

    asyncio.run(route())
    assert operation_id_of(scope) == operation_id


def test_routed_parts_take_these_arguments() -> None:
    assert list(inspect.signature(RoutedMiddleware.__init__).parameters) == ["self", "app"]
    assert list(inspect.signature(RoutedMiddleware.add_api).parameters) == ["self", "specification", "kwargs"]
    assert "next_app" in inspect.signature(RoutedAPI.__init__).parameters
    assert list(inspect.signature(RoutedAPI.add_paths).parameters) == ["self"]


def test_the_stack_is_built_by_one_call_and_kept() -> None:
    app = build_bakery()
    outermost, stack = app.app, app.middleware_stack
    assert stack is not None
    names = [type(part).__name__ for part in stack]
    assert names == [
        "LifespanMiddleware",
        "RequestTelemetry",
        "Preflights",
        "ProblemMiddleware",
        "StrictRouting",
        "Security",
        "Endpoints",
    ]
    assert app.app is outermost
    assert issubclass(SecurityMiddleware, RoutedMiddleware)
    assert "middleware_stack is None" in inspect.getsource(ConnexionMiddleware.__call__)


def test_every_operation_of_the_document_becomes_an_endpoint() -> None:
    endpoints = next(part for part in build_bakery().middleware_stack or () if isinstance(part, Endpoints))
    (api,) = endpoints.apis[""]
    assert {str(name).rpartition(".")[2] for name in api.operations} == bakery_document().operations.keys()
    assert all(isinstance(endpoint, Endpoint) for endpoint in api.operations.values())


def test_routers_redirect_nowhere() -> None:
    routing = next(
        part for part in build_bakery().middleware_stack or () if isinstance(part, RoutingMiddleware)
    )
    routers = [routing.router, *(vars(mount)["app"] for mount in routing.router.routes)]
    assert [router.redirect_slashes for router in routers] == [False, False]


def test_security_handlers_are_made_without_arguments_and_asked_for_a_function() -> None:
    source = inspect.getsource(SecurityHandlerFactory.parse_security_scheme)
    assert "security_handler().get_fn(security_scheme, required_scopes)" in source
    assert list(inspect.signature(AbstractSecurityHandler.get_fn).parameters) == [
        "self",
        "security_scheme",
        "required_scopes",
    ]


def test_security_asks_one_function_that_the_factory_makes_of_all_alternatives() -> None:
    source = inspect.getsource(SecurityOperation._get_verification_fn)  # noqa: SLF001 - what it is about
    assert "return self.security_handler_factory.verify_security(auth_funcs)" in source
    assert SecurityHandlerFactory({"bearer": object}).security_handlers["bearer"] is object
    assert "self.security" in inspect.getsource(SecurityOperation.__call__)


def test_security_knows_every_operation_that_is_served() -> None:
    parts = build_bakery().middleware_stack or ()
    guarded, served = (
        next(part for part in parts if isinstance(part, kind)).apis[""][0].operations.keys()
        for kind in (SecurityMiddleware, Endpoints)
    )
    assert guarded == served


def test_security_makes_a_request_without_a_body() -> None:
    assert "ConnexionRequest(scope)" in inspect.getsource(SecurityOperation.__call__)
