from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitoring.outbound.failures import ExchangeFailed
from monitoring.outbound.framing import MAX_CHUNK_LINE_BYTES, Framing, choose_framing
from monitoring.outbound.heads import Head


def framing(name: bytes = b"", value: bytes = b"") -> Framing:
    return choose_framing(Head(200, {name: [value]} if name else {}))


def chunks() -> Framing:
    return framing(b"transfer-encoding", b"chunked")


def take(frame: Framing, sent: bytes, piece_bytes: int) -> bytes:
    """Take a body out of what arrives in pieces."""
    return b"".join(
        frame.take(sent[position : position + piece_bytes]) for position in range(0, len(sent), piece_bytes)
    )


class TestBody:
    def test_of_a_known_length_ends_with_it(self) -> None:
        frame = framing(b"content-length", b"5")
        assert not frame.may_break_off
        assert take(frame, b"hello and more", 2) == b"hello"
        assert frame.is_over

    def test_without_length_ends_with_its_connection(self) -> None:
        frame = framing()
        assert frame.may_break_off
        assert take(frame, b"hello", 2) == b"hello"
        assert not frame.is_over

    def test_of_no_length_is_over_before_it_begins(self) -> None:
        assert framing(b"content-length", b"0").is_over


class TestChunks:
    @pytest.mark.parametrize(
        "sent",
        [
            b"3\r\nabc\r\n1\r\nd\r\n0\r\nTrailer: yes\r\n\r\n",
            b"3\nabc\n1\nd\n0\n\n",
            b"3 \r\nabc\r\n01 \t\r\nd\r\n0\r\n\r\n",
            b'3;x="y"\r\nabc\r\n1 ; z\r\nd\r\n0;end\r\n\r\n',
            b"3\r\nabc1\r\nd0\r\n",
            b"00000000004\r\nabcd\r\n0000\r\n",
        ],
    )
    @pytest.mark.parametrize("piece_bytes", [1, 2, 5, 100])
    def test_are_joined_however_they_arrive(self, sent: bytes, piece_bytes: int) -> None:
        frame = chunks()
        assert take(frame, sent, piece_bytes) == b"abcd"
        assert frame.is_over
        assert not frame.may_break_off

    @given(st.lists(st.binary(min_size=1, max_size=50), max_size=9), st.integers(min_value=1, max_value=60))
    def test_bring_back_what_was_divided(self, parts: list[bytes], piece_bytes: int) -> None:
        sent = b"".join(b"%X\r\n%b\r\n" % (len(part), part) for part in [*parts, b""])
        frame = chunks()
        assert take(frame, sent, piece_bytes) == b"".join(parts)
        assert frame.is_over

    @pytest.mark.parametrize(
        "sent", [b"zz\r\n", b"-1\r\n", b"0x1\r\n", b"\r\n\r\n", b"1\r\na\r\n\r\n", b"1" * 17 + b"\n"]
    )
    @pytest.mark.parametrize("piece_bytes", [1, 100])
    def test_without_a_size_are_refused(self, sent: bytes, piece_bytes: int) -> None:
        with pytest.raises(ExchangeFailed, match="not HTTP"):
            take(chunks(), sent, piece_bytes)

    def test_have_lines_of_a_limited_length(self) -> None:
        assert chunks().take(b"1;" + b"x" * (MAX_CHUNK_LINE_BYTES - 2)) == b""
        with pytest.raises(ExchangeFailed, match="not HTTP"):
            chunks().take(b"1;" + b"x" * (MAX_CHUNK_LINE_BYTES - 1))
