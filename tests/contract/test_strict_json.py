import pytest

from monitoring.contract.strict_json import UnfitJsonError, parse_json


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
