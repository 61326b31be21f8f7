"""Runs the service on a real socket, with its own thread, database and folder. A process can run several."""

from __future__ import annotations

import asyncio
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import uvicorn

import chosen_backends
from monitoring.backends.assembly import open_backends
from monitoring.checks.checker import run_checker
from monitoring.cli.serving import configure_server
from monitoring.settings import Settings
from monitoring.worker import run_worker
from ready_tables import make_tables
from temporary_backends import ENCRYPTION_KEY, NO_CHECKS

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator
    from pathlib import Path

Result = TypeVar("Result")

SIGNING_KEY = "a-signing-key-of-the-tests-0123456789"
WEBHOOK_SECRET = "a-webhook-secret-of-the-tests"


class RunningService:
    """A service that serves `base_url` and translates. With `run`, tests can access its backends directly."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.app, config = configure_server(settings.model_copy(update={"port": 0}))
        self._server = uvicorn.Server(config)
        self._started = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    @property
    def port(self) -> int:
        return int(self._server.servers[0].sockets[0].getsockname()[1])

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Run a coroutine on the service's event loop, with its backends active."""

        async def run_with_backends() -> Result:
            with self.app.backends.activate():
                return await work

        return asyncio.run_coroutine_threadsafe(run_with_backends(), self._loop).result(timeout=60)

    def start(self) -> None:
        self._thread.start()
        if not self._started.wait(timeout=60) or not self._server.started:
            raise RuntimeError("the service did not start")

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(timeout=30)

    def _serve(self) -> None:
        async def serve() -> None:
            self._loop = asyncio.get_running_loop()
            working = asyncio.ensure_future(self._work())
            serving = asyncio.ensure_future(self._server.serve())
            while not (self._server.started or serving.done()):  # noqa: ASYNC110 - uvicorn has no event for it
                await asyncio.sleep(0.01)
            self._started.set()
            await serving
            working.cancel()
            await asyncio.wait([working])

        asyncio.run(serve())

    async def _work(self) -> None:
        """Run the worker and checker, which the service does not run itself if its queue is in Redis."""
        if self.settings.redis_url:
            async with open_backends(self.settings) as backends, run_worker(backends), run_checker(backends):
                await asyncio.Event().wait()


def make_settings(folder: Path, **changes: Any) -> Settings:
    """Return settings for a service with the backends of a folder, which are empty. None means: not set."""
    described = _describe(folder, **changes)
    chosen_backends.make_database(described.database_url.get_secret_value())
    return described


@contextmanager
def running_service(
    folder: Path, kind: type[RunningService] = RunningService, /, **changes: Any
) -> Iterator[RunningService]:
    """Start a service with the backends of a folder, and stop it."""
    settings = _describe(folder, **changes)
    make_tables(settings)
    service = kind(settings)
    service.start()
    try:
        yield service
    finally:
        service.stop()


def _describe(folder: Path, **changes: Any) -> Settings:
    settings: dict[str, Any] = {
        "data_dir": folder,
        **chosen_backends.settings_for(folder),
        "signing_keys": SIGNING_KEY,
        "encryption_keys": ENCRYPTION_KEY,
        "webhook_secrets": WEBHOOK_SECRET,
        "translator": "pseudo",
        "locales": "es,pt",
        "rate_limit_api": "100000/60",
        "rate_limit_pings": "100000/60",
        "rate_limit_token": "100000/60",
        "rate_limit_webhook_failures": "100000/60",
        "sweep_interval_seconds": 2,  # few tests wait for a sweep, and every service sweeps until it ends
        "rate_limit_check_now": "100000/60",
        "rate_limit_notifications": "100000/60",
        "rate_limit_sign_in": "100000/60",
        "rate_limit_sign_in_address": "100000/60",
        "rate_limit_sign_in_email": "1000000/60",
        "rate_limit_confirmations": "100000/60",
        "smtp_url": "smtp://127.0.0.1:1?tls=none",  # nothing listens there
        "email_from": "Monitoring <monitoring@example.com>",
        "session_cookie_secure": False,
        **NO_CHECKS,
    } | changes
    return Settings(**{name: value for name, value in settings.items() if value is not None})
