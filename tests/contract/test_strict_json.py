import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitoring.contract.strict_json import UnfitJsonError, parse_json

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)

COMPACT = (",", ":")
SPACED = (", ", " : ")
SEPARATORS = st.sampled_from([COMPACT, SPACED])


class TestEveryValue:
    @given(value=VALUES, is_ascii=st.booleans(), separators=SEPARATORS)
    def test_is_read_as_it_was_written(
        self,
        value: object,
        is_ascii: bool,  # noqa: FBT001 - Hypothesis
        separators: tuple[str, str],
    ) -> None:
        read = parse_json(json.dumps(value, ensure_ascii=is_ascii, separators=separators).encode())
        assert repr(read) == repr(value)


class TestANameGivenTwice:
    @given(name=TEXTS, first=VALUES, second=VALUES, is_ascii=st.booleans(), separators=SEPARATORS)
    def test_is_unfit_whatever_it_names(
        self,
        name: str,
        first: object,
        second: object,
        is_ascii: bool,  # noqa: FBT001
        separators: tuple[str, str],
    ) -> None:
        comma, colon = separators
        written, one, two = (
            json.dumps(each, ensure_ascii=is_ascii, separators=separators) for each in (name, first, second)
        )
        with pytest.raises(UnfitJsonError, match="repeated") as caught:
            parse_json(
                f'[{{"other"{colon}{two}{comma}{written}{colon}{one}{comma}{written}:{two}}}]'.encode()
            )
        assert caught.value.path == (name,)

    @pytest.mark.parametrize(
        "encoded",
        [
            rb'{"a":"\u003a","a":1}',  # an escaped colon must not stand for that of a name
            rb'{"a":"\u003A", "b":{"c":1,"c":2}}',
            b'{"a":":::","a":1}',
            b'{"a":1,"a":":"}',
            b'{"a:":1,"a:":1}',
            rb'{"a":1,"\u0061":2}',
        ],
    )
    def test_is_found_beside_other_colons(self, encoded: bytes) -> None:
        with pytest.raises(UnfitJsonError, match="repeated"):
            parse_json(encoded)


class TestWhatNoDatabaseCanStore:
    @pytest.mark.parametrize(
        ("encoded", "text"),
        [
            (rb'"\u0000"', "\ufffd"),
            (rb'"a\u0000\u0000b"', "a\ufffd\ufffdb"),
            (rb'"\\u0000"', r"\u0000"),
            (rb'"\\\u0000"', "\\\ufffd"),
            (rb'"\"\u0000\n"', '"\ufffd\n'),
        ],
    )
    def test_u_0000_is_read_as_u_fffd(self, encoded: bytes, text: str) -> None:
        assert parse_json(encoded) == text

    def test_names_are_read_alike(self) -> None:
        assert parse_json(rb'{"a\u0000": [{"\u0000": 1}]}') == {"a\ufffd": [{"\ufffd": 1}]}

    @pytest.mark.parametrize("number", [2**64, -(2**63) - 1, 10**40])
    def test_an_integer_beyond_64_bits_is_read_as_a_double(self, number: int) -> None:
        read = parse_json(str(number).encode())
        assert isinstance(read, float)
        assert read == float(number)

    @pytest.mark.parametrize("number", [2**64 - 1, -(2**63)])
    def test_an_integer_of_64_bits_is_read_exactly(self, number: int) -> None:
        read = parse_json(str(number).encode())
        assert isinstance(read, int)
        assert read == number

    @pytest.mark.parametrize("encoded", [b"1e400", b"9" * 400, b"-" + b"9" * 400])
    def test_a_number_beyond_doubles_is_unfit(self, encoded: bytes) -> None:
        with pytest.raises(UnfitJsonError, match="numberTooLarge"):
            parse_json(encoded)


class TestLevels:
    @pytest.mark.parametrize(
        ("opening", "closing"),
        [("[" * 64, "]" * 64), ('{"a":' * 64, "}" * 64), ('[{"a":' * 32, "}]" * 32)],
        ids=["arrays", "objects", "both"],
    )
    def test_sixty_four_are_read_and_one_more_is_unfit(self, opening: str, closing: str) -> None:
        text = f"{opening}1{closing}"
        assert parse_json(text.encode()) == json.loads(text)
        with pytest.raises(UnfitJsonError, match="nestedTooDeeply"):
            parse_json(f"{opening}[]{closing}".encode())
