"""The only file that imports Connexion, which loads the document, routes, secures and builds the stack.

Connexion's own validation answers some hostile requests with 500 (decision 1), so ours takes the place of
its innermost part. That takes names and habits of Connexion 3.3 that it does not document, which
tests/web/test_connexion_assumptions.py checks one by one:

- `ConnexionMiddleware._build_middleware_stack` returns the outermost part and the list of all. `app` is that
  part, and `middleware_stack` says whether it was built. `__call__` puts itself into the scope as `app`.
- `RoutedMiddleware`, `RoutedAPI`: for each operation of the document, `make_operation` returns what serves
  it. A part passes on requests that were routed to none.
- `RoutingMiddleware` has a `router` of Starlette's, which mounts one router for the document. It leaves what
  it found in `extensions` of the scope, under `ROUTING_CONTEXT`, and path parameters as Starlette does.
- `SecurityOperation`: `verification_fn` is what `verify_security` of its factory makes of a function for each
  alternative of the operation. Its own request has no body, which Ghost's signature is about.
- The factory keeps handlers as `security_handlers`, makes them without arguments, and asks for `get_fn`.
"""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Any

from connexion.middleware.abstract import ROUTING_CONTEXT, RoutedAPI, RoutedMiddleware
from connexion.middleware.lifespan import LifespanMiddleware
from connexion.middleware.main import ConnexionMiddleware
from connexion.middleware.routing import RoutingMiddleware
from connexion.middleware.security import SecurityAPI, SecurityMiddleware, SecurityOperation
from connexion.operations.abstract import AbstractOperation
from connexion.security import AbstractSecurityHandler, SecurityHandlerFactory
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from monitoring.contract.document import Document, Node, Operation
from monitoring.web.security import SecurityHandler, header_of

Layer = Callable[[ASGIApp], ASGIApp]
Lifespan = Callable[[Any], AbstractAsyncContextManager[Any]]
JudgePath = Callable[[bytes], None]
MakeEndpoint = Callable[[str, Callable[..., Any]], ASGIApp]

_PATH_PARAMETER = re.compile(r"\{([^}]+)\}")


class ConnexionApp(ConnexionMiddleware):
    """An ASGI application that Connexion builds from a document. Raises ResolverError."""

    def __init__(  # noqa: PLR0913 - all that Connexion is told
        self,
        document: Document,
        *,
        layers: Sequence[Layer],
        lifespan: Lifespan,
        handlers_package: str,
        judge_encoded_path: JudgePath,
        security_handlers: Mapping[str, type[SecurityHandler]],
        make_endpoint: MakeEndpoint,
        otherwise: ASGIApp,
    ) -> None:
        """Put `layers`, the outermost first, around routing, security and the endpoints.

        An operation with the id `i` is served by `make_endpoint(i, f)`, where `f` is the function `i` in the
        module `handlers` of the operation's room; requests that reach no operation are served by `otherwise`.
        `security_handlers` has one for each kind of scheme.
        """
        stack: list[Any] = [  # which Connexion types as applications
            LifespanMiddleware,  # outermost: the others serve HTTP only
            *layers,
            partial(StrictRouting, judge_encoded_path=judge_encoded_path),
            Security,
        ]
        super().__init__(
            Endpoints(otherwise),
            middlewares=stack,
            lifespan=lifespan,
            security_map={kind: partial(_SchemeHandler, made) for kind, made in security_handlers.items()},
        )
        # The paths of the document are complete, so its servers do not matter here.
        self.add_api(make_skeleton(document, handlers_package), base_path="", make_endpoint=make_endpoint)
        # Built now: a document that cannot be served stops the start, not the first request.
        self.app, self.middleware_stack = self._build_middleware_stack()


def operation_id_of(scope: Scope) -> str:
    """Return the document's id of the operation that a request was routed to; empty if it reached none."""
    found = scope.get("extensions", {}).get(ROUTING_CONTEXT, {})
    return _id_in(found.get("operation_id") or "")


def _id_in(full_name: str) -> str:
    return full_name.rpartition(".")[2]


def make_skeleton(document: Document, handlers_package: str) -> dict[str, Any]:
    """Derive an OpenAPI 3.0 document of paths, operationIds and security. Only Connexion sees it."""
    paths: dict[str, dict[str, Any]] = {}
    for operation in document.operations.values():
        room = f"{handlers_package}.{operation.room}.handlers"
        paths.setdefault(operation.path, {})[operation.method] = _bare_operation(operation, room)
    return {
        "openapi": "3.0.4",
        "info": {"title": "skeleton", "version": "0"},
        "security": document.root.get("security", []),
        "paths": paths,
        "components": {"securitySchemes": document.root["components"].get("securitySchemes", {})},
    }


