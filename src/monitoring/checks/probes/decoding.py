"""Decodes pages as browsers do, even in encodings where Python's codecs differ from the Encoding standard.

Importing this module registers an error handler for codecs.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from functools import cache, partial

from webencodings import Encoding

# The maximum number of characters per page that are decoded here because Python's codecs do not know them.
# Most pages contain few such characters. A hostile page may contain many, and each takes a microsecond.
MAX_ADDED_CHARACTERS = 10_000


@cache
def decode_as_browsers(encoding: Encoding) -> Encoding:
    """Return an encoding whose decoder decodes as browsers do. Most encodings are returned unchanged."""
    if decoder := _DECODERS.get(encoding.name):
        codec = encoding.codec_info
        return Encoding(
            encoding.name, codecs.CodecInfo(codec.encode, codec.decode, incrementaldecoder=decoder)
        )
    return encoding


class _Decoder(codecs.IncrementalDecoder):
    """Python's decoder for an encoding, with missing characters added and differing characters corrected."""

    def __init__(self, codec: str, corrections: dict[int, int], errors: str) -> None:
        super().__init__(errors)
        self._decoder = codecs.getincrementaldecoder(codec)(_add.__name__)
        self._corrections = corrections
        self._left = MAX_ADDED_CHARACTERS

    def decode(self, piece: bytes, final: bool = False) -> str:  # type: ignore[override]  # noqa: FBT001, FBT002
        before = _added["characters"]
        text = self._decoder.decode(piece, final)
        self._left -= _added["characters"] - before
        if self._left < 0:
            self._decoder.errors = self.errors
        return text.translate(self._corrections)


class _Iso2022JpDecoder(_Decoder):
    """Replaces unknown escape sequences, on which Python's decoder would fail ("pending buffer overflow")."""

    _UNFINISHED = re.compile(rb"(?:\x1b[($]?)?\Z")
    _UNKNOWN = re.compile(rb"\x1b(?!\([BIJ]|\$[@B])")
    _kept = b""

    def decode(self, piece: bytes, final: bool = False) -> str:  # type: ignore[override]  # noqa: FBT001, FBT002
        piece = self._kept + piece
        unfinished = self._UNFINISHED.search(piece)
        end = unfinished.start() if unfinished and not final else len(piece)
        self._kept = piece[end:]
        return super().decode(self._UNKNOWN.sub(b"\xff", piece[:end]), final)


def _add(error: UnicodeError) -> tuple[str, int]:
    """Decode bytes that Python's codec does not know, or return the replacement character.

    Codecs call this function as their error handler.
    """
    if not isinstance(error, UnicodeDecodeError):
        raise error
    _added["characters"] += 1
    # Most decoders report only the first byte of a pair. The decoder for ISO-2022-JP reports both bytes of a
    # pair, or one byte in a part of the text that consists of single bytes.
    end = error.end if error.encoding == "iso2022_jp_ext" else error.start + 2
    missing = _MISSING[error.encoding]
    for bytes_ in (error.object[error.start : end], error.object[error.start : error.start + 1]):
        if character := missing.get(bytes_):
            return character, error.start + len(bytes_)
    return "\ufffd", error.end


_added = {"characters": 0}
codecs.register_error(_add.__name__, _add)


def _read_windows_additions() -> Iterator[tuple[bytes, str]]:
    """Yield each character that Windows adds to JIS X 0208, preceded by the two bytes of its row and cell.

    The characters are NEC's row 13 (①, ㈱) and IBM's rows 89 to 92.
    """
    trails = [*range(0x40, 0x7F), *range(0x80, 0xFD)]
    for lead, row in ((0x87, 13), (0xED, 89), (0xEE, 91)):  # each lead byte covers `row` and the next row
        for position, trail in enumerate(trails):
            character = bytes([lead, trail]).decode("cp932", "replace")
            if "\ufffd" not in character:
                yield bytes([0x20 + row + position // 94, 0x21 + position % 94]), character


_ADDITIONS = dict(_read_windows_additions())
_MISSING = {
    "big5hkscs": {b"\xa3\xe1": "€"},
    "euc_jp": {bytes(byte | 0x80 for byte in pair): character for pair, character in _ADDITIONS.items()},
    "gb18030": {b"\x80": "€"},
    "iso2022_jp_ext": _ADDITIONS,
}
# Characters can be replaced after decoding, because no other bytes decode to the replaced characters.
_JIS_X_0208 = str.maketrans("〜‖−¢£¬", "～∥－￠￡￢")  # noqa: RUF001
_BIG5 = str.maketrans("•､‾∼♁☉¥¢£", "‧﹑¯～⊕⊙￥￠￡")  # noqa: RUF001
_GB18030 = str.maketrans("\ue5e5", "\N{IDEOGRAPHIC SPACE}")
_DECODERS: dict[str, partial[_Decoder] | partial[_Iso2022JpDecoder]] = {
    "big5": partial(_Decoder, "big5hkscs", _BIG5),
    "euc-jp": partial(_Decoder, "euc_jp", _JIS_X_0208),
    "gb18030": partial(_Decoder, "gb18030", _GB18030),
    "gbk": partial(_Decoder, "gb18030", _GB18030),  # the standard uses one decoder for both encodings
    "iso-2022-jp": partial(_Iso2022JpDecoder, "iso2022_jp_ext", _JIS_X_0208),
    "koi8-u": partial(_Decoder, "koi8_u", str.maketrans("╝╬", "ўЎ")),
}
