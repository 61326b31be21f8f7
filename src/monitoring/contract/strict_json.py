"""A strict JSON parser (I-JSON, RFC 7493). It refuses texts that two parsers could interpret differently.

Values that databases cannot store are converted as in browsers: U+0000 becomes U+FFFD, and an integer beyond
64 bits becomes the nearest double.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator
from json import JSONDecoder
from typing import NoReturn

from monitoring.contract.document import Json

MAX_LEVELS = 64
REPLACEMENT = "\ufffd"
MIN_INTEGER, MAX_INTEGER = -(2**63), 2**64 - 1
SAFE_DIGITS = 18

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_ESCAPE = re.compile(r"\\(u0000|.)", re.DOTALL)

Path = tuple[str | int, ...]


class UnfitJsonError(Exception):
    """Well-formed JSON that is refused. `keyword` names the message template for the reason."""

    def __init__(self, keyword: str, path: Path = ()) -> None:
        super().__init__(keyword)
        self.keyword = keyword
        self.path = path


def parse_json(encoded: bytes) -> Json:
    """Parse UTF-8 JSON. Raises ValueError if it is malformed, and UnfitJsonError if it is refused.

    Duplicate names in an object, numbers beyond the range of a double, lone surrogates and more than 64
    levels of nesting are refused. A byte order mark before the text is ignored (RFC 8259 §8.1).
    """
    text = encoded.decode("utf-8-sig")
    if "\\u0000" in text:
        text = _ESCAPE.sub(_replace_nul, text)
    try:
        value = _DECODER.decode(text)
    except RecursionError:
        raise UnfitJsonError("nestedTooDeeply") from None
    if _is_too_deep(value):
        raise UnfitJsonError("nestedTooDeeply")
    # Decoding UTF-8 has already refused all surrogates except escaped ones.
    if b"\\u" in encoded:
        _refuse_lone_surrogates(value)
    return value


def _object_of(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    value = dict(pairs)
    if len(value) != len(pairs):
        (name, _), *_ = Counter(name for name, _ in pairs).most_common(1)
        raise UnfitJsonError("repeated", (name,))
    return value


def _replace_nul(escape: re.Match[str]) -> str:
    return REPLACEMENT if escape[1] == "u0000" else escape[0]


def _integer_of(digits: str) -> int | float:
    if len(digits) <= SAFE_DIGITS:
        return int(digits)
    if len(digits) > len(str(MIN_INTEGER)) or not MIN_INTEGER <= (integer := int(digits)) <= MAX_INTEGER:
        return _float_of(digits)
    return integer


def _float_of(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise UnfitJsonError("numberTooLarge")
    return number


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_DECODER = JSONDecoder(
    object_pairs_hook=_object_of,
    parse_int=_integer_of,
    parse_float=_float_of,
    parse_constant=_refuse_constant,
)


def _is_too_deep(value: Json) -> bool:
    level = [value]
    for _ in range(MAX_LEVELS):
        level = [child for node in level for child in _children(node)]
    return any(isinstance(node, dict | list) for node in level)


def _children(node: Json) -> list[Json]:
    if isinstance(node, dict):
        return list(node.values())
    return node if isinstance(node, list) else []


def _refuse_lone_surrogates(value: Json) -> None:
    for path, text in _texts(value, ()):
        if _LONE_SURROGATE.search(text):
            raise UnfitJsonError("unreadable", path)


def _texts(value: Json, path: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for name, child in value.items():
            yield (*path, name), name
            yield from _texts(child, (*path, name))
    elif isinstance(value, list):
        for index, child in enumerate(value):
            yield from _texts(child, (*path, index))
