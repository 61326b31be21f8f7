"""Requests framed wrongly, oddly or in pieces get the document's errors, or are served like any other."""

import socket
from contextlib import suppress

import pytest

from bakery.requests import ALICE, JSON, refusal
from bakery.service import MAX_BODY_BYTES
from raw_http import Address, chunked, connect, exchange, read_answer, request


class TestFraming:
    @pytest.mark.parametrize(
        "raw",
        [
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
            b"GET\r\n\r\n",
            b"GET / HTTP/9.9\r\nHost: test\r\n\r\n",
            b"GET / HTTP/1.1\r\nHost : test\r\n\r\n",
            b"GET / HTTP/1.1\r\n\r\n",
            b"GET / HTTP/1.1\r\nHost: test\r\nHost: test\r\n\r\n",
            b"GET / HTTP/1.0\r\nHost: test\r\nHost: test\r\n\r\n",
            *(
                b"GET / HTTP/1.1\r\nHost: %s\r\n\r\n" % host
                for host in (b"a b", b"a/b", b"u@a", b"a:b", b'a"', b"[::1", b"\xc3\xa9")
            ),
            b"POST /receipts HTTP/1.1\r\nHost: test\r\nContent-Length: -1\r\n\r\n",
            b"POST /receipts HTTP/1.1\r\nHost: test\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
            b"POST /receipts HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\na",
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        ],
    )
    def test_that_is_broken_gets_the_documents_error(self, bakery: Address, raw: bytes) -> None:
        answer = exchange(bakery, raw)
        assert refusal(answer) == (400, "Malformed request")
        assert answer.headers["connection"] == "close"

    @pytest.mark.parametrize("sizes", [(70_000,), (60_000, 10_000), (10_000, 60_000), (100, 70_000)])
    @pytest.mark.parametrize("ends_apart", [True, False])
    def test_a_head_above_the_limit_is_refused_however_it_arrives(
        self,
        bakery: Address,
        sizes: tuple[int, ...],
        ends_apart: bool,  # noqa: FBT001
    ) -> None:
        *pieces, last = (f"X-Piece-{number}: {'x' * size}\r\n".encode() for number, size in enumerate(sizes))
        ending = [last, b"\r\n"] if ends_apart else [last + b"\r\n"]
        assert exchange(bakery, b"GET /loaves HTTP/1.1\r\nHost: x\r\n", *pieces, *ending).status == 400

    def test_a_head_below_the_limit_is_read_however_it_arrives(self, bakery: Address) -> None:
        pieces = [f"X-Piece-{number}: {'x' * 15_000}\r\n".encode() for number in range(4)]
        assert exchange(bakery, b"GET /loaves HTTP/1.1\r\nHost: x\r\n", *pieces, b"\r\n").status == 401

    def test_a_head_without_end_is_refused(self, bakery: Address) -> None:
        with connect(bakery) as connection:
            connection.sendall(b"GET /health HTTP/1.1\r\n")
            with suppress(ConnectionError):
                for _ in range(40):
                    connection.sendall(b"X-Filler: " + b"x" * 8000 + b"\r\n")
            assert refusal(read_answer(connection)) == (400, "Malformed request")

    def test_a_chunked_body_is_served_like_any_other(self, bakery: Address) -> None:
        head = request("POST", "/loaves", ALICE, JSON, "Transfer-Encoding: chunked")
        assert exchange(bakery, head, chunked(b'{"na'), chunked(b"")).status == 400
        assert exchange(bakery, head, chunked(b'{"na', b'me": "a"}')).status == 201

    def test_a_broken_chunk_is_malformed(self, bakery: Address) -> None:
        head = request("POST", "/loaves", ALICE, JSON, "Transfer-Encoding: chunked")
        assert exchange(bakery, head, b"zz\r\n").status == 400

    def test_a_trailer_is_no_header(self, bakery: Address) -> None:
        head = request("POST", "/loaves", JSON, "Transfer-Encoding: chunked")
        body = b'd\r\n{"name": "a"}\r\n0\r\nAuthorization: Bearer alice\r\n\r\n'
        assert exchange(bakery, head + body).status == 401

    @pytest.mark.parametrize("filler", [b"a:b\r\n" * 2000, b"x" * 8000], ids=["many", "one"])
    def test_trailers_without_end_are_refused(self, bakery: Address, filler: bytes) -> None:
        with connect(bakery) as connection:
            connection.sendall(request("POST", "/loaves", ALICE, JSON, "Transfer-Encoding: chunked"))
            connection.sendall(b'd\r\n{"name": "a"}\r\n0\r\nx: ')
            with suppress(ConnectionError):
                for _ in range(40):
                    connection.sendall(filler)
            assert refusal(read_answer(connection)) == (400, "Malformed request")

    def test_a_body_in_many_small_chunks_is_read(self, bakery: Address) -> None:
        text = b'{"name": "a"' + b" " * 60_000 + b"}"
        head = request("POST", "/loaves", ALICE, JSON, "Transfer-Encoding: chunked")
        assert exchange(bakery, head + chunked(*(bytes([byte]) for byte in text))).status == 201

    def test_expect_100_continue_is_followed_for_bodies_that_are_wanted(self, bakery: Address) -> None:
        raw = request("POST", "/loaves", ALICE, JSON, "Expect: 100-continue", body=b'{"name": "a"}')
        assert exchange(bakery, raw).status == 201

    def test_the_wish_to_continue_is_answered_before_the_body(self, bakery: Address) -> None:
        body = b'{"name": "a"}'
        with connect(bakery) as connection:
            connection.sendall(
                request(
                    "POST", "/loaves", ALICE, JSON, "Expect: 100-continue", f"Content-Length: {len(body)}"
                )
            )
            assert connection.recv(1024) == b"HTTP/1.1 100 Continue\r\n\r\n"
            connection.sendall(body)
            assert read_answer(connection).status == 201

    def test_head_and_body_of_an_answer_are_one_packet(self, bakery: Address) -> None:
        with connect(bakery) as connection:
            connection.sendall(request("GET", "/health"))
            assert connection.recv(65_536).endswith(b"}")

    def test_an_answer_to_head_needs_no_body_to_be_sent(self, bakery: Address) -> None:
        with connect(bakery) as connection:
            for _ in range(2):
                connection.sendall(request("HEAD", "/health"))
                assert connection.recv(65_536).startswith(b"HTTP/1.1 200 ")

    @pytest.mark.parametrize("framing", ["declared", "chunked"])
    def test_a_body_above_the_limit_is_too_large(self, bakery: Address, framing: str) -> None:
        body = b'{"name": "' + b"a" * MAX_BODY_BYTES + b'"}'
        headers = ["Transfer-Encoding: chunked"] if framing == "chunked" else []
        raw = request(
            "POST", "/loaves", ALICE, JSON, *headers, body=body if framing == "declared" else chunked(body)
        )
        assert refusal(exchange(bakery, raw)) == (413, "Too large")

    def test_a_connection_closed_in_the_middle_hurts_nobody(
        self, bakery: Address, caplog: pytest.LogCaptureFixture
    ) -> None:
        with connect(bakery) as connection:
            connection.sendall(request("POST", "/loaves", ALICE, JSON, "Content-Length: 99", body=b"{"))
            connection.shutdown(socket.SHUT_WR)
            connection.recv(1)
        assert exchange(bakery, request("GET", "/health")).status == 200
        assert "unhandled" not in caplog.text

    def test_a_connection_serves_on_after_refusals(self, bakery: Address) -> None:
        with connect(bakery) as connection:
            for raw, status in (
                (request("POST", "/loaves", ALICE, JSON, body=b"{"), 400),
                (request("GET", "/nowhere"), 404),
                (request("GET", "/health"), 200),
            ):
                connection.sendall(raw)
                assert read_answer(connection).status == status


