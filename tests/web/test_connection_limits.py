"""What a stranger's connections can hold: nothing but themselves, and those not for long."""

import logging
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress

import anyio.to_thread
import pytest
from prometheus_client import REGISTRY
from starlette.types import Receive, Scope, Send

from bakery.service import ClosedBakery, build_bakery
from monitoring.web.caller_networks import network_of
from monitoring.web.connection_limits import (
    MAX_PIPELINED,
    MAX_REQUESTS,
    SLOWEST_BYTES_A_SECOND,
    ConnectionLimits,
    Pace,
)
from raw_http import Address, connect, read_answer, request, served
from service_process import wait_until

HEALTH = request("GET", "/health")
OFFER = request("GET", "/health", "Connection: upgrade", "Upgrade: x")
SHORT_SECONDS = 0.5


def read_all(connection: socket.socket) -> bytes:
    return b"".join(iter(lambda: connection.recv(65_536), b""))


def warnings_of_servers(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return what servers warn of; checkers and senders of earlier tests may warn at any time."""
    servers = ("uvicorn", "asyncio", "monitoring.web")
    return [
        record.getMessage()
        for record in caplog.records
        if record.levelno >= logging.WARNING and record.name.startswith(servers)
    ]


def closed(reason: str) -> float:
    return REGISTRY.get_sample_value("monitoring_connections_closed_total", {"reason": reason}) or 0


class TestPipelinedRequests:
    @pytest.mark.parametrize("raw", [HEALTH, OFFER], ids=["plain", "offering an upgrade"])
    def test_of_a_modest_number_are_all_answered(self, bakery: Address, raw: bytes) -> None:
        with connect(bakery) as connection:
            connection.sendall(raw * MAX_PIPELINED + request("GET", "/health", "Connection: close"))
            assert read_all(connection).count(b"HTTP/1.1 200 ") == MAX_PIPELINED + 1

    @pytest.mark.parametrize("raw", [HEALTH, OFFER], ids=["plain", "offering an upgrade"])
    def test_beyond_that_are_dropped_and_end_the_connection(
        self, bakery: Address, raw: bytes, caplog: pytest.LogCaptureFixture
    ) -> None:
        with connect(bakery) as connection:
            connection.sendall(raw * 500)
            received = read_all(connection)
        assert received.count(b"HTTP/1.1 200 ") == received.count(b"HTTP/1.1 ") == MAX_PIPELINED + 1
        assert received.count(b"connection: close") == 1
        assert warnings_of_servers(caplog) == []

    def test_that_cannot_be_read_do_not_cost_those_before_them_their_answers(self, bakery: Address) -> None:
        with connect(bakery) as connection:
            connection.sendall(HEALTH * 2 + b"nonsense\r\n\r\n")
            received = read_all(connection)
        assert received.count(b"HTTP/1.1 200 ") == received.count(b"HTTP/1.1 ") == 2

    @pytest.mark.parametrize("body_bytes", [10, 2_000_000], ids=["small", "large"])
    @pytest.mark.parametrize("ends", ["stays and reads nothing", "hangs up"])
    def test_whose_answers_nobody_reads_leave_nothing_in_the_log(
        self, ends: str, body_bytes: int, caplog: pytest.LogCaptureFixture
    ) -> None:
        before = closed("too_slow")
        with answering(b"x" * body_bytes) as address, ExitStack() as connections:
            for _ in range(20):
                connection = connections.enter_context(connect(address))
                connection.sendall(HEALTH * MAX_PIPELINED)
                if ends == "hangs up":
                    reset(connection)
            if ends != "hangs up" and body_bytes > 10:
                wait_until(lambda: closed("too_slow") == before + 20)
        assert warnings_of_servers(caplog) == []

    def test_that_wait_behind_another_keep_nobody_from_telling_it_that_the_client_is_gone(self) -> None:
        is_told, received = threading.Event(), threading.Event()

        async def wait_until_gone(scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG001
            assert (await receive())["type"] == "http.request"
            received.set()
            assert (await receive())["type"] == "http.disconnect"
            is_told.set()

        with served(ClosedBakery(wait_until_gone)) as address, connect(address) as connection:
            connection.sendall(HEALTH * 2)
            assert received.wait(10)
            reset(connection)
            assert is_told.wait(10)


@pytest.fixture(scope="module")
def impatient() -> Iterator[Address]:
    with served(build_bakery(), ConnectionLimits(timeout_seconds=SHORT_SECONDS)) as address:
        yield address


class TestSlowClients:
    @pytest.mark.parametrize(
        "beginning",
        [
            b"",
            b"\r\n",
            b"GET /health HTTP/1.1\r\nHost: a\r\n",
            request("POST", "/loaves", "Content-Length: 99", body=b"{"),
            HEALTH + b"GET /hea",
        ],
        ids=["nothing", "an empty line", "half a head", "half a body", "half a second request"],
    )
    def test_that_stop_sending_are_let_go_when_their_time_is_over(
        self, impatient: Address, beginning: bytes
    ) -> None:
        with connect(impatient) as connection:
            began_at = time.monotonic()
            connection.sendall(beginning)
            with suppress(ConnectionResetError):
                while connection.recv(65_536):
                    pass
            assert time.monotonic() - began_at >= 0.9 * SHORT_SECONDS  # they connected a moment before

    @pytest.mark.parametrize(
        ("beginning", "piece"),
        [
            (b"GET /health HTTP/1.1\r\nHost: a\r\n", b"a: b\r\n"),
            (request("POST", "/loaves", "Content-Length: 100000"), b" "),
            (request("POST", "/loaves", "Transfer-Encoding: chunked"), b"1\r\n \r\n"),
        ],
        ids=["a head", "a body", "chunks"],
    )
    def test_that_send_a_few_bytes_at_a_time_are_let_go(
        self, impatient: Address, beginning: bytes, piece: bytes
    ) -> None:
        before = closed("too_slow")
        with connect(impatient) as connection, suppress(ConnectionError):
            connection.sendall(beginning)
            connection.settimeout(SHORT_SECONDS / 10)
            while closed("too_slow") == before:
                with suppress(TimeoutError):
                    assert not connection.recv(65_536).startswith(b"HTTP/1.1 2")
                connection.sendall(piece)
        wait_until(lambda: closed("too_slow") > before)

    def test_that_do_not_read_their_answer_are_let_go(self) -> None:
        with answering(b"x" * 30_000_000) as address, connect(address) as connection:
            before = closed("too_slow")
            connection.sendall(HEALTH)
            wait_until(lambda: closed("too_slow") > before)

    def test_are_not_those_that_wait_for_an_answer(self) -> None:
        is_over = threading.Event()
        with answering(b"x", wait=is_over.wait) as address, connect(address) as connection:
            before = closed("too_slow")
            with connect(address) as idle:  # it is let go, so the other one could have been
                connection.sendall(HEALTH)
                with suppress(ConnectionResetError):
                    assert idle.recv(1) == b""
            is_over.set()
            assert read_answer(connection).status == 200
            assert closed("too_slow") == before + 1

    def test_have_more_time_the_more_they_send(self) -> None:
        pace = Pace(20, now=0)
        assert not pace.is_too_slow(19)
        assert pace.is_too_slow(21)
        pace.move(10 * SLOWEST_BYTES_A_SECOND)
        assert not pace.is_too_slow(29)
        assert pace.is_too_slow(31)
        pace.restart(100)
        assert not pace.is_too_slow(119)
        assert pace.is_too_slow(121)


class TestKeptConnections:
    def test_are_told_for_how_long(self, bakery: Address) -> None:
        with connect(bakery) as connection:
            connection.sendall(HEALTH)
            answer = read_answer(connection)
        assert answer.headers["keep-alive"] == f"timeout={ConnectionLimits().keep_alive_seconds}"
        assert answer.headers["connection"] == "keep-alive"

    def test_may_be_idle_for_longer_than_a_head_may_take(self, impatient: Address) -> None:
        with connect(impatient) as kept:
            kept.sendall(HEALTH)
            assert read_answer(kept).status == 200
            with connect(impatient) as silent, suppress(ConnectionResetError):  # it came later, and is let go
                assert silent.recv(1) == b""
            kept.sendall(HEALTH)
            assert read_answer(kept).status == 200

    def test_are_closed_when_that_time_is_over(self) -> None:
        limits = ConnectionLimits(keep_alive_seconds=1)
        with served(build_bakery(), limits) as address, connect(address) as connection:
            connection.sendall(HEALTH)
            assert read_answer(connection).headers["keep-alive"] == "timeout=1"
            assert connection.recv(1) == b""

    def test_that_are_kept_busy_are_told_before_they_end(self, bakery: Address) -> None:
        with connect(bakery) as connection:
            said = []
            for _ in range(MAX_REQUESTS):
                connection.sendall(HEALTH)
                said.append(read_answer(connection).headers["connection"])
            assert connection.recv(1) == b""
        assert said == ["keep-alive"] * (MAX_REQUESTS - 1) + ["close"]


class TestTooManyConnections:
    def test_are_closed_until_others_have_ended(self) -> None:
        with served(build_bakery(), ConnectionLimits(at_once=2)) as address:
            with connect(address) as first, connect(address) as second:
                for connection in (first, second):
                    connection.sendall(HEALTH)
                    assert read_answer(connection).status == 200
                assert is_refused(address, "127.0.0.1")
            wait_until(lambda: not is_refused(address, "127.0.0.1"))

    def test_of_one_address_leave_room_for_the_others(self) -> None:
        with served(build_bakery(), ConnectionLimits(per_network=1)) as address, connect(address) as first:
            first.sendall(HEALTH)
            assert read_answer(first).status == 200
            assert is_refused(address, "127.0.0.1")
            assert not is_refused(address, "127.0.0.2")

    def test_of_a_trusted_proxy_do_not_count(self) -> None:
        limits = ConnectionLimits(per_network=1, trusted_proxies=["127.0.0.2/32"])
        with (
            served(build_bakery(), limits) as address,
            socket.create_connection(address, source_address=("127.0.0.2", 0)) as first,
        ):
            first.sendall(HEALTH)
            assert read_answer(first).status == 200
            assert not is_refused(address, "127.0.0.2")


class TestNetworks:
    @pytest.mark.parametrize(
        ("address", "network"),
        [
            ("192.0.2.1", "192.0.2.1"),
            ("::ffff:192.0.2.1", "192.0.2.1"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
            ("fe80::1%eth0", "fe80::/64"),
            ("unknown", "unknown"),
        ],
    )
    def test_are_what_one_customer_has(self, address: str, network: str) -> None:
        assert network_of(address) == network


def reset(connection: socket.socket) -> None:
    """Close a connection as a client does that has crashed."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def is_refused(server: Address, source: str) -> bool:
    with socket.create_connection(server, timeout=10, source_address=(source, 0)) as connection:
        try:
            connection.sendall(HEALTH)
            return connection.recv(1) == b""
        except ConnectionError:
            return True


@contextmanager
def answering(body: bytes, wait: Callable[[], object] = lambda: None) -> Iterator[Address]:
    """Serve an application that waits in another thread, and then answers with a body."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG001
        await anyio.to_thread.run_sync(wait)
        length = (b"content-length", b"%d" % len(body))
        await send({"type": "http.response.start", "status": 200, "headers": [length]})
        await send({"type": "http.response.body", "body": body})

    with served(ClosedBakery(answer), ConnectionLimits(timeout_seconds=SHORT_SECONDS)) as address:
        yield address
