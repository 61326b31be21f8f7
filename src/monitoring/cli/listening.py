"""The address that a process listens on."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager

from monitoring.cli.failing import fail
from monitoring.cli.open_files import affordable_backlog
from monitoring.settings import Settings


@contextmanager
def listening(settings: Settings) -> Iterator[socket.socket]:
    """Open the listening socket that child processes share, so that no connection waits for a dead child."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    address = (settings.host, settings.port)
    try:
        listener = socket.create_server(address, family=family, backlog=affordable_backlog())
    except OSError as error:
        place = f"{settings.host}, port {settings.port}"
        fail(f"Cannot listen on {place}: {error.strerror}. Choose another with HOST= or PORT=")
    with listener:
        yield listener


def base_url_of(listener: socket.socket) -> str:
    """Return the URL, with the actual port if the kernel chose it."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
