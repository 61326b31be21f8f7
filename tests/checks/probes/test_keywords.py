"""Which keywords are found in which bytes."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st
from webencodings.labels import LABELS

from monitoring.checks.probes.keywords import KeywordSearch

GREETING = "Grüße: Lager verfügbar"
BULK = b" " * 5000
PIECES = st.integers(1, 2000)
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\ufffd\ufeff"))
TYPES = st.text(st.characters(codec="latin-1")) | st.sampled_from(sorted(set(LABELS.values()))).map(
    "text/html; charset={}".format
)
ESCAPES = [b"\x1b", b"$", b"(", b"B", b"I", b"\x8f", b"a"]


def search(
    body: bytes, *keywords: str, content_type: str | None = "text/html", piece_bytes: int = 700
) -> set[str]:
    """Return the keywords that are found in a body which arrives in pieces."""
    searching = KeywordSearch(keywords, lambda status_code: status_code == 200)
    headers = {} if content_type is None else {b"content-type": [content_type.encode()]}
    assert searching.begin(200, headers)
    for position in range(0, len(body), piece_bytes):
        if not searching.read(body[position : position + piece_bytes]):
            break
    return set(searching.finish())


def is_read_as(body: bytes, text: str, content_type: str | None = "text/html") -> bool:
    found = {len(search(body, text, content_type=content_type, piece_bytes=each)) for each in (1, 700, 9000)}
    assert len(found) == 1, "what is found must not depend on how the bytes arrive"
    return bool(found.pop())


class TestKeyword:
    @given(TEXTS.filter(bool), TEXTS, TEXTS, PIECES)
    def test_is_found_wherever_it_stands(self, keyword: str, before: str, after: str, piece: int) -> None:
        body = f"{before}{keyword}{after}".encode()
        assert search(body, keyword, content_type="a/b", piece_bytes=piece) == {keyword}
        assert search(BULK + body, keyword, piece_bytes=piece) == {keyword}

    @given(TEXTS.filter(bool), TEXTS, PIECES)
    def test_is_found_only_where_it_stands(self, keyword: str, text: str, piece: int) -> None:
        found = search(BULK + text.encode(), keyword, piece_bytes=piece)
        assert found == ({keyword} if keyword in " " * 5000 + text else set())

    @pytest.mark.parametrize(
        ("keyword", "text"), [("shop", "the Shop is open"), ("caf\u00e9", "cafe\u0301"), ("x", "")]
    )
    def test_is_not_found_in_another_case_or_composition(self, keyword: str, text: str) -> None:
        assert not is_read_as(text.encode(), keyword)

    @pytest.mark.parametrize("body", [b"k", b"ok", b"ok\n"])
    def test_is_found_in_the_shortest_body(self, body: bytes) -> None:
        assert is_read_as(body, "k")
        assert is_read_as(body, "k", "text/html; charset=utf-8")

    def test_is_one_of_several(self) -> None:
        assert search(b"to be or not", "be", "to", "bee") == {"be", "to"}

    def test_matters_only_with_a_status_that_is_expected(self) -> None:
        assert not KeywordSearch(["be"], lambda _: False).begin(200, {})
        assert not KeywordSearch([], lambda _: True).begin(200, {})

    def test_ends_the_reading_when_each_is_found(self) -> None:
        searching = KeywordSearch(["to", "be"], lambda _: True)
        searching.begin(200, {b"content-type": [b"text/plain"]})
        assert [searching.read(piece) for piece in (b"to ", b"b", b"e or ")] == [True, True, False]


class TestEncoding:
    def test_of_a_byte_order_mark_outranks_everything(self) -> None:
        for mark, encoding in (
            (codecs.BOM_UTF8, "utf-8"),
            (codecs.BOM_UTF16_LE, "utf-16-le"),
            (codecs.BOM_UTF16_BE, "utf-16-be"),
        ):
            body = mark + ("<meta charset=koi8-r>" + GREETING).encode(encoding)
            assert is_read_as(body, GREETING, "text/html; charset=windows-1251")

    def test_of_the_header_outranks_what_the_page_declares(self) -> None:
        body = b"<meta charset=utf-8>" + GREETING.encode("latin-1")
        assert is_read_as(body, GREETING, "text/html; charset=latin1")
        assert not is_read_as(body, GREETING, "text/html; charset=unheard-of")

    @pytest.mark.parametrize(
        "declaration",
        [
            b"<meta charset=windows-1251>",
            b'<META\n CharSet = "windows-1251" />',
            b"<meta charset='cp1251'/>",
            b'<meta http-equiv="Content-Type" content="text/html; charset=windows-1251">',
            b"<meta content='a>b;charset=x-cp1251' http-equiv=content-type>",
            b'<!-- <meta charset="utf-8"> --><meta charset=windows-1251>',
            b'<a title="<meta charset=utf-8>"><meta charset=windows-1251>',
            b"<meta charset=unheard-of><meta charset=windows-1251>",
            b"<!--><meta charset=windows-1251><!-- -->",
            b'<?xml version="1.0" encoding="windows-1251"?>',
            b"<?xml version='1.0' encoding='utf-8'?><meta charset=windows-1251>",
        ],
    )
    @pytest.mark.parametrize("content_type", [None, "text/html", "application/xhtml+xml"])
    def test_is_what_the_page_declares(self, declaration: bytes, content_type: str | None) -> None:
        page = b"<!doctype html>" if b"xml" not in declaration else b""
        for body in (page + declaration, page + declaration + BULK):
            assert is_read_as(body + "Привет".encode("cp1251"), "Привет", content_type)

    @pytest.mark.parametrize(
        "declaration",
        [
            b" " * 1010 + b"<meta charset=windows-1251>",
            b"<meta name=charset content=windows-1251>",
            b"<meta name=a content='text/html; charset=windows-1251'>",
            b"<metadata charset=windows-1251>",
            b' <?xml version="1.0" encoding="windows-1251"?>',
        ],
    )
    def test_is_not_what_only_looks_like_a_declaration(self, declaration: bytes) -> None:
        assert not is_read_as(declaration + "Привет".encode("cp1251"), "Привет")
        assert is_read_as(declaration + GREETING.encode(), GREETING)

    def test_is_not_declared_by_what_is_no_page(self) -> None:
        body = b'{"a": "<meta charset=windows-1251>", "b": "%b"}' % GREETING.encode()
        assert is_read_as(body, GREETING, "application/json")

    def test_is_not_utf_16_because_a_page_that_can_be_read_says_so(self) -> None:
        assert is_read_as(b"<meta charset=utf-16>" + GREETING.encode(), GREETING)
        assert is_read_as(b'<?xml version="1.0" encoding="UTF-16"?>' + GREETING.encode(), GREETING)
        assert is_read_as(b"<meta charset=x-user-defined>" + GREETING.encode("cp1252"), GREETING)

    @pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
    def test_is_utf_16_if_an_xml_declaration_is_written_in_it(self, encoding: str) -> None:
        body = f'<?xml version="1.0"?><p>{GREETING}</p>'.encode(encoding)
        assert is_read_as(body, GREETING, "application/xml")

    @pytest.mark.parametrize("encoding", ["utf-8", "cp1252"])
    @pytest.mark.parametrize("content_type", [None, "text/plain", "text/html"])
    def test_that_nothing_names_is_utf_8_or_else_windows_1252(
        self, encoding: str, content_type: str | None
    ) -> None:
        body = f"{GREETING} 5 €".encode(encoding)
        for where in (body, BULK + body + BULK):
            assert is_read_as(where, GREETING, content_type)
            assert is_read_as(where, "5 €", content_type)
            assert not is_read_as(where, GREETING.encode().decode("latin-1"), content_type)

    def test_that_nothing_names_stays_utf_8_in_spite_of_a_broken_byte(self) -> None:
        assert is_read_as(BULK + GREETING.encode() + b"\xff" + "schön".encode(), "schön")

    @pytest.mark.parametrize("label", ["zlib", "idna", "rot13", "utf-7", "unicode_escape", "raw", "'utf-8'"])
    def test_is_never_one_that_browsers_do_not_know(self, label: str) -> None:
        assert is_read_as(GREETING.encode(), GREETING, f"text/html; charset={label}")
        assert is_read_as(f"<meta charset={label}>{GREETING}".encode(), GREETING)

    # From the indexes of the Encoding standard.
    @pytest.mark.parametrize(
        ("label", "body", "text"),
        [
            ("EUC-JP", b"\xad\xa1\xad\xea\xb3\xf4 \xfc\xfe", "①㈱株 \uff02"),
            ("EUC-JP", b"10\xa1\xc120\xa1\xdd \x8e\xb1 \x8f\xb0\xa1", "10\uff5e20\uff0d ｱ 丂"),
            ("ISO-2022-JP", b"\x1b$B-!-j3t\x1b(B 10\x1b$B!A\x1b(B20 \x1b(I1\x1b(J\\", "①㈱株 10\uff5e20 ｱ¥"),
            ("Shift_JIS", b"\x87\x40\x87\x8a \xfa\xb1 10\x81\x6020", "①㈱ 﨑 10\uff5e20"),
            ("gb2312", b"\x80 5 \xa2\xe3 \x81\x40 \xa3\xa0", "€ 5 € 丂 \u3000"),
            ("GB18030", b"\x80 5 \xa2\xe3 \x81\x30\x84\x36", "€ 5 € ¥"),
            ("Big5", b"\xa3\xe1 5 \xa1\xe3 \xa2\x44 \xa1\x45 \x88\x62 \xf9\xd6", "€ 5 \uff5e ￥ ‧ Ê̄ 碁"),
            ("EUC-KR", b"\xa2\xe6 \x8c\x63 \xb0\xa1", "€ 똠 가"),
            ("KOI8-U", b"\xae\xbe\xa4", "ўЎє"),
            ("windows-874", b"\x80 \xa1", "€ ก"),
            ("latin1", b"\x80", "€"),
            ("macintosh", b"\xdb", "€"),
            ("x-mac-ukrainian", b"\xa2\xff", "Ґ€"),
            ("logical", b"\xf9", "ש"),
            ("x-user-defined", b"a\x80", "a\uf780"),
        ],
    )
    def test_is_read_as_browsers_do(self, label: str, body: bytes, text: str) -> None:
        assert is_read_as(body, text, f"text/html; charset={label}")

    @pytest.mark.parametrize(
        ("label", "body", "text"),
        [
            ("EUC-JP", b"\xad<b>", "\ufffd<b>"),
            ("EUC-JP", b"\xa2\xaf<b>", "\ufffd<b>"),
            ("ISO-2022-JP", b"\x1b[0m \x1b(Ir<", "\ufffd[0m \ufffdｼ"),
            ("ISO-2022-JP", b"\x1b$(\x1b$($\x1b$a \x1b$B-!", "$a ①"),
            ("gbk", b"\xff\x80", "\ufffd€"),
            ("windows-1253", b"\xaaA", "\ufffdA"),
        ],
    )
    def test_does_not_hide_what_follows_a_fault(self, label: str, body: bytes, text: str) -> None:
        assert is_read_as(body, text, f"text/html; charset={label}")

    @given(TYPES, st.binary(max_size=1100) | st.lists(st.sampled_from(ESCAPES)).map(b"".join), PIECES)
    def test_of_whatever_comes_is_found_without_failing(self, value: str, body: bytes, piece: int) -> None:
        searching = KeywordSearch(["ok"], lambda _: True)
        searching.begin(200, {b"content-type": [value.encode("latin-1")]})
        for position in range(0, len(body), piece):
            searching.read(body[position : position + piece])
        searching.finish()
