"""Sends hostile HTTP to the real service over a plain socket: methods, paths, framing and sizes.

Invalid requests get a documented error. Unusual but valid requests are served like any others.
"""

from __future__ import annotations

import logging
import socket
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from insider import Insider, look_at_what_is_stored
from monitoring.contract.document import METHODS, published_document
from raw_http import Answer, chunked, connect, exchange, read_answer, request
from running_service import WEBHOOK_SECRET

if TYPE_CHECKING:
    from collections.abc import Iterator

    from running_service import RunningService

DOCUMENT = published_document()
BODY_OPERATIONS = ["issue_token", "create_monitor", "update_monitor", "deliver_article"]

MONITOR = b'{"url": "https://shop.example.com/"}'
MAX_BODY_BYTES = 1_048_576


class TestMethods:
    @pytest.mark.parametrize("path", DOCUMENT.root["paths"])
    def test_that_a_path_does_not_know_are_answered_with_all_it_knows(
        self, insider: Insider, path: str
    ) -> None:
        known = {name.upper() for name in DOCUMENT.root["paths"][path] if name in METHODS}
        known |= {"HEAD"} if "GET" in known else set()
        odd = {"COPY", "LINK", "M-SEARCH", "PROPFIND", "PURGE", "QUERY", "SOURCE", *map(str.upper, METHODS)}
        for method in sorted(odd - known - {"HEAD"}):
            answer = exchange(insider.address, request(method, path.replace("{", "").replace("}", "")))
            assert insider.refusal(answer) == "method_not_allowed"
            assert answer.headers["allow"] == ", ".join(sorted(known))

    def test_head_is_no_exception(self, insider: Insider) -> None:
        answer = exchange(insider.address, request("HEAD", "/api/oauth/token"))
        assert (answer.status, answer.headers["allow"], answer.body) == (405, "POST", b"")

    @pytest.mark.parametrize("method", ["BREW", "CONNECT", "get", "GE\xffT", "X" * 100_000])
    def test_that_nobody_knows_are_malformed(self, insider: Insider, method: str) -> None:
        answer = exchange(insider.address, request(method, "/health"))
        assert insider.refusal(answer) == "malformed_request"


class TestPaths:
    OTHER_SPELLINGS = r"""
        // * //health /health/ /health// /./health /api/../health /health%2F /health%252F /%2Fhealth
        /health%20 /health%5C /\health /HEALTH /health;a=b /api%2Fmonitors /api/monitors/
        /api/monitors/a/b http://test//health
    """
    UNREADABLE = """
        /% /%zz /health% /health%0 /health%00 /health%0A /health%ff /h%c0%afealth /api/monitors/%ed%a0%80
        /h\xe9 health ? http:// http:///health
    """
    UNUSUAL = "/%68ealth /health? /health#part http://test/health https://u:p@other.example:99/health"

    @pytest.mark.parametrize("target", OTHER_SPELLINGS.split())
    def test_have_one_spelling(self, insider: Insider, target: str) -> None:
        assert insider.refusal(exchange(insider.address, request("GET", target))) == "not_found"

    @pytest.mark.parametrize("target", UNREADABLE.split())
    def test_that_cannot_be_read_are_malformed(self, insider: Insider, target: str) -> None:
        assert insider.refusal(exchange(insider.address, request("GET", target))) == "malformed_request"

    @pytest.mark.parametrize(
        "no_id",
        ["1", "%7Bid%7D", "..", "'--", "a" * 50_000, "%F0%9F%90%8C", "%25", "%252F"],
        ids=lambda text: text[:9],
    )
    def test_with_an_id_that_is_none_name_nothing(self, insider: Insider, no_id: str) -> None:
        monitor = exchange(insider.address, insider.write("get_monitor", monitor_id=no_id))
        assert insider.refusal(monitor, "get_monitor") == "monitor_not_found"
        article = exchange(insider.address, insider.write("get_article", article_id=no_id))
        assert insider.refusal(article, "get_article") == "article_not_found"

    @pytest.mark.parametrize("target", UNUSUAL.split())
    def test_in_an_unusual_form_are_served(self, insider: Insider, target: str) -> None:
        assert exchange(insider.address, request("GET", target)).status == 200


