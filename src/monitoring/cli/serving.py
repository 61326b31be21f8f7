"""`monitoring dev`, `serve`, `worker`, `checker` and `migrate`: the processes of the service."""

from __future__ import annotations

import asyncio
import logging
import signal
from contextlib import ExitStack, asynccontextmanager, suppress
from tempfile import gettempdir
from typing import TYPE_CHECKING, Annotated

import typer
import uvloop

from monitoring.articles.chosen_engine import make_engine
from monitoring.backends.assembly import open_backends
from monitoring.backends.database import find_pending_migrations
from monitoring.backends.database import migrate as migrate_database
from monitoring.backends.errors import DatabaseUnavailable
from monitoring.backends.objects import open_blog_storage
from monitoring.backends.readiness import open_signs_of_life
from monitoring.checks.checker import run_checker
from monitoring.cli import demo
from monitoring.cli.commands import fail, run_command
from monitoring.cli.metrics_port import serve_metrics, share_metrics
from monitoring.cli.stopping import Stop, run_until_stopped
from monitoring.cli.stored_credentials import encrypt_stored_credentials
from monitoring.cli.supervising import Supervisor, say_ready
from monitoring.cli.web_server import base_url_of, configure_server, listening
from monitoring.contract.shared_listener import Share, SharedListener
from monitoring.contract.uvicorn_bridge import WebServer
from monitoring.logs import configure_logging
from monitoring.settings import CheckerSettings, MigrationSettings, Settings, WorkerSettings, read_settings
from monitoring.tracing import demand_packages, sending_traces
from monitoring.worker import run_worker

if TYPE_CHECKING:
    import socket
    from collections.abc import AsyncIterator, Callable
    from multiprocessing.connection import Connection

    from monitoring.backends.assembly import Backends

# Modules that children share the memory of.
PRELOADED = "monitoring.cli.preloaded"
PRELOADED_FOR_SERVING = "monitoring.cli.preloaded_for_serving"

log = logging.getLogger(__name__)


def dev() -> None:
    """Start everything in one process. The first start makes a demo team, a key and secrets."""
    demo.prepare_environment()
    settings = read_settings()
    configure_logging(settings)
    demo.warn_of_strangers(settings)
    _migrate(settings)
    run_command(encrypt_stored_credentials())  # those of an earlier release
    given = run_command(demo.ensure_demo(settings))
    _serve_alone(settings, announce=lambda base_url: typer.echo(demo.write_guide(settings, base_url, given)))


def serve(
    workers: Annotated[
        int, typer.Option(min=1, help="Processes that share the port; several need REDIS_URL.")
    ] = 1,
) -> None:
    """Serve the API; without REDIS_URL the worker runs in this process too. Migrate first."""
    settings = read_settings()
    configure_logging(settings)
    if workers > 1 and settings.redis_url is None:
        fail("REDIS_URL is not set: without it one process serves and runs the tasks; leave --workers at 1")
    _demand_migrated_database(settings)
    open_blog_storage(settings.blog_storage_url)  # a wrong URL is reported here, once
    if workers == 1:
        _serve_alone(settings, _log_listening)
        return
    with listening(settings) as listener:
        supervisor = Supervisor(
            _serve_as_child,
            [(listener, share) for share in Share.for_each_of(workers)],
            name="api",
            finishing_seconds=settings.drain_seconds + settings.shutdown_timeout_seconds,
            preload=[PRELOADED, PRELOADED_FOR_SERVING],
        )
        _supervise(settings, supervisor, lambda: _log_listening(base_url_of(listener)), listener.close)
    _end_as_told(supervisor.signal_number)


def worker(
    processes: Annotated[int, typer.Option(min=1, help="Processes that run tasks.")] = 1,
    threads: Annotated[
        int | None,
        typer.Option(min=1, max=256, help="Articles each has at once; WORKER_THREADS if left out."),
    ] = None,
) -> None:
    """Run background tasks from Redis, until SIGTERM or Ctrl-C."""
    settings = read_settings(WorkerSettings)
    configure_logging(settings)
    if settings.redis_url is None:
        fail("REDIS_URL is not set: without it `monitoring serve` runs the tasks itself")
    _demand_migrated_database(settings)
    _demand_working_engine(settings)
    if settings.translator == "none":
        log.warning("TRANSLATOR is none: articles wait untranslated")
    threads = threads or settings.worker_threads
    if processes == 1:
        with serve_metrics(settings):
            _work(settings, threads)
        return
    supervisor = Supervisor(
        _work_as_child,
        [(threads,)] * processes,
        name="worker",
        finishing_seconds=settings.shutdown_timeout_seconds,
        preload=[PRELOADED],
    )
    _supervise(settings, supervisor)


def checker(
    processes: Annotated[int, typer.Option(min=1, help="Processes that check; one a core.")] = 1,
) -> None:
    """Check monitors, until SIGTERM or Ctrl-C. Any number of these share the work."""
    settings = read_settings(CheckerSettings)
    configure_logging(settings)
    if settings.checks_at_once == 0:
        fail("CHECKS_AT_ONCE is 0: nothing would be checked")
    if settings.redis_url is None:
        fail("REDIS_URL is not set: without it `monitoring serve` makes the checks itself")
    if not settings.reference_urls:
        log.warning("REFERENCE_URLS is not set: if this machine is offline, every monitor looks down")
    _demand_migrated_database(settings)
    if processes == 1:
        with serve_metrics(settings):
            _check(settings)
        return
    supervisor = Supervisor(
        _check_as_child,
        [()] * processes,
        name="checker",
        finishing_seconds=settings.shutdown_timeout_seconds,
        preload=[PRELOADED],
    )
    _supervise(settings, supervisor)


