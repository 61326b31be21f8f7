from __future__ import annotations

from importlib.metadata import version

import pytest

from monitoring.outbound.redirects import Hop
from monitoring.outbound.request_bytes import OUR_HEADERS, write_request
from monitoring.outbound.targets import read_target


def write(method: str = "GET", body: bytes | None = None, headers: dict[str, str] | None = None) -> bytes:
    return write_request(Hop(read_target("http://shop.example:8080/a?b=c"), method, headers or {}, body))


class TestRequest:
    def test_is_http_1_1_on_a_connection_of_its_own(self) -> None:
        assert (
            write()
            == (
                b"GET /a?b=c HTTP/1.1\r\n"
                b"Host: shop.example:8080\r\n"
                b"User-Agent: monitoring-service/%b\r\n"
                b"Accept: */*\r\n"
                b"Accept-Encoding: gzip, deflate\r\n"
                b"Connection: close\r\n"
                b"\r\n"
            )
            % version("monitoring-service").encode()
        )

    def test_has_the_headers_of_the_caller_in_latin_1(self) -> None:
        written = write(headers={"User-Agent": "mine", "accept": "text/html", "X-Name": "ü"})
        assert b"\r\nUser-Agent: mine\r\n" in written
        assert b"\r\naccept: text/html\r\nX-Name: \xfc\r\n" in written
        assert b"monitoring-service" not in written
        assert b"*/*" not in written

    @pytest.mark.parametrize("name", sorted(OUR_HEADERS))
    def test_does_not_let_the_caller_frame_it(self, name: str) -> None:
        assert write(headers={name.title(): "injected"}) == write()

    @pytest.mark.parametrize(
        ("method", "body", "length"),
        [
            ("GET", None, None),
            ("HEAD", None, None),
            ("DELETE", None, None),
            ("POST", None, b"0"),
            ("PUT", b"", b"0"),
            ("PATCH", b"abc", b"3"),
            ("GET", b"abc", b"3"),
        ],
    )
    def test_tells_the_length_of_its_body(
        self, method: str, body: bytes | None, length: bytes | None
    ) -> None:
        head, _, written = write(method, body).partition(b"\r\n\r\n")
        assert written == (body or b"")
        assert (b"\r\nContent-Length: " in head) == (length is not None)
        if length is not None:
            assert b"\r\nContent-Length: " + length + b"\r\n" in head

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("X-A", "a\r\nX-B: b"),
            ("X-A", "a\0"),
            ("X-A", "€"),
            ("X A", "a"),
            ("X-A:", "a"),
            ("", "a"),
            ("X\n", "a"),
        ],
    )
    def test_is_not_written_with_what_is_no_header(self, name: str, value: str) -> None:
        with pytest.raises(ValueError, match="not a header"):
            write(headers={name: value})

    @pytest.mark.parametrize("method", ["", "GET /", "G\r\nET"])
    def test_is_not_written_with_what_is_no_method(self, method: str) -> None:
        with pytest.raises(ValueError, match="not a method"):
            write(method)