def _bare_operation(operation: Operation, handlers: str) -> dict[str, Any]:
    bare = {
        "operationId": operation.operation_id,
        "x-openapi-router-controller": handlers,
        "responses": {"default": {"description": "as the document says"}},
        # Text: what a path parameter must be is validated with all the others.
        "parameters": [
            {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
            for name in _PATH_PARAMETER.findall(operation.path)
        ],
    }
    if "security" in operation.definition:  # left out, the document's own security holds
        bare["security"] = operation.definition["security"]
    return bare


class StrictRouting(RoutingMiddleware):
    """Routes each path in one spelling only: nothing is redirected, and the encoded path is judged first."""

    def __init__(self, app: ASGIApp, *, judge_encoded_path: JudgePath) -> None:
        super().__init__(app)
        self._judge_encoded_path = judge_encoded_path
        self.router.redirect_slashes = False

    def add_api(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - Connexion's own
        """Register the operations."""
        super().add_api(*args, **kwargs)
        for mount in self.router.routes:
            vars(mount)["app"].redirect_slashes = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Judge an encoded path, then route."""
        if b"%" in scope["raw_path"]:
            self._judge_encoded_path(scope["raw_path"])
        scope.setdefault("extensions", {})  # Connexion copies the scope: layers outside read the result here
        await super().__call__(scope, receive, send)


class _GuardedOperation(SecurityOperation):
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a caller whom security lets in."""
        if self.security:
            await self.verification_fn(Request(scope, receive))
        await self.next_app(scope, receive, send)


class _GuardedAPI(SecurityAPI):
    def make_operation(self, operation: Any) -> SecurityOperation:  # noqa: ANN401 - Connexion's own
        """Guard an operation as its `security` says."""
        return _GuardedOperation.from_operation(
            operation,
            next_app=self.next_app,
            security_handler_factory=_OneJudge(self.security_handler_factory.security_handlers),
        )


class Security(SecurityMiddleware):
    """Lets nobody reach an operation whom its security handlers refuse."""

    api_cls = _GuardedAPI


class _Judge:
    """One alternative of an operation's security."""

    def __init__(self, handler: SecurityHandler, scheme: Node) -> None:
        self._handler = handler
        self._scheme = scheme
        self.header = header_of(scheme)

    async def __call__(self, request: Request) -> None:
        """Let the caller in, or raise Problem."""
        await self._handler.admit(request, self._scheme)


class _OneJudge(SecurityHandlerFactory):
    """Of alternatives, Connexion would try one after the other until one lets the caller in."""

    @classmethod
    def verify_security(cls, auth_funcs: Sequence[_Judge]) -> Callable[[Request], Awaitable[None]]:
        """Let the first alternative judge whose header was sent, or else the first of all."""

        async def verify(request: Request) -> None:
            sent = (judge for judge in auth_funcs if judge.header in request.headers)
            await next(sent, auth_funcs[0])(request)

        return verify


class _SchemeHandler(AbstractSecurityHandler):
    """Lets Connexion ask one of our handlers."""

    def __init__(self, handler: type[SecurityHandler]) -> None:
        self._handler = handler()

    def get_fn(
        self,
        security_scheme: Node,
        required_scopes: list[str],  # noqa: ARG002 - Connexion's interface
    ) -> _Judge:
        """Return what judges a request by this scheme."""
        return _Judge(self._handler, security_scheme)


class _EndpointAPI(RoutedAPI[ASGIApp]):
    def __init__(self, *args: Any, make_endpoint: MakeEndpoint, **kwargs: Any) -> None:  # noqa: ANN401 - as above
        super().__init__(*args, **kwargs)
        self._make_endpoint = make_endpoint
        self.add_paths()

    def make_operation(self, operation: AbstractOperation) -> ASGIApp:
        """Prepare an operation that Connexion has resolved."""
        return self._make_endpoint(_id_in(operation.operation_id), operation.function)


class Endpoints(RoutedMiddleware[_EndpointAPI]):
    """The innermost part, in place of Connexion's validation, context and decorators."""

    api_cls = _EndpointAPI
