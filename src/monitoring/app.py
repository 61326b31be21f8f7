"""The web application: document, security, backends, and in the embedded mode the worker too."""

from __future__ import annotations

from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from monitoring.auth.security import SECURITY_HANDLERS
from monitoring.backends.assembly import Backends, open_backends
from monitoring.backends.current import current_backends
from monitoring.backends.errors import BackendUnavailable
from monitoring.contract.application import build_contract_app
from monitoring.contract.cut_off import ServerStopped
from monitoring.contract.document import load_document
from monitoring.contract.replies import Reply
from monitoring.worker import run_worker

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.types import Receive, Scope, Send

    from monitoring.backends.objects import BlogStorage
    from monitoring.backends.queue import TaskQueue
    from monitoring.settings import Settings


class MonitoringApp:
    """A service as ASGI application. `backends` are open from the server's start to its end."""

    backends: Backends

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.contract = build_contract_app(
            load_document(),
            security_map=SECURITY_HANDLERS,
            max_body_bytes=settings.max_body_bytes,
            lifespan=self._open,
            problem_names=dict.fromkeys((BackendUnavailable, ServerStopped), "service_unavailable"),
            readiness=judge_readiness,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve with the backends active."""
        if scope["type"] == "lifespan":
            await self.contract(scope, receive, send)
            return
        with self.backends.activate():
            await self.contract(scope, receive, send)

    @asynccontextmanager
    async def _open(self, _: object) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            self.backends = await stack.enter_async_context(open_backends(self._settings))
            if self._settings.redis_url is None:  # embedded: the queue is here, and so is its worker
                await stack.enter_async_context(run_worker(self.backends, is_alone=True))
            yield


async def judge_readiness() -> Reply:
    """Ready is who can reach the database; the state of the other engines is told beside it."""
    backends = current_backends()
    await backends.database.check()
    return Reply(
        {
            "status": "ready",
            "database": "ok",
            "blog_storage": await _judge(backends.blog_storage),
            "queue": await _judge(backends.queue),
        }
    )


async def _judge(engine: BlogStorage | TaskQueue | None) -> str:
    if engine is None:
        return "not_configured"
    try:
        await engine.check()
    except BackendUnavailable:
        return "away"
    return "ok"
