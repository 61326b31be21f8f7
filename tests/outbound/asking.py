"""Short ways to use a client, and to inspect its process."""

from __future__ import annotations

import asyncio
import os
import resource
import socket
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from monitoring.outbound.client import HttpClient
from monitoring.outbound.dialer import open_dialer
from monitoring.outbound.exchanges import Exchange, OutboundRequest
from monitoring.outbound.failures import FailureCode
from monitoring.outbound.stopwatch import Timings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

TIMEOUT_SECONDS = 10
NOTHING = Timings()


class Everything:
    """Reads bodies to their end."""

    def begin(self, _: int, __: object) -> bool:
        return True

    def read(self, _: bytes) -> bool:
        return True


@asynccontextmanager
async def open_http_client(**given: Any) -> AsyncIterator[HttpClient]:
    """Open a client with a dialer of its own."""
    async with open_dialer(**given) as dialer:
        yield HttpClient(dialer)


async def ask(client: HttpClient, url: str, **given: Any) -> Exchange:
    """Send a GET, unless something else is given. Read the whole body, unless `reads_body` is false."""
    reader = Everything() if given.pop("reads_body", True) else None
    defaults = {"method": "GET", "timeout_seconds": TIMEOUT_SECONDS}
    return await client.send(OutboundRequest(url=url, **{**defaults, **given}), reader)


def code_of(exchange: Exchange) -> FailureCode:
    """Return a failure's code, once it is sure that nothing else is told and that its sentence is short."""
    assert exchange.failure
    assert exchange.status_code is None
    assert exchange.body == b""
    assert 0 < len(exchange.failure.message) <= 200
    assert not exchange.failure.message.endswith(".")
    return exchange.failure.code


def is_blocked(exchange: Exchange) -> bool:
    """Say whether an exchange was refused for its address, with nothing to learn from."""
    if exchange.failure is None or code_of(exchange) != FailureCode.BLOCKED_ADDRESS:
        return False
    assert exchange.failure.message == "The address is not one that may be reached from here"
    assert exchange.timings == NOTHING
    assert exchange.tls_expires_at is None
    return True


def open_sockets() -> set[str]:
    """Name the sockets of clients in this process: those that lead to 127.0.0.2, or no longer anywhere.

    Those of the servers here, and of a service that another thread runs on 127.0.0.1, are not among them.
    """
    return {name for link in Path("/proc/self/fd").iterdir() if (name := _name_of_socket(link))}


@contextmanager
def no_descriptor_left() -> Iterator[None]:
    """Leave this process nothing to open a socket or file with."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    highest = max(int(link.name) for link in Path("/proc/self/fd").iterdir())
    with ExitStack() as taken:
        resource.setrlimit(resource.RLIMIT_NOFILE, (highest + 1, limits[1]))
        taken.callback(resource.setrlimit, resource.RLIMIT_NOFILE, limits)
        with suppress(OSError):
            while True:
                taken.enter_context(socket.socket())
        yield


async def until(condition: Callable[[], bool]) -> None:
    """Let the loop run until a condition holds."""
    async with asyncio.timeout(TIMEOUT_SECONDS):
        while not condition():  # noqa: ASYNC110 - nothing announces what is waited for
            await asyncio.sleep(0)


def _name_of_socket(link: Path) -> str | None:
    with suppress(OSError):  # closed since it was listed
        name = str(link.readlink())
        if name.startswith("socket:"):
            with socket.socket(fileno=os.dup(int(link.name))) as opened:
                return name if _is_of_a_client(opened) else None
    return None


def _is_of_a_client(opened: socket.socket) -> bool:
    if opened.family == socket.AF_UNIX or opened.getsockname()[0] == "127.0.0.2":
        return False
    with suppress(OSError):  # nobody is at the other end, or no longer
        return bool(opened.getpeername()[0] != "127.0.0.1")
    return True