class TestFraming:
    @pytest.mark.parametrize(
        "raw",
        [
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
            b"\x00" * 100,
            b"GET\r\n\r\n",
            b"GET /health HTTP/9.9\r\n\r\n",
            b"GET /health HTTP/1.1\nHost: test\n\n",
            b"GET /health HTTP/1.1\r\nHost : test\r\n\r\n",
            b"GET /health HTTP/1.1\r\n folded: yes\r\n\r\n",
            b"GET /health HTTP/1.1\r\nno colon\r\n\r\n",
            b"GET /health HTTP/1.1\r\nX: a\x00b\r\n\r\n",
            b"GET /health HTTP/1.1\r\nX: a\rb\r\n\r\n",
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
            b"POST /api/oauth/token HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
            b"POST /api/oauth/token HTTP/1.1\r\nContent-Length: +1\r\n\r\na",
            b"POST /api/oauth/token HTTP/1.1\r\nContent-Length: 1, 1\r\n\r\na",
            b"POST /api/oauth/token HTTP/1.1\r\nContent-Length: %s\r\n\r\n" % (b"9" * 30),
            b"POST /api/oauth/token HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
            b"POST /api/oauth/token HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\na",
            b"POST /api/oauth/token HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n",
            b"POST /api/oauth/token HTTP/1.1\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
            b"POST /api/oauth/token HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            b"POST /api/oauth/token HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n%s\r\n" % (b"f" * 17),
        ],
    )
    def test_that_is_broken_is_malformed(self, insider: Insider, raw: bytes) -> None:
        answer = exchange(insider.address, raw)
        assert insider.refusal(answer) == "malformed_request"
        assert answer.headers["connection"] == "close"

    @pytest.mark.parametrize(
        "headers",
        [["X-Long: " + "x" * 66_000], ["X-Short: x"] * 6_000],
        ids=["a long header", "many headers"],
    )
    def test_heads_have_a_limit_however_they_arrive(self, insider: Insider, headers: list[str]) -> None:
        raw = request("GET", "/health", *headers)
        assert insider.refusal(exchange(insider.address, raw)) == "malformed_request"
        with connect(insider.address) as connection:
            with suppress(ConnectionError):
                for start in range(0, len(raw), 5000):
                    connection.sendall(raw[start : start + 5000])
            assert insider.refusal(read_answer(connection)) == "malformed_request"

    def test_a_head_within_the_limit_is_served(self, insider: Insider) -> None:
        assert exchange(insider.address, request("GET", "/health", "Cookie: " + "x" * 60_000)).status == 200

    @pytest.mark.parametrize("operation_id", BODY_OPERATIONS)
    def test_a_truncated_body_changes_nothing_and_hurts_nobody(
        self, service: RunningService, insider: Insider, operation_id: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        before = look_at_what_is_stored(service)
        for framing in ("Content-Length: 99", "Transfer-Encoding: chunked"):
            with connect(insider.address) as connection:
                head = insider.write(operation_id, insider.content_type(operation_id), framing)
                connection.sendall(head + b"24\r\n" + MONITOR)
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(4096):
                    pass
        assert exchange(insider.address, request("GET", "/health")).status == 200
        assert look_at_what_is_stored(service) == before
        assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


class TestSizes:
    @pytest.mark.parametrize("operation_id", BODY_OPERATIONS)
    @pytest.mark.parametrize("framing", ["declared", "only declared", "chunked"])
    def test_a_body_above_the_limit_is_too_large(
        self, service: RunningService, insider: Insider, operation_id: str, framing: str
    ) -> None:
        before = look_at_what_is_stored(service)
        body = b"x" * (MAX_BODY_BYTES + 1)
        headers, sent = {
            "declared": ([], body),
            "only declared": ([f"Content-Length: {10**18}"], b""),
            "chunked": (["Transfer-Encoding: chunked"], chunked(body[:9], body[9:])),
        }[framing]
        answer = insider.post(operation_id, sent, insider.content_type(operation_id), *headers)
        assert insider.refusal(answer, operation_id) == "body_too_large"
        assert look_at_what_is_stored(service) == before

    def test_a_body_of_the_very_limit_is_served(self, insider: Insider) -> None:
        start, end = b'{"event": "test", "article": {"content": "', b'"}}'
        body = start + b"x" * (MAX_BODY_BYTES - len(start) - len(end)) + end
        assert insider.post("deliver_article", body).status == 202

    @pytest.mark.parametrize("operation_id", ["get_health", "list_monitors", "get_article"])
    def test_a_body_nobody_asked_for_is_not_read(self, insider: Insider, operation_id: str) -> None:
        plain = exchange(insider.address, insider.write(operation_id))
        answer = exchange(insider.address, insider.write(operation_id, body=b"x" * 2 * MAX_BODY_BYTES))
        assert (answer.status, answer.body) == (plain.status, plain.body)


class TestStrangers:
    @pytest.mark.parametrize("length_bytes", [1, 10**18])
    @pytest.mark.parametrize(
        ("operation_id", "refusal"),
        [
            ("create_monitor", "authorization_missing"),
            ("update_monitor", "authorization_missing"),
            ("deliver_article", "webhook_secret_invalid"),
        ],
    )
    def test_are_refused_before_their_body_is_looked_at(
        self, insider: Insider, operation_id: str, refusal: str, length_bytes: int
    ) -> None:
        operation = DOCUMENT.operations[operation_id]
        target = operation.path.replace("{monitor_id}", "x")
        answer = exchange(
            insider.address, request(operation.method.upper(), target, f"Content-Length: {length_bytes}")
        )
        assert insider.refusal(answer, operation_id) == refusal

    def test_learn_nothing_from_a_body_on_an_unknown_path(self, insider: Insider) -> None:
        answer = exchange(insider.address, request("POST", "/nowhere", f"Content-Length: {10**18}"))
        assert insider.refusal(answer) == "not_found"


class TestSecrets:
    SECRET = "hush-hush-hush-hush-hush"

    def misplaced(self, insider: Insider) -> Iterator[Answer]:
        """Send a secret in each place where it does not belong."""
        secret = self.SECRET.encode()
        yield insider.post("issue_token", b"client_id=a&client_secret=%s" % secret)
        yield insider.post("issue_token", b"client_secret=%s&client_secret=%s" % (secret, secret))
        yield insider.post(
            "issue_token", b'{"client_secret": "%s"}' % secret, "Content-Type: application/json"
        )
        yield insider.post("issue_token", b"grant_type=%s" % secret)
        yield insider.post("issue_token", b"scope=%s" % secret)
        yield insider.post("create_monitor", b'{"url": "https://user:%s@shop.example.com/"}' % secret)
        yield insider.post("create_monitor", MONITOR[:-1] + b', "client_secret": "%s"}' % secret)
        yield insider.post("deliver_article", b'{"article": "%s"}' % secret)
        yield insider.post("deliver_article", b'{"secret": "%s"' % secret)
        for header in ("Authorization: Basic", "Authorization: Bearer", "Idempotency-Key: a", "If-Match:"):
            yield exchange(insider.address, insider.write("delete_monitor", f"{header} {self.SECRET}"))
        yield exchange(insider.address, request("GET", "/api/articles/x", f"X-Webhook-Secret: {self.SECRET}"))
        yield exchange(insider.address, insider.write("list_monitors", query=f"?limit={self.SECRET}"))
        yield exchange(insider.address, insider.write("list_monitors", query=f"?access_token={self.SECRET}"))
        yield exchange(insider.address, request("GET", f"/{self.SECRET}"))
        yield exchange(insider.address, b"GET /health HTTP/1.1\r\n%s\r\n\r\n" % secret)

    def test_are_neither_echoed_nor_logged(self, insider: Insider, caplog: pytest.LogCaptureFixture) -> None:
        with caplog.at_level(logging.DEBUG, "monitoring"):
            for answer in self.misplaced(insider):
                assert 400 <= answer.status < 500
                assert self.SECRET not in str(answer)
        assert self.SECRET not in caplog.text
        assert WEBHOOK_SECRET not in caplog.text


class TestUnusualButRight:
    H2C_OFFER = ("Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABk")

    @pytest.mark.parametrize(
        ("operation_id", "body", "status"),
        [
            ("issue_token", b"client_id=%s&client_secret=%s", 200),
            ("create_monitor", MONITOR, 201),
            ("update_monitor", b'{"paused": true}', 200),
            ("deliver_article", b'{"event": "test", "article": {"title": "Shoes"}}', 202),
        ],
    )
    def test_chunked_bodies_and_upgrade_offers_are_served_like_any_other(
        self, insider: Insider, operation_id: str, body: bytes, status: int
    ) -> None:
        if operation_id == "issue_token":
            body %= (insider.alice.client_id.encode(), insider.alice.client_secret.encode())
        content_type, in_chunks = insider.content_type(operation_id), "Transfer-Encoding: chunked"
        byte_by_byte = chunked(*(body[place : place + 1] for place in range(len(body))))
        assert insider.post(operation_id, chunked(body), content_type, in_chunks).status == status
        assert insider.post(operation_id, byte_by_byte, content_type, in_chunks).status == status
        assert insider.post(operation_id, body, content_type, *self.H2C_OFFER).status == status
        answer = insider.post(operation_id, chunked(body), content_type, in_chunks, *self.H2C_OFFER)
        assert answer.status == status

    def test_what_came_in_chunks_is_what_is_kept(self, insider: Insider) -> None:
        head = insider.write("create_monitor", "Content-Type: application/json", "Transfer-Encoding: chunked")
        answer = exchange(insider.address, head, *(b"1\r\n%c\r\n" % byte for byte in MONITOR), b"0\r\n\r\n")
        assert answer.json["url"] in MONITOR.decode()

    def test_a_connection_serves_on_after_refusals(self, insider: Insider) -> None:
        with connect(insider.address) as connection:
            for _ in range(3):
                connection.sendall(
                    insider.write("create_monitor", insider.content_type("create_monitor"), body=b"{")
                )
                assert insider.refusal(read_answer(connection), "create_monitor") == "malformed_json"
                connection.sendall(request("GET", "/health"))
                assert read_answer(connection).status == 200
