"""What a shortcut saves: code that does what a library does already, only for less CPU.

    .venv/bin/python benchmarks/shortcuts.py [--rounds 100] [answer] [pool] [tls]

Decision 29 says which stay. The code of those that went is kept here, so that they can be measured again.
Each is compared with the library's own way in one process, in rounds that take turns. Savings are printed
as a part of a whole operation, whose cost stands in docs/performance.md.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import time
from contextlib import asynccontextmanager, contextmanager
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any

import uvicorn
import uvloop
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from checks_speed import running_checked
from monitoring.backends.database import open_database
from monitoring.backends.database_clients import asyncpg
from monitoring.contract import uvicorn_bridge
from monitoring.contract.catalogue import Catalogue
from monitoring.contract.document import published_document
from monitoring.outbound import connections
from monitoring.outbound.certificates import read_chain
from monitoring.outbound.client import HttpClient
from monitoring.outbound.dialer import open_dialer
from monitoring.outbound.exchanges import OutboundRequest
from monitoring.outbound.tls_channel import TlsChannel
from monitoring.settings import Settings
from postgres_and_redis import running_backends
from servers import BUILD, ENCRYPTION_KEY, ROOT, SIGNING_KEY, WEBHOOK_SECRET

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence

    from starlette.types import Receive, Scope, Send

    Work = Callable[[], Awaitable[object]]

CALLERS = 8
OPERATIONS_A_ROUND = 200

HEADERS = [
    (b"content-type", b"application/json"),
    (b"content-length", b"512"),
    (b"x-request-id", b"0123456789abcdef0123456789abcdef"),
    (b"ratelimit", b'"api";r=599;t=60'),
    (b"ratelimit-policy", b'"api";q=600;w=60'),
]
REQUEST = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


# An answer: written at once and its headers judged by one look, or by uvicorn.


async def answer(_scope: Scope, _receive: Receive, send: Send) -> None:
    """Answer like most operations do."""
    await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
    await send({"type": "http.response.body", "body": b"x" * 512})


@asynccontextmanager
async def answering() -> AsyncIterator[tuple[Work, Mapping[str, Callable[[], None]]]]:
    """Ask a server in this process."""
    protocol = uvicorn_bridge.protocol_for(Catalogue(published_document()))
    config = uvicorn.Config(answer, port=0, http=protocol, lifespan="off", log_config=None, access_log=False)
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve())
    while not server.started:  # noqa: ASYNC110 - uvicorn has no event for it
        await asyncio.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    idle = [await asyncio.open_connection("127.0.0.1", port) for _ in range(CALLERS)]

    async def ask() -> None:
        reader, writer = idle.pop()
        writer.write(REQUEST)
        await reader.readuntil(b"\r\n\r\n")
        await reader.readexactly(512)
        idle.append((reader, writer))

    def use(cycle: type[RequestResponseCycle]) -> Callable[[], None]:
        return lambda: uvicorn_bridge._hand_over.__globals__.update(RequestResponseCycle=cycle)  # noqa: SLF001

    ways = {
        "written at once": use(uvicorn_bridge.WholeAnswers),
        "uvicorn": use(RequestResponseCycle),
    }
    yield ask, ways
    for _, writer in idle:
        writer.close()
    server.should_exit = True
    await serving


# A connection: given back to the pool in the task that borrowed it, or by asyncpg in another.


async def give_back(borrowed: Any, *_: object) -> None:
    """Do what `Pool.release` does, in this task."""
    connection = borrowed.connection
    connection._con._on_release()  # noqa: SLF001
    await connection._holder.release(connection._holder._timeout)  # noqa: SLF001


@asynccontextmanager
async def borrowing(database_url: str) -> AsyncIterator[tuple[Work, Mapping[str, Callable[[], None]]]]:
    """Run the smallest statement."""
    settings = Settings(
        database_url=f"{database_url}?sslmode=disable",  # type: ignore[arg-type]
        signing_keys=SIGNING_KEY,  # type: ignore[arg-type]
        encryption_keys=ENCRYPTION_KEY,  # type: ignore[arg-type]
        webhook_secrets=WEBHOOK_SECRET,  # type: ignore[arg-type]
    )
    pooled: Any = asyncpg._PooledConnection  # noqa: SLF001
    release = pooled.__aexit__
    async with open_database(settings) as database:
        client = database.context.db()
        ways = {
            "in the same task": lambda: setattr(pooled, "__aexit__", give_back),
            "asyncpg": lambda: setattr(pooled, "__aexit__", release),
        }
        yield lambda: client.execute_query_dict("SELECT 1 AS one", []), ways


# TLS: on the reader's own connection, or by the loop.


class LoopsTls(asyncio.Protocol):
    """Has the loop shake hands."""

    has_heard = False
    chain: Sequence[bytes] = ()
    _transport: Any

    def connection_made(self, transport: Any) -> None:
        """Take the connection."""
        self._transport = transport

    async def secure(self, reader: asyncio.Protocol, context: Any, tls_host: str) -> None:
        """Shake hands, and let `reader` read."""
        loop = asyncio.get_running_loop()
        self._transport = await loop.start_tls(self._transport, reader, context, server_hostname=tls_host)
        self.chain = read_chain(self._transport.get_extra_info("ssl_object"))

    def write(self, plain: bytes) -> None:
        """Send."""
        self._transport.write(plain)

    def abort(self) -> None:
        """Close the connection."""
        self._transport.abort()


@asynccontextmanager
async def checking(url: str, ca_file: str) -> AsyncIterator[tuple[Work, Mapping[str, Callable[[], None]]]]:
    """Send a request as checks do."""
    async with open_dialer(allowed_networks=("127.0.0.1/32",), ca_file=ca_file) as dialer:
        client = HttpClient(dialer)

        async def check() -> None:
            exchange = await client.send(OutboundRequest(method="GET", url=url, timeout_seconds=10))
            if exchange.failure:
                raise AssertionError(exchange.failure)

        def use(tls: type[asyncio.Protocol]) -> Callable[[], None]:
            return lambda: setattr(connections, "TlsChannel", tls)

        ways = {"our own": use(TlsChannel), "the loop": use(LoopsTls)}
        yield check, ways


# The measurement


async def measure(opened: Any, rounds: int, operation: str, whole_us: float) -> None:
    """Print what each way costs, and what it costs beside the first."""
    async with opened as (work, ways):
        figures: dict[str, list[float]] = {name: [] for name in ways}
        names = list(ways)
        for turn in range(-1, rounds):  # the first round warms up
            start = turn % len(names)
            for name in names[start:] + names[:start]:
                ways[name]()
                began_at = time.process_time()
                await asyncio.gather(*(_repeat(work) for _ in range(CALLERS)))
                spent_us = (time.process_time() - began_at) * 1e6 / OPERATIONS_A_ROUND
                if turn >= 0:
                    figures[name].append(spent_us)
    first, *others = names
    print(f"{first}: {median(figures[first]):.1f} us")
    for name in others:
        saved = [other - own for own, other in zip(figures[first], figures[name], strict=True)]
        low, _, high = quantiles(saved, n=4)
        part = f"{median(saved) / whole_us:.1%} of {whole_us:.0f} us ({operation})"
        print(f"  {name}: {median(saved):+.1f} us ({low:+.1f} to {high:+.1f}), {part}")


async def _repeat(work: Work) -> None:
    for _ in range(OPERATIONS_A_ROUND // CALLERS):
        await work()


def whole_cost_us(operation: str) -> float:
    """Read what the service, PostgreSQL and Redis spend on an operation."""
    page = (ROOT / "docs" / "performance.md").read_text()
    row = re.search(
        rf"^\| {operation} \| service \| ([\d,]+)[^|]*\|[^|]*\|([^|]*)\|([^|]*)\|", page, re.MULTILINE
    )
    assert row  # noqa: S101 - the page has it
    return sum(float(figure.replace(",", "")) for figure in row.groups() if figure.strip())


@contextmanager
def opened(shortcut: str) -> Iterator[tuple[Any, str]]:
    """Start what a shortcut is measured with; yields that, and the operation that it is a part of."""
    if shortcut == "answer":
        yield answering(), "Get one"
    elif shortcut == "pool":
        with running_backends() as backends:
            yield borrowing(backends.postgres.create("shortcuts")), "Get one"
    else:
        with running_checked() as checked:
            yield checking(checked.url("https"), str(checked.ca_file)), "One check, https"


def main() -> None:
    """Measure one after the other."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("shortcuts", nargs="*", default=["answer", "pool", "tls"])
    parser.add_argument("--rounds", type=int, default=100)
    options = parser.parse_args()
    BUILD.mkdir(parents=True, exist_ok=True)
    for shortcut in options.shortcuts:
        with opened(shortcut) as (what, operation):
            uvloop.run(measure(what, options.rounds, operation, whole_cost_us(operation)))


if __name__ == "__main__":
    main()
