"""`monitoring exam`: a server that simulates the service's failures, to test systems that use the service."""

from __future__ import annotations

import asyncio
import secrets
import socket
import time
from contextlib import suppress
from typing import Annotated
from uuid import uuid4

import typer
import uvicorn
from pydantic import SecretStr
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from monitoring.articles.publisher_exam import LESSONS, RETRY_AFTER_SECONDS, Lesson, PublisherExam
from monitoring.articles.publishers import read_submissions
from monitoring.articles.publishing_words import is_test_submission
from monitoring.articles.representations import represent_ignored
from monitoring.auth.publishers import is_any_secret
from monitoring.cli.listening import base_url_of, listen
from monitoring.contract.bodies import RequestBody
from monitoring.contract.catalogue import Catalogue
from monitoring.contract.document import published_document
from monitoring.contract.problems import Problem
from monitoring.contract.validation import Validation
from monitoring.web.bodies import receive_beginning

# How long the exam leaves a request without a response, unless the sender closes the connection earlier.
LONGEST_SILENCE_SECONDS = 120.0

LOOK_AGAIN_SECONDS = 0.1

# The default of the service's MAX_BODY_BYTES.
MAX_BODY_BYTES = 1_048_576

UNAVAILABLE = Problem("service_unavailable", headers={"Retry-After": str(RETRY_AFTER_SECONDS)})
REFUSED = Problem("invalid_field", field="article.title", problem="is refused by this exam")

app = typer.Typer(no_args_is_help=True, help=__doc__)


@app.callback()
def _exam() -> None:
    """Do nothing before a command."""


@app.command()
def publisher(
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port; 0 takes a free one.")] = 0,
    patience_seconds: Annotated[
        float, typer.Option("--patience", min=1, help="Seconds within which your system retries.")
    ] = 60.0,
) -> None:
    """Test a publisher with four articles, which get a 503, no response, a 202 and a 400.

    Configure the webhook of your staging system with the URL and the secret that are printed, and publish
    four new articles. The exam ends by itself or with Ctrl-C. Its status is 0 if the publisher handled every
    response correctly, and otherwise 1.
    """
    exam, secret = PublisherExam(patience_seconds), secrets.token_urlsafe(24)
    with listen(host, port) as listener:
        typer.echo(f"Webhook URL      {base_url_of(listener)}/api/webhooks/publisher")
        typer.echo(f"X-Webhook-Secret {secret}")
        typer.echo(f"Publish {len(LESSONS)} new articles.")
        with suppress(KeyboardInterrupt):  # Ctrl-C ends only the exam, and the report follows
            asyncio.run(_serve(exam, secret, listener))
    findings = list(exam.judge())
    for finding in findings:
        typer.echo(f"{'right' if finding.is_right else 'WRONG'}  {finding.lesson}: {finding.sentence}")
    raise typer.Exit(0 if all(finding.is_right for finding in findings) else 1)


async def _serve(exam: PublisherExam, secret: str, listener: socket.socket) -> None:
    """Serve the exam's webhook until the exam is over."""
    webhook = _Webhook(exam, secret)
    routes = [Route("/api/webhooks/publisher", webhook.receive, methods=["POST"])]
    config = uvicorn.Config(Starlette(routes=routes), log_level="warning", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    serving = asyncio.ensure_future(server.serve(sockets=[listener]))
    while not (exam.is_over(time.monotonic()) or serving.done()):  # noqa: ASYNC110 - posts make no event
        await asyncio.sleep(LOOK_AGAIN_SECONDS)
    server.should_exit = True
    await serving


class _Webhook:
    """The operation `deliver_article`, with the service's validation. The exam chooses each response."""

    def __init__(self, exam: PublisherExam, secret: str) -> None:
        document = published_document()
        self._exam = exam
        self._secret = SecretStr(secret)
        self._catalogue = Catalogue(document)
        self._body = RequestBody(document.operations["deliver_article"], document, Validation(document))

    async def receive(self, request: Request) -> Response:
        """Respond to a request. If the service would refuse the request, return the service's error.

        A refused request does not count in the exam.
        """
        if not is_any_secret(request.headers.get("x-webhook-secret", ""), [self._secret]):
            return self._refuse(Problem("webhook_secret_invalid"))
        try:
            payload = self._body.read(await _receive_body(request), request.headers.raw)
            submissions = read_submissions(payload, request.headers.get("x-wp-webhook-name"))
            if any(map(is_test_submission, submissions)):
                return _show("a test", JSONResponse(represent_ignored(), 202))
            lesson, trial = self._exam.receive(submissions, time.monotonic())
        except Problem as problem:
            return self._refuse(problem)
        try:
            return await self._answer(lesson, request)
        finally:
            if trial:
                trial.answered_at = time.monotonic()

    async def _answer(self, lesson: Lesson, request: Request) -> Response:
        match lesson:
            case Lesson.SILENT:
                return await _keep_silent(request)
            case Lesson.UNAVAILABLE:
                return self._refuse(UNAVAILABLE)
            case Lesson.REFUSED:
                return self._refuse(REFUSED)
            case Lesson.ACCEPTED:
                accepted = {"article_id": str(uuid4()), "status": "accepted", "locales": []}
                return _show("an article", JSONResponse(accepted, 202))

    def _refuse(self, problem: Problem) -> Response:
        error = self._catalogue.respond(problem.name, problem.headers, problem.values)
        return _show(str(error.body["error"]), JSONResponse(error.body, error.status, dict(error.headers)))


async def _receive_body(request: Request) -> bytes:
    body = await receive_beginning(request.receive, MAX_BODY_BYTES)
    if body.is_cut:
        raise Problem("body_too_large")
    return body.encoded


async def _keep_silent(request: Request) -> Response:
    """Wait until the publisher closes the connection. After LONGEST_SILENCE_SECONDS, respond with 504."""
    typer.echo("      no answer", err=True)
    with suppress(TimeoutError):
        async with asyncio.timeout(LONGEST_SILENCE_SECONDS):
            while not await request.is_disconnected():  # noqa: ASYNC110 - Starlette has no event for it
                await asyncio.sleep(LOOK_AGAIN_SECONDS)
    return Response(status_code=504)


def _show(what: str, response: Response) -> Response:
    """Print a response's status and description on the terminal, and return the response."""
    typer.echo(f"  {response.status_code} {what}", err=True)
    return response
