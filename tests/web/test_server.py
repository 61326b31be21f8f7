"""How the server sends the answers of any ASGI application."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from starlette.types import Message, Receive, Scope, Send

from bakery.service import ClosedBakery
from raw_http import Address, connect, exchange, read_answer, request, served

pytestmark = pytest.mark.traceback_expected("applications break here as ours never should")

GET = request("GET", "/")


def start(*headers: tuple[bytes, bytes], status: int = 200) -> Message:
    return {"type": "http.response.start", "status": status, "headers": list(headers)}


def piece(body: bytes, *, more_body: bool = True) -> Message:
    return {"type": "http.response.body", "body": body, "more_body": more_body}


def end(body: bytes = b"") -> Message:
    return piece(body, more_body=False)


def length(count: int) -> tuple[bytes, bytes]:
    return (b"content-length", b"%d" % count)


@contextmanager
def saying(*messages: Message | Exception) -> Iterator[Address]:
    """Serve an application that sends these messages, raising exceptions among them, and then listens."""

    async def say(scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG001
        for message in messages:
            if isinstance(message, Exception):
                raise message
            await send(message)
        await receive()

    with served(ClosedBakery(say)) as address:
        yield address


def read_to_end(server: Address, raw: bytes = GET) -> bytes:
    """Ask twice, and return the bytes until the connection ends: one answer, if that should end it."""
    received = read_all(server, raw + raw)
    assert received.count(b"HTTP/1.1 ") == 1
    return received


def read_all(server: Address, raw: bytes) -> bytes:
    with connect(server) as connection:
        connection.sendall(raw)
        return b"".join(iter(lambda: connection.recv(65_536), b""))


class TestWholeAnswers:
    def test_are_sent_as_they_are(self) -> None:
        with saying(start(length(2), (b"etag", b'"1"'), status=201), end(b"ok")) as server:
            answer = exchange(server, GET)
        assert (answer.status, answer.headers["etag"], answer.body) == (201, '"1"', b"ok")
        assert "date" in answer.headers

    def test_leave_the_connection_open(self) -> None:
        with saying(start(length(2)), end(b"ok")) as server, connect(server) as connection:
            for _ in range(3):
                connection.sendall(GET)
                assert read_answer(connection).body == b"ok"

    def test_are_the_last_that_is_said(self) -> None:
        waiting = request("POST", "/", "Expect: 100-continue", body=b"no")
        last = request("GET", "/", "Connection: close")
        with saying(start(length(2)), end(b"ok")) as server:
            assert read_all(server, waiting + last).count(b"HTTP/1.1 ") == 2

    @pytest.mark.parametrize("raw", [request("GET", "/", "Connection: close"), b"GET / HTTP/1.0\r\n\r\n"])
    def test_end_a_connection_that_shall_not_stay(self, raw: bytes) -> None:
        with saying(start(length(2)), end(b"ok")) as server:
            received = read_to_end(server, raw)
        assert received.count(b"\r\nconnection: close\r\n") == 1
        assert received.endswith(b"\r\n\r\nok")

    @pytest.mark.parametrize("wish", [b"close", b"Close", b"te, close"])
    def test_may_end_the_connection_themselves(self, wish: bytes) -> None:
        with saying(start(length(2), (b"connection", wish)), end(b"ok")) as server:
            received = read_to_end(server)
        assert received.count(b"\r\nconnection: ") == 1
        assert received.endswith(b"\r\n\r\nok")

    def test_to_head_have_no_body(self) -> None:
        with saying(start(length(2)), end(b"ok")) as server:
            assert read_to_end(server, request("HEAD", "/", "Connection: close")).endswith(b"\r\n\r\n")

    @pytest.mark.parametrize("control", [b"\r\nx-second: 2", b"\r", b"\n", b"\0", b"\x7f"])
    def test_are_refused_with_a_control_character_in_a_header(self, control: bytes) -> None:
        odd = (b"x-first", b"1" + control)
        with saying(start(length(2), odd), end(b"ok")) as server:
            answer = exchange(server, GET)
        assert answer.status == 500
        assert not {"x-first", "x-second"} & set(answer.headers)

    def test_may_have_tabs_in_headers(self) -> None:
        with saying(start(length(2), (b"x-first", b"1\t2")), end(b"ok")) as server:
            assert exchange(server, GET).headers["x-first"] == "1\t2"


class TestAnswersInPieces:
    def test_are_chunked_if_their_length_is_not_told(self) -> None:
        with saying(start(), piece(b"one, "), piece(b"two"), end()) as server:
            received = read_to_end(server, request("GET", "/", "Connection: close"))
        assert received.endswith(b"\r\n\r\n5\r\none, \r\n3\r\ntwo\r\n0\r\n\r\n")

    def test_are_chunked_if_they_say_so(self) -> None:
        with saying(start(length(2), (b"transfer-encoding", b"chunked")), end(b"ok")) as server:
            received = read_to_end(server, request("GET", "/", "Connection: close"))
        assert received.endswith(b"\r\n\r\n2\r\nok\r\n0\r\n\r\n")

    @pytest.mark.parametrize("pieces", [(piece(b"one, "), end(b"two")), (piece(b"one, two"), end())])
    def test_are_sent_as_they_are_if_it_is_told(self, pieces: tuple[Message, ...]) -> None:
        with saying(start(length(8)), *pieces) as server, connect(server) as connection:
            for _ in range(2):
                connection.sendall(GET)
                assert read_answer(connection).body == b"one, two"

    def test_without_an_end_end_the_connection(self) -> None:
        with saying(start(length(8)), piece(b"one, "), RuntimeError("there is no more")) as server:
            assert read_to_end(server).endswith(b"\r\n\r\none, ")


class TestBrokenAnswers:
    @pytest.mark.parametrize(
        "messages",
        [
            [RuntimeError("before it began")],
            [start(length(2), (b"etag", b'"1"')), RuntimeError("before its body")],
            [start(length(2), (b"etag", b'"1"'))],
            [start(length(2), (b"etag", b'"1"')), start(length(0)), RuntimeError("before its body")],
            [end(b"ok")],
            [],
        ],
    )
    def test_that_nothing_was_sent_of_become_500(self, messages: list[Message | Exception]) -> None:
        with saying(*messages) as server:
            received = read_to_end(server, request("GET", "/", "Connection: close"))
        assert received.startswith(b"HTTP/1.1 500 ")
        assert b"etag" not in received

    def test_that_are_shorter_than_told_end_the_connection(self) -> None:
        with saying(start(length(3)), piece(b"ok"), end()) as server:
            assert read_to_end(server).endswith(b"\r\n\r\nok")
