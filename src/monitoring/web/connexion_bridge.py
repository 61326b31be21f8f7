"""The only file that imports Connexion, which loads the document, and handles routing and security.

Connexion's own validation responds to some malicious requests with 500 (decision 1), so our endpoints replace
its innermost layer. That relies on undocumented names and behaviour of Connexion 3.3, which
tests/web/test_connexion_assumptions.py checks one by one:

- `ConnexionMiddleware._build_middleware_stack` returns the outermost layer, and a list of all the layers.
  `app` is the outermost layer, and `middleware_stack` shows whether the layers were built. `__call__` puts
  the `ConnexionMiddleware` into the scope as `app`.
- `RoutedMiddleware`, `RoutedAPI`: for each of the document's operations, `make_operation` returns the app
  that serves it. A layer passes on requests that were routed to no operation.
- `RoutingMiddleware` has a Starlette `router`, which mounts one router for the document. It stores its result
  in the scope's `extensions` under `ROUTING_CONTEXT`, and path parameters as Starlette does.
- `SecurityOperation`: its factory's `verify_security` makes `verification_fn` from one function for each
  security alternative. `SecurityOperation` itself would pass that function a request without the body,
  whereas verifying Ghost's signature requires the body.
- The factory keeps handlers in `security_handlers`, creates them without arguments, and calls `get_fn`.
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

    def __init__(  # noqa: PLR0913 - all of Connexion's settings
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
        """Wrap `layers`, the outermost first, around routing, security and the endpoints.

        `make_endpoint(i, f)` creates the app for the operation with the id `i`, where `f` is the function
        with the name `i` in the `handlers` module of the operation's package. `otherwise` serves requests
        that reach no operation. `security_handlers` has a handler for each kind of scheme.
        """
        stack: list[Any] = [  # Any, because Connexion annotates layers as applications
            LifespanMiddleware,  # outermost, because the other layers serve only HTTP
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
        # The document's paths are complete, so the base paths of its servers do not matter here.
        self.add_api(make_skeleton(document, handlers_package), base_path="", make_endpoint=make_endpoint)
        # Built now, so that an invalid document fails at the start rather than at the first request.
        self.app, self.middleware_stack = self._build_middleware_stack()


def operation_id_of(scope: Scope) -> str:
    """Return the id of the operation that a request was routed to. Empty if it reached no operation."""
    found = scope.get("extensions", {}).get(ROUTING_CONTEXT, {})
    return _id_in(found.get("operation_id") or "")


def _id_in(full_name: str) -> str:
    return full_name.rpartition(".")[2]


def make_skeleton(document: Document, handlers_package: str) -> dict[str, Any]:
    """Return a minimal OpenAPI 3.0 document for Connexion: paths, operationIds and security."""
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
        # The type is string, because path parameters are validated later, together with all the other
        # parameters.
        "parameters": [
            {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
            for name in _PATH_PARAMETER.findall(operation.path)
        ],
    }
    if "security" in operation.definition:  # by default, the document's security applies
        bare["security"] = operation.definition["security"]
    return bare


class StrictRouting(RoutingMiddleware):
    """Routes each path only in its exact form. Checks encoded paths first, and never redirects."""

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
        """Check an encoded path, then route the request."""
        if b"%" in scope["raw_path"]:
            self._judge_encoded_path(scope["raw_path"])
        scope.setdefault("extensions", {})  # Connexion copies the scope, but outer layers read this one
        await super().__call__(scope, receive, send)


class _GuardedOperation(SecurityOperation):
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Verify the caller, then serve the request. Raises Problem."""
        if self.security:
            await self.verification_fn(Request(scope, receive))
        await self.next_app(scope, receive, send)


class _GuardedAPI(SecurityAPI):
    def make_operation(self, operation: Any) -> SecurityOperation:  # noqa: ANN401 - Connexion's own
        """Protect an operation according to its `security`."""
        return _GuardedOperation.from_operation(
            operation,
            next_app=self.next_app,
            security_handler_factory=_OneJudge(self.security_handler_factory.security_handlers),
        )


class Security(SecurityMiddleware):
    """Refuses requests that an operation's security handlers do not authorise."""

    api_cls = _GuardedAPI


class _Judge:
    """One alternative of an operation's security."""

    def __init__(self, handler: SecurityHandler, scheme: Node) -> None:
        self._handler = handler
        self._scheme = scheme
        self.header = header_of(scheme)

    async def __call__(self, request: Request) -> None:
        """Authenticate the caller, or raise Problem."""
        await self._handler.admit(request, self._scheme)


class _OneJudge(SecurityHandlerFactory):
    """Selects one security alternative by header, whereas Connexion would try all until one succeeds."""

    @classmethod
    def verify_security(cls, auth_funcs: Sequence[_Judge]) -> Callable[[Request], Awaitable[None]]:
        """Return a verifier that uses the first alternative whose header was sent.

        If no such header was sent, it uses the first alternative.
        """

        async def verify(request: Request) -> None:
            sent = (judge for judge in auth_funcs if judge.header in request.headers)
            await next(sent, auth_funcs[0])(request)

        return verify


class _SchemeHandler(AbstractSecurityHandler):
    """Adapts one of our security handlers to Connexion's interface."""

    def __init__(self, handler: type[SecurityHandler]) -> None:
        self._handler = handler()

    def get_fn(
        self,
        security_scheme: Node,
        required_scopes: list[str],  # noqa: ARG002 - Connexion's interface
    ) -> _Judge:
        """Return a verifier of requests for this scheme."""
        return _Judge(self._handler, security_scheme)


class _EndpointAPI(RoutedAPI[ASGIApp]):
    def __init__(self, *args: Any, make_endpoint: MakeEndpoint, **kwargs: Any) -> None:  # noqa: ANN401 - as above
        super().__init__(*args, **kwargs)
        self._make_endpoint = make_endpoint
        self.add_paths()

    def make_operation(self, operation: AbstractOperation) -> ASGIApp:
        """Create the endpoint of an operation that Connexion has resolved."""
        return self._make_endpoint(_id_in(operation.operation_id), operation.function)


class Endpoints(RoutedMiddleware[_EndpointAPI]):
    """The innermost layer, which replaces Connexion's validation, context and decorators."""

    api_cls = _EndpointAPI
