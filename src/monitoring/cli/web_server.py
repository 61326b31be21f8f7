"""The web server of a process: how it is configured."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from monitoring.cli.loading import loading
from monitoring.cli.open_files import ADDRESS_PART, affordable_backlog, affordable_clients
from monitoring.contract.document import published_document
from monitoring.settings import Settings
from monitoring.tracing import is_tracing
from monitoring.web import uvicorn_bridge
from monitoring.web.connection_limits import ConnectionLimits
from monitoring.web.uvicorn_bridge import ServerConfig

if TYPE_CHECKING:
    from monitoring.asgi import MonitoringService


def configure_server(settings: Settings) -> tuple[MonitoringService, ServerConfig]:
    """Make the application, and say how it is served."""
    with loading():  # so many modules that commands which serve nothing do without them
        # First: if YAML is parsed, the modules fill the memory that this frees.
        document = published_document()
        from monitoring.asgi import MonitoringService  # noqa: PLC0415
        from monitoring.web.traced_requests import TracedRequests  # noqa: PLC0415

        clients = affordable_clients()
        limits = ConnectionLimits(
            at_once=clients,
            per_network=min(settings.connections_per_address, clients // ADDRESS_PART),
            timeout_seconds=settings.client_timeout_seconds,
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
