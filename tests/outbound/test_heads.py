from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitoring.outbound.failures import ExchangeFailed, FailureCode
from monitoring.outbound.heads import (
    MAX_LINES,
    Head,
    check_beginning,
    find_end,
    find_length,
    is_chunked,
    read_head,
)

OK = b"HTTP/1.1 200 OK\r\n"


def head(*lines: bytes) -> Head:
    return read_head(OK + b"".join(line + b"\r\n" for line in lines) + b"\r\n")


class TestStatus:
    @pytest.mark.parametrize(
        ("line", "status_code"),
        [
            (b"HTTP/1.1 204 No Content", 204),
            (b"HTTP/1.1 200", 200),
            (b"HTTP/1.1  200 OK", 200),
            (b"HTTP/1.1\t200 OK", 200),
            (b"HTTP/1.1 200OK", 200),
            (b"http/1.0 200 ok", 200),
            (b"HTTP/2 200", 200),
            (b"HTTP/1 200 OK", 200),
            (b"HTTP 200 OK", 200),
            (b"HTTP/9.9 200 OK", 200),
            (b"HTTP/1.1 999 What", 999),
            (b"ICY 200 OK", 200),
            (b"\r\nHTTP/1.1 200 OK", 200),
            (b"\r\n\r\nHTTP/1.1 200 OK", 200),
            (b"0\r\nHTTP/1.1 200 OK", 200),
        ],
    )
    def test_is_read_as_chromium_reads_it(self, line: bytes, status_code: int) -> None:
        written = line + b"\r\nX-A: b\r\n\r\n"
        assert read_head(written) == (status_code, {b"x-a": [b"b"]})
        assert find_end(written, 0) == len(written)

    @pytest.mark.parametrize(
        "line",
        [b"HTTP/1.1 OK", b"HTTP/1.1 20 OK", b"HTTP/1.1 2000 OK", b"HTTP/1.1 099 Low", b"HTTP/1.1200 OK"],
    )
    def test_has_three_digits(self, line: bytes) -> None:
        with pytest.raises(ExchangeFailed, match="no valid status"):
            read_head(line + b"\r\n\r\n")

    @pytest.mark.parametrize(
        "received", [b"SSH-2.0-OpenSSH_9.2p1", b"<html>hello", b"220 mail.example", b"12345HTTP/1.1 200 OK"]
    )
    def test_is_missing_from_what_does_not_begin_like_a_head(self, received: bytes) -> None:
        with pytest.raises(ExchangeFailed, match="not HTTP") as raised:
            check_beginning(received)
        assert raised.value.failure.code == FailureCode.INVALID_RESPONSE

    @pytest.mark.parametrize("received", [b"", b"HT", b"\r\nHT", b"\r\n\r\nHTT", OK])
    def test_may_still_come(self, received: bytes) -> None:
        check_beginning(received)


class TestHeader:
    @pytest.mark.parametrize(
        ("line", "headers"),
        [
            (b"X-A: b", {b"x-a": [b"b"]}),
            (b"X-A:b \t", {b"x-a": [b"b"]}),
            (b"X-A : b", {b"x-a": [b"b"]}),
            (b"X A B: c", {b"x a b": [b"c"]}),
            (b"X(A)/B: c", {b"x(a)/b": [b"c"]}),
            ("X-Ä: ö".encode(), {"x-Ä".encode(): ["ö".encode()]}),
            (b"X-A:", {b"x-a": [b""]}),
            (b"X-A: b\x00\x01", {b"x-a": [b"b\x00\x01"]}),
            (b"X-A: b\r\nx-a: c", {b"x-a": [b"b", b"c"]}),
            (b"X-A: b\r\n  c\r\n\td", {b"x-a": [b"b c d"]}),
            (b" X-A: b", {}),
            (b": b", {}),
            (b"nonsense", {}),
        ],
    )
    def test_is_read_however_it_is_written(self, line: bytes, headers: dict[bytes, list[bytes]]) -> None:
        assert head(line).headers == headers
        assert read_head((OK + line + b"\r\n\r\n").replace(b"\r", b"")).headers == headers

    def test_is_one_of_a_limited_number(self) -> None:
        assert len(head(*[b"a: b"] * (MAX_LINES - 2)).headers[b"a"]) == MAX_LINES - 2
        with pytest.raises(ExchangeFailed, match="more than 5,000 lines"):
            head(*[b"a: b"] * (MAX_LINES - 1))

    @given(st.binary(max_size=200))
    def test_is_read_or_refused_whatever_comes(self, rest: bytes) -> None:
        names = read_head(OK + rest).headers
        assert not any(name != name.strip(b" \t\r") or b"\n" in name for name in names)

    @pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
    def test_ends_before_the_first_empty_line_however_it_arrives(self, newline: bytes) -> None:
        written = newline.join([b"HTTP/1.1 200 OK", b"X-A: b", b"", b"body", b"", b""])
        end = written.index(b"body")
        assert find_end(written, 0) == end
        for length in range(end):
            assert find_end(written[:length], 0) is None
            assert find_end(written, length) == end


class TestLength:
    @pytest.mark.parametrize(
        ("lines", "length"),
        [
            ([b"Content-Length: 2"], 2),
            ([b"Content-Length: 2", b"Content-Length: 2"], 2),
            ([b"Content-Length: 2, 2"], 2),
            ([b"Content-Length : 2"], 2),
            ([b"Content-Length: 002", b"Content-Length: many"], 2),
            ([], None),
            ([b"Content-Length:"], None),
            ([b"Content-Length: -2"], None),
            ([b"Content-Length: 2 bytes"], None),
            ([b"Content-Length: " + b"9" * 5000], None),
        ],
    )
    def test_is_a_number_or_unknown(self, lines: list[bytes], length: int | None) -> None:
        assert find_length(head(*lines)) == length

    @pytest.mark.parametrize(
        "lines", [[b"Content-Length: 2, 3"], [b"Content-Length: 2", b"Content-Length: 3"]]
    )
    def test_is_only_one(self, lines: list[bytes]) -> None:
        with pytest.raises(ExchangeFailed, match="two different lengths"):
            find_length(head(*lines))

    @pytest.mark.parametrize(
        ("value", "comes_in_chunks"),
        [
            (b"chunked", True),
            (b"Chunked", True),
            (b"gzip, chunked", True),
            (b"identity, chunked", True),
            (b"identity", False),
            (b"unchunked", False),
        ],
    )
    def test_does_not_matter_for_chunks(self, value: bytes, *, comes_in_chunks: bool) -> None:
        assert is_chunked(head(b"Transfer-Encoding: " + value)) == comes_in_chunks
