"""Builds the ASGI application from its layers. Lifespan is the outermost, and endpoints the innermost."""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from starlette.types import Receive, Scope, Send

from monitoring.contract.catalogue import Catalogue
from monitoring.contract.document import Document, DocumentError
from monitoring.contract.problems import Problem
from monitoring.contract.validation import rules_of
from monitoring.web.connexion_bridge import ConnexionApp, Lifespan
from monitoring.web.endpoint import Endpoint, Handler, Idempotency
from monitoring.web.errors import ProblemMiddleware
from monitoring.web.preflights import Preflights
from monitoring.web.replies import Reply
from monitoring.web.routing import judge_encoded_path
from monitoring.web.security import SecurityHandler
from monitoring.web.telemetry import RequestTelemetry

Readiness = Callable[[], Awaitable[Reply]]

log = logging.getLogger(__name__)


@asynccontextmanager
async def no_lifespan(_app: object) -> AsyncIterator[None]:
    """Provide a lifespan that does nothing."""
    yield


def log_refusal(error: Exception) -> None:
    """Log why a request is refused."""
    log.warning("A request is refused: %s", error)


async def always_ready() -> Reply:
    """Return the readiness reply of applications without backends, which are always ready."""
    return Reply({"status": "ready"})


class ContractApp(ConnexionApp):
    """The ASGI application, which handlers access as `request.app`."""

    def __init__(
        self,
        document: Document,
        catalogue: Catalogue,
        readiness: Readiness,
        max_body_bytes: int,
        **stack: Any,  # noqa: ANN401 - what ConnexionApp takes
    ) -> None:
        super().__init__(document, **stack)
        self.document = document
        self.catalogue = catalogue
        self.readiness = readiness
        self.max_body_bytes = max_body_bytes


def build_contract_app(  # noqa: PLR0913 - this is where all parts meet
    document: Document,
    *,
    security_map: Mapping[str, type[SecurityHandler]],
    max_body_bytes: int,
    idempotency: Idempotency | None = None,
    handlers_package: str = "monitoring",
    lifespan: Lifespan = no_lifespan,
    problem_names: Mapping[type[Exception], str] | None = None,
    note_refusal: Callable[[Exception], None] = log_refusal,
    readiness: Readiness = always_ready,
) -> ContractApp:
    """Build the application that a document describes. Raises DocumentError or ResolverError.

    An operation's handler is the function
    `<handlers_package>.<x-room of the tag>.handlers.<operationId>`.

    `security_map` has a handler for each kind of scheme (`bearer`, `apiKey`). For operations that declare an
    `Idempotency-Key` header, `idempotency` executes the request for a given key only once. `problem_names`
    maps exceptions other than Problem to documented errors, and `note_refusal` is called with such
    exceptions.
    """
    _demand_handlers(document, security_map)
    catalogue = Catalogue(document)
    validation = rules_of(document)

    def make_endpoint(operation_id: str, handler: Handler) -> Endpoint:
        return Endpoint(document.operations[operation_id], handler, document, validation, idempotency)

    return ContractApp(
        document,
        catalogue,
        readiness,
        max_body_bytes,
        layers=[
            RequestTelemetry,
            partial(Preflights, document=document),
            partial(
                ProblemMiddleware,
                document=document,
                catalogue=catalogue,
                problem_names=problem_names or {},
                note_refusal=note_refusal,
            ),
        ],
        lifespan=lifespan,
        handlers_package=handlers_package,
        judge_encoded_path=judge_encoded_path,
        security_handlers=security_map,
        make_endpoint=make_endpoint,
        otherwise=_not_found,
    )


def _demand_handlers(document: Document, security_map: Mapping[str, type[SecurityHandler]]) -> None:
    """Raise DocumentError if a security scheme lacks a handler.

    Connexion would otherwise use its own handler, or refuse all requests.
    """
    for name, scheme in document.root["components"].get("securitySchemes", {}).items():
        kind = scheme["scheme"] if scheme["type"] == "http" else scheme["type"]
        if kind not in security_map:
            raise DocumentError(f"security scheme {name} has no handler")


async def _not_found(_scope: Scope, _receive: Receive, _send: Send) -> None:
    raise Problem("not_found")
