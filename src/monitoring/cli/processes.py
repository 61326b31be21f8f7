"""`monitoring dev`, `serve`, `worker`, `checker` and `migrate`: the processes of the service.

The parent of several processes does none of their work, so the modules for that work are imported inside
functions.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
from collections.abc import Callable
from contextlib import ExitStack
from multiprocessing.connection import Connection
from tempfile import gettempdir
from typing import TYPE_CHECKING, Annotated

import typer

from monitoring.cli.failing import fail
from monitoring.cli.listening import base_url_of, listen_for_children
from monitoring.cli.loading import loading
from monitoring.cli.metrics_port import serve_metrics, share_metrics
from monitoring.contract.document import published_document
from monitoring.logs import configure_logging
from monitoring.settings import CheckerSettings, MigrationSettings, Settings, WorkerSettings, read_settings
from monitoring.tracing import demand_packages

if TYPE_CHECKING:
    from monitoring.cli.supervising import Supervisor

# Modules that are loaded before children are forked, so that the children share their memory.
PRELOADED = "monitoring.cli.preloaded"
MARKDOWN = "monitoring.articles.translation.markdown_source"
SENDING = "monitoring.outbound.client"

log = logging.getLogger(__name__)

app = typer.Typer()


@app.command()
def dev() -> None:
    """Start the whole service in one process. The first start creates a demo team, a key and secrets."""
    with loading():
        from monitoring.cli import demo  # noqa: PLC0415
        from monitoring.cli.commands import run_command  # noqa: PLC0415
        from monitoring.cli.encryption_keys import encrypt_stored_credentials  # noqa: PLC0415
        from monitoring.cli.migrating import migrate_now  # noqa: PLC0415
        from monitoring.cli.serving import serve_alone  # noqa: PLC0415

    demo.prepare_environment()
    settings = read_settings()
    configure_logging(settings)
    demo.warn_of_exposure(settings)
    migrate_now(settings)
    run_command(encrypt_stored_credentials())  # earlier releases stored credentials as plain text
    given = run_command(demo.ensure_demo(settings))
    _end_as_told(
        serve_alone(
            settings, announce=lambda base_url: typer.echo(demo.write_guide(settings, base_url, given))
        )
    )


@app.command()
def serve(
    workers: Annotated[
        int,
        typer.Option(
            min=1, help="The number of processes that share the port. More than one requires REDIS_URL."
        ),
    ] = 1,
) -> None:
    """Serve the API. Without REDIS_URL, also do the work of `worker` and `checker`. Run `migrate` first."""
    settings = read_settings()
    configure_logging(settings)
    if workers > 1 and settings.redis_url is None:
        fail(
            "REDIS_URL is not set. Without it, one process serves requests and runs the tasks: leave "
            "--workers at 1"
        )
    if workers == 1:
        with loading():
            published_document()  # first, because the modules then reuse the memory that parsing YAML frees
            from monitoring.cli.serving import demand_working_backends, serve_alone  # noqa: PLC0415

        demand_working_backends(settings)
        _end_as_told(serve_alone(settings, _log_listening))
        return
    from monitoring.cli.supervising import Supervisor  # noqa: PLC0415 - a single process makes no others

    with listen_for_children(settings) as listener:
        supervisor = Supervisor(
            _serve_as_child,
            [(listener,)] * workers,
            name="api",
            finishing_seconds=settings.drain_seconds + settings.shutdown_timeout_seconds,
            preload=[PRELOADED, "monitoring.cli.preloaded_for_serving"],
        )
        _supervise(
            settings,
            supervisor,
            _demand_working_backends_of_api,
            lambda: _log_listening(base_url_of(listener)),
            listener.close,
        )
    _end_as_told(supervisor.signal_number)


@app.command()
def worker(
    processes: Annotated[int, typer.Option(min=1, help="The number of processes that run tasks.")] = 1,
    threads: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=256,
            help="The articles that each process translates concurrently. By default, WORKER_THREADS.",
        ),
    ] = None,
) -> None:
    """Run background tasks from Redis, until SIGTERM or Ctrl-C."""
    settings = read_settings(WorkerSettings)
    configure_logging(settings)
    if settings.redis_url is None:
        fail("REDIS_URL is not set: without it `monitoring serve` runs the tasks itself")
    threads = threads or settings.worker_threads
    if processes == 1:
        with loading():
            from monitoring.cli.working import demand_what_tasks_need, work  # noqa: PLC0415

        demand_what_tasks_need(settings)
        with serve_metrics(settings):
            work(settings, threads)
        return
    from monitoring.cli.supervising import Supervisor  # noqa: PLC0415 - a single process makes no others

    supervisor = Supervisor(
        _work_as_child,
        [(threads,)] * processes,
        name="worker",
        finishing_seconds=settings.shutdown_timeout_seconds,
        preload=[PRELOADED, "monitoring.cli.working", MARKDOWN, SENDING],
    )
    _supervise(settings, supervisor, _demand_what_tasks_need)


@app.command()
def checker(
    processes: Annotated[
        int, typer.Option(min=1, help="The number of processes that check monitors. Use one per core.")
    ] = 1,
) -> None:
    """Check monitors, until SIGTERM or Ctrl-C. Any number of checkers can share the work."""
    settings = read_settings(CheckerSettings)
    configure_logging(settings)
    if settings.checks_at_once == 0:
        fail("CHECKS_AT_ONCE is 0, so no monitor would be checked")
    if settings.redis_url is None:
        fail("REDIS_URL is not set: without it `monitoring serve` makes the checks itself")
    if not settings.reference_urls:
        log.warning(
            "REFERENCE_URLS is not set: this machine notices that it is offline only if it checks at least "
            "five domains"
        )
    if processes == 1:
        with loading():
            from monitoring.cli.checking import check  # noqa: PLC0415
            from monitoring.cli.migrating import demand_migrated_database  # noqa: PLC0415

        demand_migrated_database(settings)
        with serve_metrics(settings):
            check(settings)
        return
    from monitoring.cli.supervising import Supervisor  # noqa: PLC0415 - a single process makes no others

    supervisor = Supervisor(
        _check_as_child,
        [()] * processes,
        name="checker",
        finishing_seconds=settings.shutdown_timeout_seconds,
        preload=[PRELOADED, "monitoring.cli.checking"],
    )
    _supervise(settings, supervisor, _demand_migrated_database)


@app.command()
def migrate() -> None:
    """Migrate the database to the newest schema. Safe at every start, and in several processes at once."""
    from monitoring.cli.migrating import migrate_now  # noqa: PLC0415

    typer.echo(migrate_now(read_settings(MigrationSettings)))


def _serve_as_child(lifeline: Connection, listener: socket.socket) -> None:
    from monitoring.cli.serving import serve_with_others  # noqa: PLC0415

    settings = read_settings()
    configure_logging(settings)
    serve_with_others(settings, lifeline, listener)


def _work_as_child(lifeline: Connection, threads: int) -> None:
    from monitoring.cli.working import work  # noqa: PLC0415

    settings = read_settings(WorkerSettings)
    configure_logging(settings)
    work(settings, threads, lifeline)


def _check_as_child(lifeline: Connection) -> None:
    from monitoring.cli.checking import check  # noqa: PLC0415

    settings = read_settings(CheckerSettings)
    configure_logging(settings)
    check(settings, lifeline)


def _demand_working_backends_of_api() -> None:
    from monitoring.cli.serving import demand_working_backends  # noqa: PLC0415

    settings = read_settings()
    configure_logging(settings)
    demand_working_backends(settings)


def _demand_what_tasks_need() -> None:
    from monitoring.cli.working import demand_what_tasks_need  # noqa: PLC0415

    settings = read_settings(WorkerSettings)
    configure_logging(settings)
    demand_what_tasks_need(settings)


def _demand_migrated_database() -> None:
    from monitoring.cli.migrating import demand_migrated_database  # noqa: PLC0415

    settings = read_settings(CheckerSettings)
    configure_logging(settings)
    demand_migrated_database(settings)


def _supervise(
    settings: Settings,
    supervisor: Supervisor,
    demand: Callable[[], None],
    on_ready: Callable[[], None] = lambda: None,
    on_stop: Callable[[], None] = lambda: None,
) -> None:
    """Run children until they are stopped.

    If a child cannot start, it prints the reason, and this process exits with the child's status.
    """
    demand_packages(settings)  # here, because a child would report the error with a traceback
    with share_metrics(settings, supervisor.process_ids) as metrics, ExitStack() as stack:
        try:
            stack.enter_context(supervisor.forking())
        except OSError as error:
            fail(f"No socket can be created in the folder for temporary files, {gettempdir()}: {error}")
        asyncio.run(supervisor.run(on_ready, on_stop, metrics.forget_process, demand))
    if supervisor.status:
        raise typer.Exit(supervisor.status)


def _end_as_told(signal_number: int | None) -> None:
    """End this process with the signal that stopped the server, as shells and supervisors expect."""
    if signal_number == signal.SIGINT:
        raise typer.Exit(128 + signal_number)
    if signal_number:
        signal.signal(signal_number, signal.SIG_DFL)
        signal.raise_signal(signal_number)


def _log_listening(base_url: str) -> None:
    log.info("Listening on %s", base_url)
