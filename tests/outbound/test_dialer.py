"""What every protocol gets from a dialer, shown on plain TCP: nothing here speaks HTTP."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from monitoring.outbound.dialer import Call, Dialer, open_dialer
from monitoring.outbound.failures import ExchangeFailed, FailureCode
from monitoring.outbound.stopwatch import Phase, Timings
from monitoring.outbound.targets import UnusableUrl, read_endpoint
from outbound.asking import open_sockets, until
from outbound.scripted_servers import impolite_server
from outbound.test_connections import black_hole

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from outbound.name_server import NameServer
    from outbound.scripted_servers import ScriptedServer

pytestmark = pytest.mark.anyio

NAME = "mail.example"
GREETING = b"220 mail.example ESMTP\r\n"


class Listener(asyncio.Protocol):
    """Keeps the first bytes that come."""

    def __init__(self) -> None:
        self.heard: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    def data_received(self, received: bytes) -> None:
        if not self.heard.done():
            self.heard.set_result(received)


@pytest.fixture
async def dialer(names: NameServer) -> AsyncIterator[Dialer]:
    """Open a dialer that may reach 127.0.0.2 and 127.0.0.3, and nothing else of loopback."""
    async with open_dialer(allowed_networks=("127.0.0.2/31",), dns_servers=(names.address,)) as opened:
        yield opened


async def listen(dialer: Dialer, authority: str, timeout_seconds: float = 10) -> tuple[bytes, Timings]:
    """Connect, and return what the server says first."""

    async def talk(call: Call) -> tuple[bytes, Timings]:
        connection = await call.connect(read_endpoint(authority), Listener)
        call.stopwatch.enter(Phase.WAITING)
        try:
            heard = await connection.reader.heard
        finally:
            connection.transport.abort()
        call.stopwatch.leave()
        return heard, call.stopwatch.timings()

    return await dialer.call(talk, timeout_seconds)


async def fail_to_listen(dialer: Dialer, authority: str, timeout_seconds: float = 10) -> ExchangeFailed:
    with pytest.raises(ExchangeFailed) as raised:
        await listen(dialer, authority, timeout_seconds)
    return raised.value


class TestConnection:
    async def test_is_made_to_the_address_of_a_name_that_is_resolved_once(
        self, dialer: Dialer, names: NameServer
    ) -> None:
        names.know(NAME, ["127.0.0.2"], ["127.0.0.1"])
        before = open_sockets()
        async with impolite_server(lambda writer: writer.write(GREETING)) as port:
            heard, timings = await listen(dialer, f"{NAME}:{port}")
        assert heard == GREETING
        assert {name: count for (name, _), count in names.questions.items()} == {NAME: 1}
        assert timings.dns_ms is not None
        assert timings.connect_ms is not None
        assert timings.tls_ms is None
        assert timings.first_byte_ms is not None
        assert timings.total_ms is not None
        await until(lambda: open_sockets() <= before)

    async def test_is_made_to_an_address_without_asking_anybody(
        self, dialer: Dialer, names: NameServer
    ) -> None:
        async with impolite_server(lambda writer: writer.write(GREETING)) as port:
            heard, timings = await listen(dialer, f"127.0.0.2:{port}")
        assert (heard, timings.dns_ms) == (GREETING, None)
        assert not names.questions

    async def test_that_is_refused_is_a_failure_with_timings(self, dialer: Dialer) -> None:
        failed = await fail_to_listen(dialer, "127.0.0.2:1")
        assert failed.failure.code == FailureCode.CONNECTION_REFUSED
        assert failed.timings.total_ms is not None

    async def test_to_a_name_that_does_not_exist_is_a_failure_of_dns(self, dialer: Dialer) -> None:
        failed = await fail_to_listen(dialer, "nowhere.example:25")
        assert failed.failure.code == FailureCode.DNS_FAILURE


class TestRefusedAddress:
    @pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]"])
    async def test_is_never_connected_to_and_nothing_is_told(
        self, dialer: Dialer, forbidden_server: ScriptedServer, host: str
    ) -> None:
        failed = await fail_to_listen(dialer, f"{host}:{forbidden_server.port}")
        assert failed.failure.code == FailureCode.BLOCKED_ADDRESS
        assert failed.timings == Timings()
        assert forbidden_server.connections == 0

    @pytest.mark.parametrize("addresses", [["127.0.0.2", "127.0.0.1"], ["127.0.0.1", "127.0.0.2"]])
    async def test_among_those_of_a_name_refuses_the_name(
        self, dialer: Dialer, names: NameServer, server: ScriptedServer, addresses: list[str]
    ) -> None:
        names.know(NAME, addresses)
        failed = await fail_to_listen(dialer, f"{NAME}:{server.port}")
        assert failed.failure.code == FailureCode.BLOCKED_ADDRESS
        assert failed.timings == Timings()
        assert server.connections == 0


class TestDeadline:
    async def test_ends_a_connection_that_is_not_made(self, dialer: Dialer) -> None:
        before = open_sockets()
        with black_hole("127.0.0.2") as port:
            failed = await fail_to_listen(dialer, f"127.0.0.2:{port}", timeout_seconds=0.15)
        assert failed.failure.code == FailureCode.TIMEOUT
        assert failed.failure.message == "No answer within 0.15 seconds (while connecting)"
        assert failed.timings.total_ms is not None
        await until(lambda: open_sockets() <= before)

    async def test_ends_a_name_that_nobody_answers_for(self, dialer: Dialer, names: NameServer) -> None:
        names.answers[NAME] = None
        failed = await fail_to_listen(dialer, f"{NAME}:25", timeout_seconds=0.15)
        assert failed.failure.message == "No answer within 0.15 seconds (while resolving the name)"

    async def test_ends_all_that_is_done_with_a_connection(self, dialer: Dialer) -> None:
        before = open_sockets()
        async with impolite_server(lambda _: None) as port:
            failed = await fail_to_listen(dialer, f"127.0.0.2:{port}", timeout_seconds=0.15)
            await until(lambda: open_sockets() <= before)
        assert failed.failure.message == "No answer within 0.15 seconds (while waiting for the answer)"


class TestClosing:
    async def test_cancels_the_calls_that_are_under_way(self, names: NameServer) -> None:
        connections: list[asyncio.StreamWriter] = []
        before = open_sockets()
        async with impolite_server(connections.append) as port:
            async with open_dialer(
                allowed_networks=("127.0.0.2/32",), dns_servers=(names.address,)
            ) as dialer:
                calling = asyncio.ensure_future(listen(dialer, f"127.0.0.2:{port}"))
                await until(lambda: bool(connections))
            with suppress(asyncio.CancelledError):
                await calling
            assert calling.cancelled()
            await until(lambda: open_sockets() <= before)


class TestEndpoint:
    @pytest.mark.parametrize(
        ("written", "host", "port"),
        [
            ("Mail.Example:25", "mail.example", 25),
            ("bücher.example:25", "xn--bcher-kva.example", 25),
            ("192.0.2.7:5432", "192.0.2.7", 5432),
            ("[2001:DB8::0007]:5432", "2001:db8::7", 5432),
        ],
    )
    def test_has_one_spelling(self, written: str, host: str, port: int) -> None:
        endpoint = read_endpoint(written)
        assert (endpoint.host, endpoint.port) == (host, port)

    @pytest.mark.parametrize(
        "written", ["mail.example", "mail.example:", "mail.example:0", ":25", "0x7f.1:25"]
    )
    def test_needs_a_host_and_a_port_that_can_be_read(self, written: str) -> None:
        with pytest.raises(UnusableUrl):
            read_endpoint(written)
