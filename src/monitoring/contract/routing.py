"""From the document to the code: paths to operations, operations to the functions that serve them."""

from collections import defaultdict
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any, TypeVar

from connexion.middleware.abstract import ROUTING_CONTEXT, RoutedAPI, RoutedMiddleware
from connexion.middleware.routing import RoutingMiddleware
from connexion.operations.abstract import AbstractOperation
from connexion.resolver import Resolver
from starlette.convertors import StringConvertor, register_url_convertor
from starlette.requests import HTTPConnection
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from monitoring.contract.document import Document, Node
from monitoring.contract.problems import Problem
from monitoring.contract.urlencoding import decode_percent

if TYPE_CHECKING:
    import re

API = TypeVar("API", bound=RoutedAPI[Any])


class RoomResolver(Resolver):
    """Tag and operationId name the function: `<package>.<x-room of the tag>.handlers.<operationId>`."""

    def __init__(self, document: Document, handlers_package: str) -> None:
        super().__init__()
        self._document = document
        self._package = handlers_package

    def resolve_operation_id(self, operation: AbstractOperation) -> str:
        """Return the function's full name, which Connexion from then on calls the operation's id."""
        room = self._document.operations[operation.operation_id].room
        return f"{self._package}.{room}.handlers.{operation.operation_id}"


class StrictRouting(RoutingMiddleware):
    """One path, one spelling: no redirect to the other slash form, no encoded slashes, no bad encoding.

    Path parameters reach validation as text. Operations are looked up; only what is none of them goes through
    Starlette's routers, which know whether another method would be one.
    """

    def __init__(self, app: ASGIApp) -> None:
        super().__init__(app)
        self.router.redirect_slashes = False
        self._literal: dict[tuple[str, str], str] = {}
        self._templated: defaultdict[str, list[tuple[re.Pattern[str], str]]] = defaultdict(list)
        for name in ("int", "float"):
            register_url_convertor(name, StringConvertor())

    def add_api(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - Connexion's own
        """Register the operations."""
        super().add_api(*args, **kwargs)
        for mount in self.router.routes:
            router = vars(mount)["app"]
            router.redirect_slashes = False
            for route in router.routes:
                self._index(route)

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:  # type: ignore[override]
        """Refuse what servers decode in different ways, then route."""
        if b"%" in scope["raw_path"]:
            _judge_encoded_path(scope["raw_path"])
        operation_id = self._find(scope)
        if operation_id is None:
            return super().__call__(scope, receive, send)
        scope["extensions"][ROUTING_CONTEXT] = {"api_base_path": "", "operation_id": operation_id}
        return self.app(scope, receive, send)

    def _index(self, route: Route) -> None:
        operation_id = vars(route.app)["operation_id"]
        for method in route.methods or ():
            if route.param_convertors:
                self._templated[method].append((route.path_regex, operation_id))
            else:
                self._literal[method, route.path] = operation_id

    def _find(self, scope: Scope) -> str | None:
        """Return the id of the operation, and leave its path parameters in the scope."""
        method, path = scope["method"], scope["path"]
        if operation_id := self._literal.get((method, path)):
            scope["path_params"] = {}
            return operation_id
        for pattern, operation_id in self._templated.get(method, ()):
            if found := pattern.match(path):
                scope["path_params"] = found.groupdict()
                return operation_id
        return None


class DirectlyRouted(RoutedMiddleware[API]):
    """What Connexion has for each operation; looked up here, without a coroutine of its own."""

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:  # type: ignore[override]
        """Serve by what is there for the operation, or go on where the request was routed to none."""
        (api,) = self.apis[""]
        resolved_id = _resolved_id_of(scope)
        routed: ASGIApp = api.operations[resolved_id] if resolved_id else self.app
        return routed(scope, receive, send)


def operation_id_of(scope: Scope) -> str:
    """Return the document's id of the operation that a request was routed to; empty if it reached none."""
    resolved_id = _resolved_id_of(scope)
    return resolved_id.rpartition(".")[2] if resolved_id else ""


def operation_of(request: HTTPConnection) -> Node:
    """Return the Operation Object of the document that a request was routed to, `x-` fields included.

    Raises KeyError for a request that reached no operation.
    """
    document: Document = request.scope["app"].document
    return document.operations[operation_id_of(request.scope)].definition


def _resolved_id_of(scope: Scope) -> str | None:
    resolved_id: str | None = scope["extensions"].get(ROUTING_CONTEXT, {}).get("operation_id")
    return resolved_id


def _judge_encoded_path(raw_path: bytes) -> None:
    try:
        path = decode_percent(raw_path)
    except ValueError:
        raise Problem("malformed_request") from None
    if not path.isprintable():
        raise Problem("malformed_request")
    # An encoded slash is part of a name, and no name of ours has one.
    if path.count("/") != raw_path.count(b"/"):
        raise Problem("not_found")
