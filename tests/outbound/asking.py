"""Short ways to ask a client, and to look at its process."""

from __future__ import annotations

import asyncio
import resource
import socket
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from monitoring.outbound.exchanges import Exchange, FailureCode, OutboundRequest, Timings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from monitoring.outbound.client import HttpClient

TIMEOUT_SECONDS = 10
NOTHING = Timings()


async def ask(client: HttpClient, url: str, **given: Any) -> Exchange:
    """Send a GET, unless something else is given."""
    defaults = {"method": "GET", "timeout_seconds": TIMEOUT_SECONDS, "keep_body": True}
    return await client.send(OutboundRequest(url=url, **{**defaults, **given}))


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


def count_sockets() -> int:
    """Count the sockets of this process."""
    return sum(_leads_to_a_socket(link) for link in Path("/proc/self/fd").iterdir())


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


def _leads_to_a_socket(link: Path) -> bool:
    try:
        return str(link.readlink()).startswith("socket:")
    except FileNotFoundError:  # that of the listing itself
        return False
