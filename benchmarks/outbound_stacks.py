"""Measures the CPU cost of one check with each available HTTP stack, with a new connection for each check.

    python benchmarks/outbound_stacks.py [--rounds 9] [--checks 400]

The server is a separate process on loopback, which is not measured. The stacks take turns in every round, in
rotating order, so that noise affects all of them alike. No TLS session is resumed. Names are not resolved
here, because each stack connects to an IP address that was validated before, as `monitoring.outbound` does.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import multiprocessing
import socket
import ssl
import tempfile
import time
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
    from multiprocessing.connection import Connection

    Check = Callable[[str], Awaitable[int]]

HOST = "checked.example"
ADDRESS = "127.0.0.1"
AT_ONCE = 50
TIMEOUT_SECONDS = 10
SYSTEM_CA_FILE = Path(ssl.get_default_verify_paths().openssl_cafile)

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1024\r\n\r\n" + b"x" * 1024


@dataclass(frozen=True)
class Server:
    """The server that the checks connect to. `ca_file` has the system's authorities and the server's own."""

    http_port: int
    https_port: int
    ca_file: str

    def url(self, scheme: str) -> str:
        return f"{scheme}://{HOST}:{self.http_port if scheme == 'http' else self.https_port}/health"


# The candidates. Each yields a function that sends one GET request and returns the status code.


@asynccontextmanager
async def open_pycurl(server: Server) -> AsyncIterator[Check]:
    """Use libcurl's multi interface, with the event loop waiting for its sockets."""
    import pycurl

    multi = pycurl.CurlMulti()
    driver = _CurlDriver(pycurl, multi)
    idle: list[Any] = []

    def judge(_purpose: int, address: Any) -> socket.socket:
        if address.addr[0] != ADDRESS:
            raise AssertionError
        return socket.socket(address.family, address.socktype, address.protocol)

    def new_handle() -> Any:
        handle = pycurl.Curl()
        handle.setopt(pycurl.FRESH_CONNECT, 1)
        handle.setopt(pycurl.FORBID_REUSE, 1)
        handle.setopt(pycurl.SSL_SESSIONID_CACHE, 0)
        handle.setopt(pycurl.NOSIGNAL, 1)
        handle.setopt(pycurl.PROXY, "")
        handle.setopt(pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_1_1)
        handle.setopt(pycurl.CAINFO, server.ca_file)
        handle.setopt(pycurl.OPT_CERTINFO, 1)
        handle.setopt(pycurl.OPENSOCKETFUNCTION, judge)
        return handle

    async def check(url: str) -> int:
        handle = idle.pop() if idle else new_handle()
        handle.setopt(pycurl.URL, url)
        handle.setopt(pycurl.CONNECT_TO, [f"::{ADDRESS}:"])
        handle.setopt(pycurl.TIMEOUT_MS, TIMEOUT_SECONDS * 1000)
        handle.setopt(pycurl.HEADERFUNCTION, len)
        handle.setopt(pycurl.WRITEFUNCTION, len)
        try:
            status: int = await driver.perform(handle)
            if url.startswith("https"):
                handle.getinfo(pycurl.INFO_CERTINFO)
            return status
        finally:
            multi.remove_handle(handle)
            idle.append(handle)

    yield check
    driver.cancel_timer()
    multi.close()


