"""`monitoring dev`, `serve`, `worker` and `migrate`: the processes of the service."""

from __future__ import annotations

import asyncio
import signal
from contextlib import suppress
from typing import TYPE_CHECKING

import typer
import uvicorn

from monitoring.app import MonitoringApp
from monitoring.articles.translators import build_translator
from monitoring.backends.assembly import open_backends
from monitoring.backends.database import find_pending_migrations
from monitoring.backends.database import migrate as migrate_database
from monitoring.backends.errors import DatabaseUnavailable
from monitoring.cli import demo
from monitoring.cli.commands import fail, run_command
from monitoring.contract.server import protocol_for
from monitoring.logs import configure_logging
from monitoring.settings import Settings, read_settings
from monitoring.worker import run_worker

if TYPE_CHECKING:
    from collections.abc import Callable
    from socket import socket

GRACEFUL_SHUTDOWN_SECONDS = 2


def dev() -> None:
    """Start everything in one process, with a demo team, a key and secrets made on the first start."""
    demo.prepare_environment()
    settings = read_settings()
    configure_logging(settings.log_level)
    _migrate(settings)
    client_id, client_secret = run_command(demo.ensure_demo_key(settings))
    _serve(
        settings,
        announce=lambda base_url: typer.echo(demo.write_guide(settings, base_url, client_id, client_secret)),
    )


def serve() -> None:
    """Serve the API; without REDIS_URL the worker lives in this process too. Migrate first."""
    settings = read_settings()
    configure_logging(settings.log_level)
    _demand_migrated_database(settings)
    _serve(settings, announce=lambda base_url: typer.echo(f"Listening on {base_url}", err=True))


def worker() -> None:
    """Run background tasks from Redis, until SIGTERM or Ctrl-C."""
    settings = read_settings()
    configure_logging(settings.log_level)
    if settings.redis_url is None:
        fail("REDIS_URL is not set: without it `monitoring serve` runs the tasks itself")
    _demand_migrated_database(settings)
    _demand_working_engine(settings)
    asyncio.run(_work_until_stopped(settings))


def migrate() -> None:
    """Bring the database to the newest schema. Safe at every start, and by several processes at once."""
    _migrate(read_settings())


def _migrate(settings: Settings) -> None:
    try:
        asyncio.run(migrate_database(settings))
    except DatabaseUnavailable as error:
        fail(f"The database is away: {error}")


def _serve(settings: Settings, announce: Callable[[str], None]) -> None:
    if settings.redis_url is None:
        _demand_working_engine(settings)
    app = MonitoringApp(settings)
    config = uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        http=protocol_for(app.contract.catalogue),
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=bool(settings.trusted_proxies),
        forwarded_allow_ips=list(settings.trusted_proxies),
        timeout_graceful_shutdown=GRACEFUL_SHUTDOWN_SECONDS,
    )
    _AnnouncingServer(config, announce).run()


class _AnnouncingServer(uvicorn.Server):
    """Says where it listens once it does, with the port the kernel chose if it was asked for one."""

    def __init__(self, config: uvicorn.Config, announce: Callable[[str], None]) -> None:
        super().__init__(config)
        self._announce = announce

    async def startup(self, sockets: list[socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            host, port = self.servers[0].sockets[0].getsockname()[:2]
            self._announce(f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}")


def _demand_migrated_database(settings: Settings) -> None:
    """End the command on an old schema. A database that is away may come later; readiness says so."""
    with suppress(DatabaseUnavailable):
        if asyncio.run(find_pending_migrations(settings)):
            fail("The database is not at the newest schema: run `monitoring migrate` first")


def _demand_working_engine(settings: Settings) -> None:
    """Raise `SettingsError` now, in a sentence, for what would stop the worker with a traceback."""
    if engine := build_translator(settings):
        engine.close()


async def _work_until_stopped(settings: Settings) -> None:
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    async with open_backends(settings) as backends, run_worker(backends):
        await stopped.wait()
