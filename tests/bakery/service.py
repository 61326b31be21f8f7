"""The bakery as an application."""

from pathlib import Path

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from monitoring.contract.document import Document, Node, load_document
from monitoring.contract.problems import Problem
from monitoring.web.application import (
    ContractApp,
    Readiness,
    always_ready,
    build_contract_app,
    log_refusal,
)
from monitoring.web.errors import ProblemMiddleware
from monitoring.web.security import SecurityHandler

MAX_BODY_BYTES = 200_000


class FlourShortageError(Exception):
    """A backend's exception, which the application knows only by its type."""


class Bearer(SecurityHandler):
    async def let_in(self, request: Request, scheme: Node) -> str:  # noqa: ARG002
        if request.headers.get("authorization") != "Bearer alice":
            raise Problem("stranger")
        return "alice"


class DeliverySecret(SecurityHandler):
    async def let_in(self, request: Request, scheme: Node) -> str:
        if request.headers.get(scheme["name"]) == "shortage":
            raise FlourShortageError
        if request.headers.get(scheme["name"]) != "flour":
            raise Problem("stranger")
        return "miller"


def bakery_document() -> Document:
    return load_document(Path(__file__).with_name("openapi.yaml"))


def build_bakery(document: Document | None = None, readiness: Readiness = always_ready) -> ContractApp:
    return build_contract_app(
        document or bakery_document(),
        security_map={"bearer": Bearer, "apiKey": DeliverySecret},
        max_body_bytes=MAX_BODY_BYTES,
        handlers_package="bakery",
        problem_names={FlourShortageError: "oven_cold"},
        readiness=readiness,
    )


class ClosedBakery:
    """A bakery that starts and stops like any other, and leaves its requests to somebody else."""

    def __init__(self, answer: ASGIApp) -> None:
        self._bakery = build_bakery()
        self.catalogue = self._bakery.catalogue
        self._closed = ProblemMiddleware(
            answer,
            document=self._bakery.document,
            catalogue=self.catalogue,
            problem_names={},
            note_refusal=log_refusal,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await (self._closed if scope["type"] == "http" else self._bakery)(scope, receive, send)
