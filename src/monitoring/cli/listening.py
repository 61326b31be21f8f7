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
    with open_listener(settings.host, settings.port, "HOST= or PORT=", affordable_backlog()) as listener:
        yield listener


def open_listener(
    host: str, port: int, choices: str = "--host or --port", backlog: int | None = None
) -> socket.socket:
    """Open a listening socket. Ends the command if that is impossible, and names what chooses another."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=backlog)
    except OSError as error:
        fail(f"Cannot listen on {host}, port {port}: {error.strerror}. Choose another with {choices}")


def base_url_of(listener: socket.socket) -> str:
    """Return the URL, with the actual port if the kernel chose it."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
