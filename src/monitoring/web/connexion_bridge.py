"""The only file that imports Connexion, which loads the document, routes, secures and builds the stack.

Stock Connexion validates too slowly and answers some hostile requests with 500 (decision 1), so we replace
its innermost part and refine what is around it. That takes names and habits of Connexion 3.3 that it does not
document, which tests/web/test_connexion_assumptions.py checks one by one:

- `ConnexionMiddleware._build_middleware_stack` returns the outermost part and the list of all. `app` is that
  part, and `middleware_stack` says whether it was built. `__call__` puts itself into the scope as `app`.
  Arguments for `add_api` that Connexion does not know are passed on to every part, the innermost first.
- `LifespanMiddleware` serves the lifespan, and passes on the rest.
- `RoutedMiddleware`, `RoutedAPI`: for each operation of the document, `make_operation` returns what serves
  it. A part finds its operations under `apis[""]`, by the name that the resolver gave them, and passes on
  requests that were routed to none.
- `RoutingMiddleware`: its router mounts one router of Starlette's, whose routes wrap objects with an
  `operation_id`.
- `SecurityOperation`: `verification_fn` is what `verify_security` of its factory makes of a function for each
  alternative of the operation.
- `API`, `apis`, `options`: what `add_api` keeps of a document for `_build_middleware_stack`. A
  `Specification` validates by `_validate_spec` what it is made of.
- Security handlers are made without arguments and asked for a function by `get_fn`. The factory keeps them
  as `security_handlers`.
"""

import re
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Any

from connexion.middleware import main as connexion_main
from connexion.middleware.abstract import RoutedAPI, RoutedMiddleware
from connexion.middleware.lifespan import LifespanMiddleware
from connexion.middleware.routing import RoutingMiddleware
from connexion.middleware.security import SecurityAPI, SecurityMiddleware, SecurityOperation
from connexion.operations.abstract import AbstractOperation
from connexion.resolver import Resolver
from connexion.security import AbstractSecurityHandler, SecurityHandlerFactory
from connexion.spec import OpenAPISpecification
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from monitoring.contract.document import Node
from monitoring.web.security import SecurityHandler, header_of

Layer = Callable[[ASGIApp], ASGIApp]
Lifespan = Callable[[Any], AbstractAsyncContextManager[Any]]
JudgePath = Callable[[bytes], None]
MakeEndpoint = Callable[[str, Callable[..., Any]], ASGIApp]
_OPERATION_ID = "operation_id"  # where in `scope["state"]` it is
_PERCENT = ord("%")  # looked up as bytes, it would take ten times as long

_Route = tuple[str, ASGIApp]  # an operation's id, and what serves it


class ConnexionApp(connexion_main.ConnexionMiddleware):
    """An ASGI application that Connexion builds from a valid document. Raises ResolverError."""

    def __init__(  # noqa: PLR0913 - all that Connexion is told
        self,
        root: Node,
        *,
        layers: Sequence[Layer],
        lifespan: Lifespan,
        locate_handler: Callable[[str], str],
        judge_encoded_path: JudgePath,
        security_handlers: Mapping[str, type[SecurityHandler]],
        make_endpoint: MakeEndpoint,
        otherwise: ASGIApp,
    ) -> None:
        """Put `layers`, the outermost first, around routing, security and the endpoints.

        An operation with the id `i` is served by `make_endpoint(i, f)`, where `f` is the function that
        `locate_handler(i)` names in full; requests that reach no operation are served by `otherwise`.
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
            resolver=_HandlerResolver(locate_handler),
            security_map={kind: partial(_SchemeHandler, made) for kind, made in security_handlers.items()},
        )
        # The paths of the document are whole: what its servers say is the reader's business.
        specification = _ValidatedSpecification(root)
        options = vars(self.options) | {"make_endpoint": make_endpoint}
        self.apis.append(connexion_main.API(specification, base_path="", **options))
        # Built now: a document that cannot be served stops the start, not the first request.
        self.app, self.middleware_stack = self._build_middleware_stack()
        _, self.serve_http, *_ = self.middleware_stack

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve requests and the lifespan."""
        scope["app"] = self
        part = self.serve_http if scope["type"] == "http" else self.app
        await part(scope, receive, send)


