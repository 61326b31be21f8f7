"""The web server of a process: uvicorn, which listens and stops as the commands want it to."""

from __future__ import annotations

import asyncio
import logging
import math
import socket
from contextlib import contextmanager
from typing import TYPE_CHECKING

import uvicorn

from monitoring.cli.commands import fail
from monitoring.cli.loading import loading

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from monitoring.cli.stopping import Stop
    from monitoring.settings import Settings


def configure_server(settings: Settings) -> uvicorn.Config:
    """Make the application, and say how uvicorn serves it."""
    with loading():  # so much that commands that serve nothing do without
        from monitoring.app import MonitoringApp  # noqa: PLC0415
        from monitoring.contract.server import protocol_for  # noqa: PLC0415

    app = MonitoringApp(settings)
    return uvicorn.Config(
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
        timeout_graceful_shutdown=math.ceil(settings.shutdown_timeout_seconds),
    )


class WebServer(uvicorn.Server):
    """Says when it accepts requests, and ends when its `Stop` is set."""

    def __init__(self, config: uvicorn.Config, stop: Stop, announce: Callable[[], None]) -> None:
        super().__init__(config)
        self._stop = stop
        self._announce = announce

    async def serve_until_stopped(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve on these sockets, or on the address of the settings."""
        try:
            await self.serve(sockets)
        except asyncio.CancelledError:
            logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # of what was cut off on purpose
            raise

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen, and say so."""
        await super().startup(sockets)
        if self.started:
            self._announce()

    async def on_tick(self, counter: int) -> bool:
        """Say whether it is time to end."""
        return await super().on_tick(counter) or self._stop.is_set()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave them alone: `Stop` listens."""
        yield


@contextmanager
def listening(settings: Settings) -> Iterator[socket.socket]:
    """Open the socket that children share: what arrives while one is replaced waits for the others."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        listener = socket.create_server((settings.host, settings.port), family=family, backlog=2048)
    except OSError as error:
        fail(f"Cannot listen on {settings.host}, port {settings.port}: {error.strerror}")
    with listener:
        yield listener


def base_url_of(listener: socket.socket) -> str:
    """Write the address, with the port the kernel chose if it was asked for one."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
