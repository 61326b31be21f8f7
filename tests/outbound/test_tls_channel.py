"""TLS between a connection and its reader: in whatever pieces an answer comes, it is the same as without."""

from __future__ import annotations

import asyncio
import gc
import os
import socket
import ssl
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

import pytest
import trustme

from monitoring.outbound.connections import _make_context
from monitoring.outbound.failures import FailureCode
from monitoring.outbound.tls_settings import TlsSettings
from outbound.asking import ask, code_of, open_sockets, until
from outbound.scripted_servers import OK, answer, impolite_server, scripted_server

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from monitoring.outbound.client import HttpClient

TRUSTING = TlsSettings(protocols=("http/1.1",))

pytestmark = pytest.mark.anyio

LARGE = b"0123456789abcdef" * 50_000  # of some fifty records
WITHOUT_LENGTH = b"HTTP/1.1 200 OK\r\n\r\nok"


@pytest.fixture(scope="module", params=[ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3], ids=["1.2", "1.3"])
def tls(request: pytest.FixtureRequest) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = context.maximum_version = request.param
    trustme.CA().issue_cert("127.0.0.2").configure_cert(context)
    return context


@asynccontextmanager
async def byte_by_byte(port: int) -> AsyncIterator[int]:
    """Pass on what the server on a port says, one byte after the other; yields a port for it."""

    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        from_server, to_server = await asyncio.open_connection("127.0.0.2", port)

        async def ask_on() -> None:
            with suppress(OSError):  # who has heard enough hangs up
                while asked := await reader.read(65_536):
                    to_server.write(asked)

        asking = asyncio.create_task(ask_on())
        while not writer.is_closing() and (byte := await from_server.read(1)):
            writer.write(byte)
            await asyncio.sleep(0)
        asking.cancel()
        to_server.close()
        writer.close()

    listener = await asyncio.start_server(relay, "127.0.0.2", 0)
    try:
        yield listener.sockets[0].getsockname()[1]
    finally:
        listener.close()


def end_politely(writer: asyncio.StreamWriter) -> None:
    """Say that this was all, and close."""
    writer.close()


def end_abruptly(writer: asyncio.StreamWriter) -> None:
    """Close as attackers can, too: without a word that TLS protects."""
    with socket.socket(fileno=os.dup(writer.get_extra_info("socket").fileno())) as connection:
        connection.shutdown(socket.SHUT_WR)


def saying(
    content: bytes, end: Callable[[asyncio.StreamWriter], None]
) -> Callable[[asyncio.StreamWriter], None]:
    """Say something, and end."""

    def talk(writer: asyncio.StreamWriter) -> None:
        writer.write(content)
        end(writer)

    return talk


def clients_of_tls() -> list[ssl.SSLObject]:
    """Return what OpenSSL keeps for the connections of clients in this process."""
    return [each for each in gc.get_objects() if type(each) is ssl.SSLObject and not each.server_side]


class TestAnswer:
    async def test_of_many_records_is_whole(self, client: HttpClient, tls: ssl.SSLContext) -> None:
        async with scripted_server("127.0.0.2", tls=tls) as server:
            server.scripts["/"] = answer(body=LARGE)
            exchange = await ask(client, f"{server.url}/", verify_tls=False)
        assert exchange.body == LARGE

    async def test_in_pieces_of_records_is_whole(self, client: HttpClient, tls: ssl.SSLContext) -> None:
        async with scripted_server("127.0.0.2", tls=tls) as server, byte_by_byte(server.port) as port:
            exchange = await ask(client, f"https://127.0.0.2:{port}/", verify_tls=False)
        assert (exchange.status_code, exchange.body) == (200, b"ok")

    async def test_that_comes_with_the_handshake_is_read(
        self, client: HttpClient, tls: ssl.SSLContext
    ) -> None:
        async with impolite_server(lambda writer: writer.write(OK), tls) as port:
            exchange = await ask(client, f"https://127.0.0.2:{port}/", verify_tls=False)
        assert (exchange.status_code, exchange.body) == (200, b"ok")

    @pytest.mark.parametrize("end", [end_politely, end_abruptly])
    async def test_without_length_ends_with_its_connection(
        self, client: HttpClient, tls: ssl.SSLContext, end: Callable[[asyncio.StreamWriter], None]
    ) -> None:
        before = open_sockets()
        async with impolite_server(saying(WITHOUT_LENGTH, end), tls) as port:
            exchange = await ask(client, f"https://127.0.0.2:{port}/", verify_tls=False)
            await until(lambda: open_sockets() <= before)
        assert (exchange.status_code, exchange.body) == (200, b"ok")

    @pytest.mark.parametrize("end", [end_politely, end_abruptly])
    async def test_that_ends_too_early_broke_off(
        self, client: HttpClient, tls: ssl.SSLContext, end: Callable[[asyncio.StreamWriter], None]
    ) -> None:
        async with impolite_server(saying(OK[:-1], end), tls) as port:
            exchange = await ask(client, f"https://127.0.0.2:{port}/", verify_tls=False)
        assert code_of(exchange) == FailureCode.CONNECTION_FAILED
        assert exchange.failure
        assert exchange.failure.message == "The connection broke off in the middle of the answer"