class _CurlDriver:
    """Runs transfers on the event loop (libcurl's `curl_multi_socket_action`)."""

    def __init__(self, pycurl: Any, multi: Any) -> None:
        self._pycurl = pycurl
        self._multi = multi
        self._loop = asyncio.get_running_loop()
        self._waiting: dict[Any, asyncio.Future[int]] = {}
        self._timer: asyncio.TimerHandle | None = None
        multi.setopt(pycurl.M_SOCKETFUNCTION, self._watch)
        multi.setopt(pycurl.M_TIMERFUNCTION, self._set_timer)

    async def perform(self, handle: Any) -> int:
        self._waiting[handle] = self._loop.create_future()
        self._multi.add_handle(handle)
        return await self._waiting[handle]

    def cancel_timer(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None

    def _act(self, descriptor: int, events: int) -> None:
        self._multi.socket_action(descriptor, events)
        left = 1
        while left:
            left, done, failed = self._multi.info_read()
            for handle in done:
                self._waiting.pop(handle).set_result(handle.getinfo(self._pycurl.RESPONSE_CODE))
            for handle, _, message in failed:
                self._waiting.pop(handle).set_exception(OSError(message))

    def _watch(self, event: int, descriptor: int, _multi: object, _assigned: object) -> None:
        pycurl, loop = self._pycurl, self._loop
        if event in (pycurl.POLL_IN, pycurl.POLL_INOUT):
            loop.add_reader(descriptor, self._act, descriptor, pycurl.CSELECT_IN)
        else:
            loop.remove_reader(descriptor)
        if event in (pycurl.POLL_OUT, pycurl.POLL_INOUT):
            loop.add_writer(descriptor, self._act, descriptor, pycurl.CSELECT_OUT)
        else:
            loop.remove_writer(descriptor)

    def _set_timer(self, timeout_ms: int) -> None:
        self.cancel_timer()
        if timeout_ms >= 0:
            timeout_seconds = timeout_ms / 1000
            self._timer = self._loop.call_later(timeout_seconds, self._act, self._pycurl.SOCKET_TIMEOUT, 0)


@asynccontextmanager
async def open_httptools(server: Server) -> AsyncIterator[Check]:
    """Implement HTTP with the event loop's transports, and parse the response with httptools."""
    import httptools

    loop = asyncio.get_running_loop()
    context = ssl.create_default_context(cafile=server.ca_file)

    class Client(asyncio.Protocol):
        def __init__(self) -> None:
            self.done = loop.create_future()
            self.headers: list[tuple[bytes, bytes]] = []
            self.parser = httptools.HttpResponseParser(self)

        def on_header(self, name: bytes, value: bytes) -> None:
            self.headers.append((name, value))

        def on_body(self, body: bytes) -> None:
            """Count the bytes of the body."""

        def on_message_complete(self) -> None:
            self.done.set_result(self.parser.get_status_code())

        def data_received(self, received: bytes) -> None:
            self.parser.feed_data(received)

        def connection_lost(self, error: Exception | None) -> None:
            if not self.done.done():
                self.done.set_exception(error or ConnectionError("closed before the answer"))

    async def check(url: str) -> int:
        scheme, _, authority = url.removesuffix("/health").partition("://")
        async with asyncio.timeout(TIMEOUT_SECONDS):
            port = int(authority.partition(":")[2])
            secure = {"ssl": context, "server_hostname": HOST} if scheme == "https" else {}
            transport, client = await loop.create_connection(Client, ADDRESS, port, **secure)
            transport.write(
                f"GET /health HTTP/1.1\r\nHost: {authority}\r\nUser-Agent: x\r\nAccept: */*\r\n\r\n".encode()
            )
            try:
                status: int = await client.done
                if scheme == "https":
                    ssl.cert_time_to_seconds(transport.get_extra_info("ssl_object").getpeercert()["notAfter"])
                return status
            finally:
                transport.abort()

    yield check


@asynccontextmanager
async def open_aiohttp(server: Server) -> AsyncIterator[Check]:
    """Use aiohttp with a resolver that returns the validated IP address."""
    import aiohttp
    from aiohttp.abc import AbstractResolver

    class Judged(AbstractResolver):
        async def resolve(self, host: str, port: int = 0, family: Any = 0) -> Any:
            found = {"hostname": host, "host": ADDRESS, "port": port, "proto": 0, "flags": 0}
            return [{**found, "family": family or socket.AF_INET}]

        async def close(self) -> None:
            """Do nothing."""

    context = ssl.create_default_context(cafile=server.ca_file)
    connector = aiohttp.TCPConnector(
        resolver=Judged(), ssl=context, force_close=True, limit=0, use_dns_cache=False, family=socket.AF_INET
    )
    timeout = aiohttp.ClientTimeout(total=TIMEOUT_SECONDS)
    async with aiohttp.ClientSession(connector=connector, timeout=timeout) as session:

        async def check(url: str) -> int:
            async with session.get(url, allow_redirects=False) as answer:
                await answer.read()
                return answer.status

        yield check


@asynccontextmanager
async def open_httpx(server: Server) -> AsyncIterator[Check]:
    """Use httpx in its usual way, as a baseline for the other candidates. The URL contains the IP address."""
    import httpx

    context = ssl.create_default_context(cafile=server.ca_file)
    limits = httpx.Limits(max_keepalive_connections=0, max_connections=None)
    async with httpx.AsyncClient(verify=context, limits=limits, trust_env=False) as client:

        async def check(url: str) -> int:
            headers = {"Host": HOST}
            answer = await client.get(
                url.replace(HOST, ADDRESS),
                headers=headers,
                timeout=TIMEOUT_SECONDS,
                extensions={"sni_hostname": HOST},
            )
            return answer.status_code

        yield check


@asynccontextmanager
async def open_outbound(server: Server) -> AsyncIterator[Check]:
    """Use this project's client, with all its validation and timing, but with a fixed resolver result."""
    from ipaddress import ip_address, ip_network

    from monitoring.outbound.client import HttpClient
    from monitoring.outbound.connections import Connector
    from monitoring.outbound.dialer import Dialer
    from monitoring.outbound.exchanges import OutboundRequest

    class Told:
        async def resolve(self, _host: str) -> Any:
            return [ip_address(ADDRESS)]

    dialer = Dialer(Told(), Connector(server.ca_file), (ip_network(f"{ADDRESS}/32"),))
    client = HttpClient(dialer)

    async def check(url: str) -> int:
        exchange = await client.send(OutboundRequest(method="GET", url=url, timeout_seconds=TIMEOUT_SECONDS))
        if exchange.failure:
            raise AssertionError(exchange.failure)
        return exchange.status_code

    yield check
    await dialer.close()


CANDIDATES: dict[str, tuple[str, Callable[[Server], Any]]] = {
    "pycurl (multi, socket_action)": ("pycurl", open_pycurl),
    "asyncio + httptools": ("httptools", open_httptools),
    "aiohttp": ("aiohttp", open_aiohttp),
    "httpx": ("httpx", open_httpx),
    "monitoring.outbound": ("monitoring", open_outbound),
}


# The server, which runs in a separate process


class _Answering(asyncio.Protocol):
    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def data_received(self, received: bytes) -> None:
        if received.endswith(b"\r\n\r\n"):
            self.transport.write(ANSWER)


@contextmanager
def running_server() -> Iterator[Server]:
    """Serve HTTP and HTTPS until the block ends, with a certificate of a temporary authority."""
    import trustme

    authority = trustme.CA()
    spawning = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        chain, ca_file = Path(folder, "chain.pem"), Path(folder, "authorities.pem")
        authority.issue_cert(HOST).private_key_and_cert_chain_pem.write_to_path(chain)
        system = SYSTEM_CA_FILE.read_bytes() if SYSTEM_CA_FILE.exists() else b""
        ca_file.write_bytes(system + authority.cert_pem.bytes())
        ours, theirs = spawning.Pipe()
        process = spawning.Process(target=_serve, args=(str(chain), theirs), daemon=True)
        process.start()
        try:
            yield Server(*ours.recv(), ca_file=str(ca_file))
        finally:
            process.kill()
            process.join()


def _serve(chain: str, connection: Connection) -> None:
    async def serve() -> None:
        loop = asyncio.get_running_loop()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(chain)
        plain = await loop.create_server(_Answering, ADDRESS, 0, backlog=1024)
        secure = await loop.create_server(_Answering, ADDRESS, 0, ssl=context, backlog=1024)
        connection.send([server.sockets[0].getsockname()[1] for server in (plain, secure)])
        await loop.create_future()

    _run(serve())


# The measurement


async def measure(server: Server, candidates: list[str], rounds: int, checks: int) -> dict[Any, list[float]]:
    """Return the CPU microseconds per check, with one figure per round, for each scheme and candidate."""
    figures: dict[Any, list[float]] = {(s, name): [] for s in ("http", "https") for name in candidates}
    for turn in range(-1, rounds):  # the first round warms up
        for scheme in ("http", "https"):
            start = turn % len(candidates)
            for name in candidates[start:] + candidates[:start]:
                async with CANDIDATES[name][1](server) as check:
                    await _send_all(check, server.url(scheme), AT_ONCE)
                    before = time.process_time()
                    await _send_all(check, server.url(scheme), checks)
                    spent = time.process_time() - before
                if turn >= 0:
                    figures[scheme, name].append(spent / checks * 1e6)
    return figures


async def _send_all(check: Any, url: str, checks: int) -> None:
    numbers = iter(range(checks))

    async def send_one_by_one() -> None:
        for _ in numbers:
            status = await check(url)
            if status != 200:
                raise AssertionError(status)

    await asyncio.gather(*(send_one_by_one() for _ in range(AT_ONCE)))


def _run(main: Any) -> Any:
    if importlib.util.find_spec("uvloop"):
        import uvloop

        return uvloop.run(main)
    return asyncio.run(main)


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--checks", type=int, default=400, help="checks a round")
    arguments = parser.parse_args()
    candidates = []
    for name, (module, _) in CANDIDATES.items():
        if importlib.util.find_spec(module):
            candidates.append(name)
        else:
            print(f"{name} is left out: {module} is not installed")
    with running_server() as server:
        figures = _run(measure(server, candidates, arguments.rounds, arguments.checks))
    print(f"\n{'CPU us a check, median of rounds':34}{'http':>8}{'ratio':>8}{'https':>9}{'ratio':>8}")
    for name in candidates:
        columns = []
        for scheme in ("http", "https"):
            first, own = figures[scheme, candidates[0]], figures[scheme, name]
            columns += [median(own), median(o / f for o, f in zip(own, first, strict=True))]
        print("{:34}{:8.0f}{:8.2f}{:9.0f}{:8.2f}".format(name, *columns))


if __name__ == "__main__":
    main()
