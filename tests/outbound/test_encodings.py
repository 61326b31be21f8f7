from __future__ import annotations

import gzip
import tracemalloc
import zlib
from functools import partial
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitoring.outbound.encodings import MAX_CODINGS, MAX_GZIP_MEMBERS, Decompressor
from monitoring.outbound.failures import ExchangeFailed, FailureCode

if TYPE_CHECKING:
    from collections.abc import Callable

CAP = 1000

gzipped = partial(gzip.compress, mtime=0)  # the same in every process: ids of tests are made of it


def raw_deflate(body: bytes) -> bytes:
    return zlib.compress(body, wbits=-zlib.MAX_WBITS)


def decompress(body: bytes, encoding: str, max_bytes: int, piece_bytes: int) -> tuple[bytes, bool]:
    """Decompress as it arrives. Return what came out, and whether that is cut."""
    decompressor, decompressed = Decompressor(encoding, max_bytes), b""
    for position in range(0, len(body), piece_bytes):
        decompressed += decompressor.read(body[position : position + piece_bytes])
        if decompressor.is_cut:
            return decompressed, True
    decompressor.end()
    return decompressed, False


def decode(body: bytes, encoding: str, max_bytes: int = CAP) -> bytes:
    """Decompress at once and in the smallest pieces, which must be the same."""
    at_once, byte_by_byte = (decompress(body, encoding, max_bytes, size) for size in (len(body) or 1, 1))
    assert at_once == byte_by_byte == (at_once[0], False)
    return at_once[0]


class TestDecoding:
    @given(st.binary(max_size=CAP))
    def test_brings_back_what_was_encoded(self, body: bytes) -> None:
        assert decode(body, "", CAP) == body
        assert decode(body, "identity", CAP) == body
        assert decode(gzipped(body), "gzip", CAP) == body
        assert decode(gzipped(body), "X-GZIP ", CAP) == body
        assert decode(zlib.compress(body), "deflate", CAP) == body
        assert decode(raw_deflate(body), "deflate", CAP) == body

    @given(st.lists(st.binary(max_size=CAP // 4), min_size=1, max_size=4))
    def test_joins_all_members_of_a_gzip_file(self, parts: list[bytes]) -> None:
        assert decode(b"".join(map(gzipped, parts)), "gzip", CAP) == b"".join(parts)

    def test_ignores_what_follows_and_is_no_member(self) -> None:
        assert decode(gzipped(b"a") + bytes(8), "gzip", CAP) == b"a"
        assert decode(gzipped(b"a") + b"\x1f" + gzipped(b"b"), "gzip", CAP) == b"a"
        assert decode(zlib.compress(b"a") + gzipped(b"b"), "deflate", CAP) == b"a"

    @pytest.mark.parametrize("encoding", ["gzip, identity", "identity,gzip", ", Gzip ,,IDENTITY"])
    def test_takes_identity_for_no_coding(self, encoding: str) -> None:
        assert decode(gzipped(b"body"), encoding, CAP) == b"body"

    @pytest.mark.parametrize(
        "encoding",
        ["utf-8", "none", "binary", "charset=utf-8", "ISO-8859-1", "aws-chunked", "utf-8, identity"],
    )
    def test_ignores_what_is_no_coding(self, encoding: str) -> None:
        assert decode(b"body", encoding) == b"body"
        assert decode(gzipped(b"body"), f"{encoding}, gzip") == b"body"
        assert decode(gzipped(b"body"), f"gzip,{encoding}") == b"body"

    @given(st.lists(st.sampled_from(["gzip", "deflate"]), max_size=MAX_CODINGS))
    def test_undoes_several_codings_the_last_one_first(self, codings: list[str]) -> None:
        packed = b"body"
        for coding in codings:
            packed = gzipped(packed) if coding == "gzip" else zlib.compress(packed)
        assert decode(packed, ", ".join(codings)) == b"body"

    def test_takes_a_limited_number_of_codings(self) -> None:
        with pytest.raises(ExchangeFailed, match="compressed more than 5 times"):
            Decompressor(", ".join(["gzip"] * (MAX_CODINGS + 1)), CAP)

    def test_takes_a_limited_number_of_members(self) -> None:
        member = gzipped(b"a")
        assert decode(member * MAX_GZIP_MEMBERS, "gzip", CAP) == b"a" * MAX_GZIP_MEMBERS
        with pytest.raises(ExchangeFailed, match="compressed in more than 256 parts") as raised:
            decode(member * (MAX_GZIP_MEMBERS + 1), "gzip", CAP)
        assert raised.value.failure.code == FailureCode.INVALID_RESPONSE

    @pytest.mark.parametrize("encoding", ["gzip", "deflate"])
    def test_takes_nothing_for_nothing(self, encoding: str) -> None:
        assert decode(b"", encoding, CAP) == b""

    @pytest.mark.parametrize(
        ("body", "encoding"),
        [
            (gzipped(b"a" * (CAP + 1)), "gzip"),
            (gzipped(b"a" * CAP) + gzipped(b"a"), "gzip"),
            (gzipped(b"a" * 600) * 2, "gzip"),
            (zlib.compress(b"a" * (CAP + 1)), "deflate"),
            (b"a" * (CAP + 1), ""),
        ],
    )
    def test_stops_above_the_cap(self, body: bytes, encoding: str) -> None:
        for piece_bytes in (len(body), 1):
            assert decompress(body, encoding, CAP, piece_bytes) == (b"a" * CAP, True)

    @pytest.mark.parametrize(
        ("make_bomb", "encoding"),
        [
            (lambda: gzipped(b"small") + gzipped(bytes(100_000_000)), "gzip"),
            (lambda: gzipped(gzipped(bytes(100_000_000))), "gzip, gzip"),
            (lambda: gzipped(gzipped(b"small") + bytes(100_000_000)), "gzip, gzip"),
        ],
        ids=["members", "twice", "behind the end"],
    )
    def test_never_inflates_a_bomb(self, make_bomb: Callable[[], bytes], encoding: str) -> None:
        bomb = make_bomb()
        tracemalloc.start()
        try:
            assert decompress(bomb, encoding, 1_000_000, len(bomb))[1]
            _, peak_bytes = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert peak_bytes < 25_000_000

    @pytest.mark.parametrize(
        ("body", "encoding"),
        [
            (b"no gzip at all", "gzip"),
            (gzipped(b"a" * 500)[:-10], "gzip"),
            (gzipped(b"a")[:-1], "gzip"),
            (gzipped(b"a") + gzipped(b"a" * 500)[:-10], "gzip"),
            (b"\xff" * 20, "deflate"),
            (b"body", "br"),
            (b"body", "utf-8, ZSTD"),
            (gzipped(b"a"), "gzip, gzip"),
        ],
    )
    def test_refuses_what_is_broken_or_was_not_asked_for(self, body: bytes, encoding: str) -> None:
        for piece_bytes in (len(body), 1):
            with pytest.raises(ExchangeFailed) as raised:
                decompress(body, encoding, CAP, piece_bytes)
            assert raised.value.failure.code == FailureCode.INVALID_RESPONSE