class TestUpgradeOffers:
    OFFER = (
        "Connection: Upgrade, HTTP2-Settings",
        "HTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA",
    )

    @pytest.mark.parametrize("protocol", ["h2c", "websocket"])
    def test_are_declined_by_serving_the_request(self, bakery: Address, protocol: str) -> None:
        answer = exchange(bakery, request("GET", "/health", *self.OFFER, f"Upgrade: {protocol}"))
        assert answer.json == {"status": "ok"}

    def test_do_not_lose_the_body(self, bakery: Address) -> None:
        body = b'{"name": "a"}'
        headers = (ALICE, JSON, *self.OFFER, "Upgrade: h2c")
        raw = request("POST", "/loaves", *headers, body=body)
        in_chunks = request("POST", "/loaves", *headers, "Transfer-Encoding: chunked")
        assert exchange(bakery, raw).status == 201
        assert exchange(bakery, raw[:60], raw[60:-5], raw[-5:]).status == 201
        assert exchange(bakery, in_chunks, chunked(body)).status == 201

    def test_leave_the_connection_usable(self, bakery: Address) -> None:
        with connect(bakery) as connection:
            for _ in range(3):
                connection.sendall(request("GET", "/health", *self.OFFER, "Upgrade: h2c"))
                assert read_answer(connection).status == 200
