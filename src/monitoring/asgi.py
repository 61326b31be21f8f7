"""The web application: the API, the app and their backends.

In embedded mode, that is without Redis, it also runs the worker and the checker.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

from starlette.types import Receive, Scope, Send

from monitoring.app.application import App
from monitoring.app.live.changes import LOOK_INTERVAL_SECONDS
from monitoring.app.rendering import ROOT
from monitoring.auth.security import SECURITY_HANDLERS
from monitoring.backends.assembly import Backends, open_backends
from monitoring.backends.errors import BackendUnavailable
from monitoring.backends.outage import note_refusal
from monitoring.backends.readiness import SignsOfLife, open_signs_of_life
from monitoring.backends.repeating import repeat
from monitoring.contract.document import published_document
from monitoring.contract.problems import Problem
from monitoring.idempotency.service import act_once_for_caller
from monitoring.monitors.heartbeats.reception import NOTE_INTERVAL_SECONDS, Receiver
from monitoring.settings import Settings
from monitoring.web.application import build_contract_app
from monitoring.web.errors import ServerStopped
from monitoring.web.replies import Reply, notes_of


class MonitoringService:
    """The ASGI application. `backends` are open while the server runs."""

    backends: Backends
    _signs_of_life: SignsOfLife

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.is_stopping: Callable[[], bool] = lambda: False  # replaced by the code that runs the process
        self.contract = build_contract_app(
            published_document(),
            security_map=SECURITY_HANDLERS,
            max_body_bytes=settings.max_body_bytes,
            idempotency=act_once_for_caller,
            lifespan=self._open,
            problem_names=dict.fromkeys((BackendUnavailable, ServerStopped), "service_unavailable"),
            note_refusal=partial(note_refusal, "request"),
            readiness=self._judge_readiness,
        )
        self.pages = App(settings, self.contract.catalogue, lambda: self.is_stopping())  # noqa: PLW0108 - it is set later

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request with the backends active. A stopping process closes connections after replies."""
        if scope["type"] == "lifespan":
            await self.contract(scope, receive, send)
            return
        if self.is_stopping():  # so that clients send the next request to another process
            notes_of(scope).headers["Connection"] = "close"
        with self.backends.activate():
            await (self.pages if _is_page(scope) else self.contract)(scope, receive, send)

    @asynccontextmanager
    async def _open(self, _: object) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            self.backends = await stack.enter_async_context(open_backends(self._settings))
            self._signs_of_life = await stack.enter_async_context(open_signs_of_life(self.backends))
            if self._settings.redis_url is None:  # embedded: the queue, its worker and the checker run here
                from monitoring.checks.checker import run_checker  # noqa: PLC0415 - not needed with Redis
                from monitoring.worker import run_worker  # noqa: PLC0415

                is_alone = not self._settings.is_on_postgresql
                await stack.enter_async_context(run_worker(self.backends, is_alone=is_alone))
                await stack.enter_async_context(run_checker(self.backends))
            await stack.enter_async_context(self._in_the_background())
            yield

    @asynccontextmanager
    async def _in_the_background(self) -> AsyncIterator[None]:
        repeated = (
            repeat(self.pages.site.changes.look, LOOK_INTERVAL_SECONDS, "Looking for changes"),
            repeat(Receiver().note, NOTE_INTERVAL_SECONDS, "Recording that pings can be received"),
        )
        with self.backends.activate():
            tasks = [asyncio.create_task(each) for each in repeated]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    async def _judge_readiness(self) -> Reply:
        """Return the readiness reply: ready while the database accepts writes and has the newest schema.

        The other backends are only reported. A stopping process is not ready, so that load balancers send it
        no more requests. This method raises Problem rather than BackendUnavailable, so that the 503 is not
        logged as a refused request. The outage has its own log line.
        """
        if self.is_stopping():
            raise Problem("service_unavailable")
        verdicts = await self._signs_of_life.judge()
        if verdicts["database"] == "away":
            raise Problem("service_unavailable")
        return Reply({"status": "ready", **verdicts})


def _is_page(scope: Scope) -> bool:
    path: str = scope["path"]
    return path == ROOT or path.startswith(f"{ROOT}/")