def operation_id_of(scope: Scope) -> str:
    """Return the document's id of the operation that a request was routed to; empty if it reached none."""
    operation_id: str = scope["state"].get(_OPERATION_ID, "")
    return operation_id


def _id_in(full_name: str) -> str:
    return full_name.rpartition(".")[2]


class _ValidatedSpecification(OpenAPISpecification):
    """A document that the tests validate, because it would take a tenth of every start."""

    def __init__(self, root: Node) -> None:
        super().__init__(dict(root))  # type: ignore[no-untyped-call]

    @classmethod
    def _validate_spec(cls, spec: Node) -> None:
        pass


class _HandlerResolver(Resolver):
    def __init__(self, locate_handler: Callable[[str], str]) -> None:
        super().__init__()
        self._locate_handler = locate_handler

    def resolve_operation_id(self, operation: AbstractOperation) -> str:
        """Return the function's full name, which Connexion from then on calls the operation's id."""
        return self._locate_handler(operation.operation_id)


class StrictRouting(RoutingMiddleware):
    """Routes each path in one spelling only: nothing is redirected, and the encoded path is judged first.

    Path parameters reach validation as text. An operation is found by a look-up, with what serves it behind
    its security; only a request for none of them goes through Starlette's routers, which know whether another
    method would be allowed.
    """

    def __init__(self, app: ASGIApp, *, judge_encoded_path: JudgePath) -> None:
        super().__init__(app)
        self._judge_encoded_path = judge_encoded_path
        self.router.redirect_slashes = False
        self._literal: dict[tuple[str, str], _Route] = {}
        self._templated: defaultdict[str, list[tuple[re.Pattern[str], _Route]]] = defaultdict(list)

    def add_api(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - Connexion's own
        """Register the operations."""
        super().add_api(*args, **kwargs)
        for mount in self.router.routes:
            router = vars(mount)["app"]
            router.redirect_slashes = False
            for route in router.routes:
                self._index(route)

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:  # type: ignore[override]
        """Judge an encoded path, then route."""
        if _PERCENT in scope["raw_path"]:
            self._judge_encoded_path(scope["raw_path"])
        route = self._literal.get((scope["method"], scope["path"])) or self._find_templated(scope)
        if route is None:
            return super().__call__(scope, receive, send)
        scope["state"][_OPERATION_ID], serve = route
        return serve(scope, receive, send)

    def _index(self, route: Route) -> None:
        full_name = vars(route.app)["operation_id"]
        found = _id_in(full_name), _what_serves(full_name, self.app)
        for method in route.methods or ():
            if route.param_convertors:
                self._templated[method].append((route.path_regex, found))
            else:
                self._literal[method, route.path] = found

    def _find_templated(self, scope: Scope) -> _Route | None:
        """Return the route of an operation, and leave its path parameters in the scope."""
        for pattern, route in self._templated.get(scope["method"], ()):
            if found := pattern.match(scope["path"]):
                scope["path_params"] = found.groupdict()
                return route
        return None


def _what_serves(full_name: str, part: Any) -> ASGIApp:  # noqa: ANN401 - a RoutedMiddleware of any kind
    (api,) = part.apis[""]
    served: ASGIApp = api.operations[full_name]
    return served


class _GuardedOperation(SecurityOperation):
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a caller whom security lets in. Connexion's own request would cost more to make."""
        await self.verification_fn(Request(scope, receive))
        await self.next_app(scope, receive, send)


class _GuardedAPI(SecurityAPI):
    def make_operation(self, operation: Any) -> Any:  # noqa: ANN401 - an endpoint, guarded or not
        """Guard an endpoint as its operation's `security` says."""
        endpoint = _what_serves(operation.operation_id, self.next_app)
        if not operation.security:
            return endpoint
        factory = _OneJudge(self.security_handler_factory.security_handlers)
        return _GuardedOperation.from_operation(
            operation, next_app=endpoint, security_handler_factory=factory
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
