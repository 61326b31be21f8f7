"""The web application: the API and the app, backends, and in the embedded mode worker and checker too."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from monitoring.auth.security import SECURITY_HANDLERS
from monitoring.backends.assembly import Backends, open_backends
from monitoring.backends.current import current_backends
from monitoring.backends.database import find_pending_migrations
from monitoring.backends.errors import BackendUnavailable, DatabaseUnavailable
from monitoring.checks.checker import run_checker
from monitoring.console.application import Console, is_page
from monitoring.contract.application import build_contract_app
from monitoring.contract.cut_off import ServerStopped
from monitoring.contract.document import published_document
from monitoring.contract.replies import Reply
from monitoring.worker import run_worker

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.types import Receive, Scope, Send

    from monitoring.backends.objects import BlogStorage
    from monitoring.backends.queue import TaskQueue
    from monitoring.settings import Settings


# A probe is answered within some seconds, whatever hangs.
PATIENCE_SECONDS = 1.0


class MonitoringApp:
    """A service as ASGI application. `backends` are open from the server's start to its end."""

    backends: Backends

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._is_schema_newest = False
        self.contract = build_contract_app(
            published_document(),
            security_map=SECURITY_HANDLERS,
            max_body_bytes=settings.max_body_bytes,
            lifespan=self._open,
            problem_names=dict.fromkeys((BackendUnavailable, ServerStopped), "service_unavailable"),
            readiness=self._judge_readiness,
        )
        self.console = Console(settings, self.contract.catalogue)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve with the backends active."""
        if scope["type"] == "lifespan":
            await self.contract(scope, receive, send)
            return
        with self.backends.activate():
            await (self.console if is_page(scope) else self.contract)(scope, receive, send)

    @asynccontextmanager
    async def _open(self, _: object) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            self.backends = await stack.enter_async_context(open_backends(self._settings))
            if self._settings.redis_url is None:  # embedded: the queue is here, its worker, and the checker
                is_alone = not self._settings.is_on_postgresql
                await stack.enter_async_context(run_worker(self.backends, is_alone=is_alone))
                await stack.enter_async_context(run_checker(self.backends))
            yield

    async def _judge_readiness(self) -> Reply:
        """Ready is who reaches the database at its newest schema. Of other backends it tells the state."""
        await self._demand_newest_schema()
        backends = current_backends()
        _, blog_storage, queue = await asyncio.gather(
            backends.database.check(), _judge(backends.blog_storage), _judge(backends.queue)
        )
        return Reply({"status": "ready", "database": "ok", "blog_storage": blog_storage, "queue": queue})

    async def _demand_newest_schema(self) -> None:
        """Ask until it is: the database may have been away at the start, where this is asked first."""
        if not self._is_schema_newest:
            if pending := await find_pending_migrations(self._settings):
                raise DatabaseUnavailable(f"not migrated yet: {', '.join(pending)}")
            self._is_schema_newest = True


async def _judge(backend: BlogStorage | TaskQueue | None) -> str:
    if backend is None:
        return "not_configured"
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            await backend.check()
    except (BackendUnavailable, TimeoutError):
        return "away"
    return "ok"
