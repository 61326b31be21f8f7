"""The stack, outside in: the lifespan, the witness of all answers, and so on to the endpoints."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import Any

from connexion.middleware.lifespan import LifespanMiddleware
from connexion.middleware.main import ConnexionMiddleware

from monitoring.contract.catalogue import Catalogue
from monitoring.contract.cut_off import CutOff
from monitoring.contract.document import Document, DocumentError
from monitoring.contract.endpoint import Endpoints
from monitoring.contract.middleware import AnswerHeaders, BodyLimit
from monitoring.contract.problems import ProblemAnswers, ProblemReplies
from monitoring.contract.replies import Reply
from monitoring.contract.routing import RoomResolver, StrictRouting
from monitoring.contract.security import Security, SecurityHandler
from monitoring.contract.witness import Witness

Lifespan = Callable[[Any], AbstractAsyncContextManager[Any]]
Readiness = Callable[[], Awaitable[Reply]]


@asynccontextmanager
async def no_lifespan(_app: object) -> AsyncIterator[None]:
    """Open nothing."""
    yield


async def always_ready() -> Reply:
    """Answer readiness where nothing can be missing."""
    return Reply({"status": "ready"})


class ContractApp(ConnexionMiddleware):
    """The ASGI application, and what requests find under `request.app`."""

    def __init__(
        self,
        document: Document,
        catalogue: Catalogue,
        readiness: Readiness,
        **options: Any,  # noqa: ANN401 - Connexion's own
    ) -> None:
        super().__init__(Endpoints(), **options)
        self.document = document
        self.catalogue = catalogue
        self.readiness = readiness

    def build(self) -> None:
        """Build the stack now: a document that cannot be served stops the start, not the first request."""
        self.app, self.middleware_stack = self._build_middleware_stack()


def build_contract_app(  # noqa: PLR0913 - this is where all parts meet
    document: Document,
    *,
    security_map: Mapping[str, type[SecurityHandler]],
    max_body_bytes: int,
    handlers_package: str = "monitoring",
    lifespan: Lifespan = no_lifespan,
    problem_names: Mapping[type[Exception], str] | None = None,
    readiness: Readiness = always_ready,
) -> ContractApp:
    """Build the application a document describes. Raises DocumentError or ResolverError.

    `security_map` gives a handler for each kind of scheme (`bearer`, `apiKey`). `problem_names` says
    which error of the document answers an exception that is no Problem.
    """
    _demand_handlers(document, security_map)
    catalogue = Catalogue(document)
    replies = ProblemReplies(document, catalogue, problem_names or {})
    app = ContractApp(
        document,
        catalogue,
        readiness,
        middlewares=[
            LifespanMiddleware,  # outermost: the others serve HTTP only
            Witness,
            AnswerHeaders,
            partial(ProblemAnswers, replies=replies),
            CutOff,
            partial(BodyLimit, max_body_bytes=max_body_bytes),
            StrictRouting,
            Security,
        ],
        lifespan=lifespan,
        resolver=RoomResolver(document, handlers_package),
        security_map=dict(security_map),
    )
    # The paths of the document are whole: what its servers say is the reader's business.
    app.add_api(dict(document.root), base_path="", document=document)
    app.build()
    return app


def _demand_handlers(document: Document, security_map: Mapping[str, type[SecurityHandler]]) -> None:
    """Demand one for every scheme: Connexion would use one of its own, or refuse everybody."""
    for name, scheme in document.root["components"].get("securitySchemes", {}).items():
        kind = scheme["scheme"] if scheme["type"] == "http" else scheme["type"]
        if kind not in security_map:
            raise DocumentError(f"security scheme {name} has no handler")
