"""Opens the sockets that processes listen on."""

from __future__ import annotations

import socket

from monitoring.cli.failing import fail
from monitoring.cli.open_files import affordable_backlog
from monitoring.settings import Settings


def listen(host: str, port: int, *, settable: str = "--host or --port") -> socket.socket:
    """Open a listening socket. If the address is not available, end the command with an error message.

    `settable` is the part of the message that names the options for choosing another address.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=affordable_backlog())
    except OSError as error:
        reason = str(error.strerror).partition(" (while")[0]  # without the address that Python appends
        fail(f"Cannot listen on {host}, port {port}: {reason}. Choose another with {settable}")


def listen_for_children(settings: Settings) -> socket.socket:
    """Open the listening socket that child processes share, so that no connection waits for a dead child."""
    return listen(settings.host, settings.port, settable="HOST= or PORT=")


def base_url_of(listener: socket.socket) -> str:
    """Return the URL of a listening socket, with the actual port if the kernel chose the port."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
