"""Searches a page for keywords as it arrives, in the encoding that browsers would use."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from webencodings import UTF8, Encoding, IncrementalDecoder

from monitoring.checks.probes.charsets import (
    DECLARING_BYTES,
    find_declared_encoding,
    find_named_encoding,
    may_declare_encoding,
)
from monitoring.checks.probes.decoding import decode_as_browsers
from monitoring.monitors.shown_text import shorten
from monitoring.outbound.exchanges import Headers

SHOWN_KEYWORD_CHARACTERS = 100

_REPLACED = "\N{REPLACEMENT CHARACTER}"


def quote_keyword(keyword: str) -> str:
    """Return a keyword in quotation marks, on one line, shortened if it is long."""
    return f'"{shorten(keyword, SHOWN_KEYWORD_CHARACTERS)}"'


def decode_body(body: bytes, content_type: str) -> str:
    """Decode a complete body, choosing the encoding in the same way as the keyword search."""
    encoding = find_named_encoding(content_type)
    if not encoding and may_declare_encoding(content_type):
        encoding = find_declared_encoding(body)
    if encoding:
        return IncrementalDecoder(decode_as_browsers(encoding)).decode(body, final=True)
    text = IncrementalDecoder(UTF8).decode(body, final=True)
    return text if _REPLACED not in text else IncrementalDecoder("windows-1252").decode(body, final=True)


class KeywordSearch:
    """Reads a body until every keyword is found, or to the end of the body if `reads_all`.

    A keyword must match exactly, including upper and lower case. There is no Unicode normalization.
    `is_expected` returns whether to search the body of a response with this status.
    """

    def __init__(
        self, keywords: Iterable[str], is_expected: Callable[[int], bool], *, reads_all: bool = False
    ) -> None:
        self._keywords = frozenset(keywords)
        self._is_expected = is_expected
        self._reads_all = reads_all
        self._beginning = b""
        self._text: _Text | _UndeclaredText | None = None

    def finish(self) -> frozenset[str]:
        """Search the rest of the text that was read, and return all keywords that were found."""
        text = self._text or self._begin_text(find_declared_encoding(self._beginning))
        text.read(b"", is_last=True)
        return text.found

    # `HttpClient` calls the following methods.

    def begin(self, status_code: int, headers: Headers) -> bool:
        """Return whether to read the body."""
        if not (self._keywords or self._reads_all) or not self._is_expected(status_code):
            return False
        content_type = headers.get(b"content-type", [b""])[-1].decode("latin-1")
        encoding = find_named_encoding(content_type)
        if encoding or not may_declare_encoding(content_type):
            self._begin_text(encoding)
        return True

    def read(self, piece: bytes) -> bool:
        """Search a piece of the body, or store it until the page's encoding is known.

        Return whether to read the next piece.
        """
        if text := self._text:
            text.read(piece)
        else:
            self._beginning += piece
            if len(self._beginning) < DECLARING_BYTES:
                return True
            text = self._begin_text(find_declared_encoding(self._beginning))
        return self._reads_all or text.found != self._keywords

    def _begin_text(self, encoding: Encoding | None) -> _Text | _UndeclaredText:
        if encoding:
            self._text = _Text(self._keywords, decode_as_browsers(encoding))
        else:
            self._text = _UndeclaredText(self._keywords)
        self._text.read(self._beginning)
        return self._text


class _Text:
    """Text in an encoding. Only the end of the text is kept, because a keyword may have started there."""

    def __init__(self, keywords: frozenset[str], encoding: Encoding | str) -> None:
        self._missing = set(keywords)
        self._keywords = keywords
        self._decoder = IncrementalDecoder(encoding)
        self._kept_characters = max(map(len, keywords), default=1) - 1
        self._end = ""

    @property
    def found(self) -> frozenset[str]:
        return self._keywords - self._missing

    def read(self, piece: bytes, *, is_last: bool = False) -> str:
        text = self._end + self._decoder.decode(piece, final=is_last)
        self._missing = {each for each in self._missing if each not in text}
        self._end = text[-self._kept_characters :] if self._kept_characters else ""
        return text


class _UndeclaredText:
    """Text without a declared encoding. It is searched as UTF-8 and, if that is invalid, as windows-1252 too.

    Browsers guess the encoding from the page's URL or the user's language (HTML standard, "determining the
    character encoding"). For most languages, they choose windows-1252.
    """

    def __init__(self, keywords: frozenset[str]) -> None:
        self._utf_8 = _Text(keywords, UTF8)
        self._windows_1252 = _Text(keywords, "windows-1252")
        self._is_utf_8 = True

    @property
    def found(self) -> frozenset[str]:
        return self._utf_8.found if self._is_utf_8 else self._utf_8.found | self._windows_1252.found

    def read(self, piece: bytes, *, is_last: bool = False) -> None:
        if _REPLACED in self._utf_8.read(piece, is_last=is_last):
            self._is_utf_8 = False
        self._windows_1252.read(piece, is_last=is_last)
