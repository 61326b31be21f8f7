"""What a process of `monitoring serve` does."""

from __future__ import annotations

import socket
from collections.abc import Callable
from multiprocessing.connection import Connection

from monitoring.backends.assembly import open_storage_of
from monitoring.cli.lifeline import say_ready
from monitoring.cli.listening import base_url_of, listening
from monitoring.cli.metrics_port import serve_metrics
from monitoring.cli.migrating import demand_migrated_database
from monitoring.cli.stopping import Stop, run_until_stopped
from monitoring.cli.web_server import configure_server
from monitoring.settings import Settings
from monitoring.tracing import sending_traces
from monitoring.web.uvicorn_bridge import WebServer


def demand_working_backends(settings: Settings) -> None:
    """End the command if the schema is old. Raise `SettingsError` for a storage that cannot be one."""
    demand_migrated_database(settings)
    open_storage_of(settings)


def serve_alone(settings: Settings, announce: Callable[[str], None]) -> int | None:
    """Serve in this process until it is stopped. Return the stopping signal, if there was one.

    Without Redis the worker and the checker run here too. `announce` is told the address, once it serves. If
    the address cannot be listened on, the command ends.
    """
    finishing_seconds = settings.shutdown_timeout_seconds
    if settings.redis_url is None:
        from monitoring.cli.working import demand_working_engine  # noqa: PLC0415 - or it runs no tasks

        demand_working_engine(settings)
        finishing_seconds *= 3  # first the requests, then the checks, then the tasks

    async def work(stop: Stop) -> None:
        service.is_stopping = stop.is_requested
        server = WebServer(config, stop.is_set, lambda opened: announce(base_url_of(opened)))
        await server.serve_until_stopped(listener)

    with listening(settings) as listener, sending_traces(settings), serve_metrics(settings):
        service, config = configure_server(settings)
        return run_until_stopped(
            work,
            finishing_seconds,
            drain_seconds=settings.drain_seconds,
            loop_factory=config.get_loop_factory(),
        )


def serve_with_others(settings: Settings, lifeline: Connection, listener: socket.socket) -> None:
    """Serve as one of several processes on a socket, until the parent stops it."""

    async def work(stop: Stop) -> None:
        service.is_stopping = stop.is_requested
        server = WebServer(config, stop.is_set, lambda _: say_ready(lifeline))
        await server.serve_until_stopped(listener)

    with sending_traces(settings):
        service, config = configure_server(settings)
        run_until_stopped(
            work,
            settings.shutdown_timeout_seconds,
            drain_seconds=settings.drain_seconds,
            lifeline=lifeline,
            loop_factory=config.get_loop_factory(),
        )