class TestHandshake:
    async def test_that_failed_leaves_no_memory_of_openssl_to_the_garbage_collection(
        self, client: HttpClient, tls: ssl.SSLContext
    ) -> None:
        before = {id(each) for each in clients_of_tls()}
        gc.disable()
        try:
            async with scripted_server("127.0.0.2", tls=tls) as server:
                exchange = await ask(client, f"{server.url}/")  # by an authority that nobody knows
            await until(lambda: all(id(each) in before for each in clients_of_tls()))
        finally:
            gc.enable()
        assert code_of(exchange) == FailureCode.TLS_INVALID


class Renegotiating(ssl.SSLObject):
    """What OpenSSL tells while a server of TLS 1.2 wants a second handshake before the request."""

    has_been_asked = False

    def write(self, *given: Any) -> int:
        if not self.has_been_asked:
            self.has_been_asked = True
            raise ssl.SSLWantReadError
        return super().write(*given)

    def getpeercert(self, *given: Any, **named: Any) -> Any:
        if self.has_been_asked:
            raise ValueError("handshake not done yet")
        return super().getpeercert(*given, **named)


class Refusing(ssl.SSLObject):
    """What OpenSSL tells of a connection on which nothing can be sent."""

    def write(self, *_: Any) -> int:
        raise ssl.SSLError(1, "[SSL: PROTOCOL_IS_SHUTDOWN] protocol is shutdown")


@pytest.fixture
def tls_that_speaks_first() -> ssl.SSLContext:
    """Tickets of TLS 1.3 come after the handshake: something that is heard before an answer."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    trustme.CA().issue_cert("127.0.0.2").configure_cert(context)
    return context


class TestRequest:
    async def test_waits_for_a_second_handshake(
        self, client: HttpClient, tls_that_speaks_first: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(_make_context(TRUSTING, None, verifies=False), "sslobject_class", Renegotiating)
        async with scripted_server("127.0.0.2", tls=tls_that_speaks_first) as server:
            exchange = await ask(client, f"{server.url}/", verify_tls=False)
        assert (exchange.status_code, exchange.body) == (200, b"ok")
        assert exchange.tls_expires_at

    async def test_that_cannot_be_sent_is_the_servers_failure(
        self, client: HttpClient, tls_that_speaks_first: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(_make_context(TRUSTING, None, verifies=False), "sslobject_class", Refusing)
        async with scripted_server("127.0.0.2", tls=tls_that_speaks_first) as server:
            exchange = await ask(client, f"{server.url}/", verify_tls=False)
        assert code_of(exchange) == FailureCode.TLS_INVALID

    async def test_of_many_records_arrives_whole(self, client: HttpClient, tls: ssl.SSLContext) -> None:
        async with scripted_server("127.0.0.2", tls=tls) as server:
            await ask(client, f"{server.url}/", method="POST", body=LARGE, verify_tls=False)
        assert server.requests[0].endswith(b"\r\n\r\n" + LARGE)