def migrate() -> None:
    """Bring the database to the newest schema. Safe at every start, and in several processes at once."""
    _migrate(read_settings(MigrationSettings))


def _migrate(settings: Settings) -> None:
    try:
        asyncio.run(migrate_database(settings))
    except DatabaseUnavailable as error:
        fail(f"The database is away: {error}")


def _serve_alone(settings: Settings, announce: Callable[[str], None]) -> None:
    finishing_seconds = settings.shutdown_timeout_seconds
    if settings.redis_url is None:
        _demand_working_engine(settings)
        finishing_seconds *= 3  # first the requests, then the checks, then the tasks

    async def work(stop: Stop) -> None:
        service.is_stopping = stop.is_requested
        server = WebServer(config, stop.is_set, lambda listener: announce(base_url_of(listener)))
        await server.serve_until_stopped()

    with sending_traces(settings), serve_metrics(settings):
        service, config = configure_server(settings)
        stopped_by = run_until_stopped(
            work,
            finishing_seconds,
            drain_seconds=settings.drain_seconds,
            loop_factory=config.get_loop_factory(),
        )
    _end_as_told(stopped_by)


def _serve_as_child(lifeline: Connection, listener: socket.socket, share: Share) -> None:
    settings = read_settings()
    configure_logging(settings)

    async def work(stop: Stop) -> None:
        service.is_stopping = stop.is_requested
        shared = SharedListener(listener, share)
        server = WebServer(config, stop.is_set, lambda _: say_ready(lifeline), shared)
        await server.serve_until_stopped()

    with sending_traces(settings):
        service, config = configure_server(settings)
        run_until_stopped(
            work,
            settings.shutdown_timeout_seconds,
            drain_seconds=settings.drain_seconds,
            lifeline=lifeline,
            loop_factory=config.get_loop_factory(),
        )


def _work_as_child(lifeline: Connection, threads: int) -> None:
    settings = read_settings(WorkerSettings)
    configure_logging(settings)
    _work(settings, threads, lifeline)


def _work(settings: Settings, threads: int, lifeline: Connection | None = None) -> None:
    settings = settings.model_copy(update={"worker_threads": threads})

    async def work(stop: Stop) -> None:
        async with _opened(settings) as backends, run_worker(backends):
            if lifeline:
                say_ready(lifeline)
            await stop.wait()

    with sending_traces(settings):
        run_until_stopped(work, settings.shutdown_timeout_seconds, lifeline=lifeline)


def _check_as_child(lifeline: Connection) -> None:
    settings = read_settings(CheckerSettings)
    configure_logging(settings)
    _check(settings, lifeline)


def _check(settings: Settings, lifeline: Connection | None = None) -> None:
    async def work(stop: Stop) -> None:
        async with _opened(settings) as backends, run_checker(backends):
            if lifeline:
                say_ready(lifeline)
            await stop.wait()

    with sending_traces(settings):
        run_until_stopped(
            work, settings.shutdown_timeout_seconds, lifeline=lifeline, loop_factory=uvloop.new_event_loop
        )


@asynccontextmanager
async def _opened(settings: Settings) -> AsyncIterator[Backends]:
    """Open the backends of a process that serves nobody, and let its metrics say whether they are there."""
    async with open_backends(settings) as backends, open_signs_of_life(backends):
        yield backends


def _supervise(
    settings: Settings,
    supervisor: Supervisor,
    on_ready: Callable[[], None] = lambda: None,
    on_stop: Callable[[], None] = lambda: None,
) -> None:
    """Run children until they are stopped. If one cannot start, it has said why, and its status is ours."""
    demand_packages(settings)  # here, once: a child could not say so in one sentence
    with share_metrics(settings, supervisor.process_ids) as metrics, ExitStack() as stack:
        try:
            stack.enter_context(supervisor.forking())
        except OSError as error:
            fail(f"There can be no socket in the folder for temporary files, {gettempdir()}: {error}")
        asyncio.run(supervisor.run(on_ready, on_stop, metrics.forget_process))
    if supervisor.status:
        raise typer.Exit(supervisor.status)


def _end_as_told(signal_number: int | None) -> None:
    """End by the same signal, as shells and supervisors expect of a server that a signal stopped."""
    if signal_number == signal.SIGINT:
        raise typer.Exit(128 + signal_number)
    if signal_number:
        signal.signal(signal_number, signal.SIG_DFL)
        signal.raise_signal(signal_number)


def _log_listening(base_url: str) -> None:
    log.info("Listening on %s", base_url)


def _demand_migrated_database(settings: Settings) -> None:
    """End the command if the schema is old. A database that is away may come back; readiness says so."""
    with suppress(DatabaseUnavailable):
        if asyncio.run(find_pending_migrations(settings)):
            fail("The database is not at the newest schema: run `monitoring migrate` first")


def _demand_working_engine(settings: Settings) -> None:
    """Raise `SettingsError` now for settings that would stop the worker with a traceback."""
    if engine := make_engine(settings):
        engine.close()
