"""The work of a process of `monitoring serve`."""

from __future__ import annotations

import math
import socket
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING

from monitoring.backends.assembly import open_storage_of
from monitoring.cli.listening import base_url_of, listen_for_children
from monitoring.cli.loading import loading
from monitoring.cli.metrics_port import serve_metrics
from monitoring.cli.migrating import demand_migrated_database
from monitoring.cli.open_files import ADDRESS_PART, affordable_backlog, affordable_clients
from monitoring.cli.stopping import Stop, run_until_stopped, say_ready
from monitoring.contract.document import published_document
from monitoring.settings import Settings
from monitoring.tracing import is_tracing, sending_traces
from monitoring.web import uvicorn_bridge
from monitoring.web.connection_limits import ConnectionLimits
from monitoring.web.uvicorn_bridge import ServerConfig, WebServer


def demand_working_backends(settings: Settings) -> None:
    """End the command if the schema is too old or too new.

    Raises `SettingsError` if the blog storage's URL is invalid.
    """
    demand_migrated_database(settings)
    open_storage_of(settings)


def serve_alone(settings: Settings, announce: Callable[[str], None]) -> int | None:
    """Serve in this process until it is stopped. Returns the signal that stopped it, if there was one.

    Without Redis, the worker and the checker run here too. `announce` is called with the URL when the server
    accepts requests. If the address is not available, the command ends.
    """
    finishing_seconds = settings.shutdown_timeout_seconds
    if settings.redis_url is None:
        from monitoring.cli.working import demand_working_engine  # noqa: PLC0415 - with Redis, no tasks run here

        demand_working_engine(settings)
        finishing_seconds *= 3  # for the requests, then for the checks, then for the tasks

    async def work(stop: Stop) -> None:
        service.is_stopping = stop.is_requested
        server = WebServer(config, stop.is_set, lambda opened: announce(base_url_of(opened)))
        await server.serve_until_stopped(listener)

    with listen_for_children(settings) as listener, sending_traces(settings), serve_metrics(settings):
        service, config = configure_server(settings)
        return run_until_stopped(
            work,
            finishing_seconds,
            drain_seconds=settings.drain_seconds,
            loop_factory=config.get_loop_factory(),
        )


def serve_with_others(settings: Settings, lifeline: Connection, listener: socket.socket) -> None:
    """Serve as one of several processes that share a socket, until the parent stops this process.

    `lifeline` is the connection to the parent.
    """

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


if TYPE_CHECKING:
    from monitoring.asgi import MonitoringService


def configure_server(settings: Settings) -> tuple[MonitoringService, ServerConfig]:
    """Create the application and the server's configuration."""
    with loading():  # many modules, which other commands do not need
        # First, because the modules then reuse the memory that parsing YAML frees.
        document = published_document()
        from monitoring.asgi import MonitoringService  # noqa: PLC0415
        from monitoring.web.traced_requests import TracedRequests  # noqa: PLC0415

        clients = affordable_clients()
        limits = ConnectionLimits(
            at_once=clients,
            per_network=min(settings.connections_per_address, clients // ADDRESS_PART),
            timeout_seconds=settings.client_timeout_seconds,
            keep_alive_seconds=settings.keep_alive_seconds,
            trusted_proxies=settings.trusted_proxies,
        )
        app = MonitoringService(settings)
        config = uvicorn_bridge.configure_server(
            TracedRequests(app, document) if is_tracing() else app,
            app.contract.catalogue,
            host=settings.host,
            port=settings.port,
            limits=limits,
            backlog=affordable_backlog(),
            trusted_proxies=settings.trusted_proxies,
            finishing_seconds=math.ceil(settings.shutdown_timeout_seconds),
        )
    return app, config
