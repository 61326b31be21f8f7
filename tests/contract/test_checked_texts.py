from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from monitoring.contract.checked_texts import MAX_BYTES_OF_ONE, CheckedTexts


def text(number: int) -> bytes:
    return b"%010d" % number


def test_only_what_was_accepted_is_known() -> None:
    known = CheckedTexts()
    known.add(b"abc")
    assert b"abc" in known
    assert b"abd" not in known
    assert b"ab" not in known


def test_what_is_met_again_stays_and_what_is_not_is_forgotten() -> None:
    known = CheckedTexts(max_bytes=200)
    for number in range(100):
        known.add(text(number))
        assert text(0) in known
    assert text(1) not in known


def test_a_long_text_is_not_kept() -> None:
    known = CheckedTexts()
    known.add(b"x" * (MAX_BYTES_OF_ONE + 1))
    assert b"x" * (MAX_BYTES_OF_ONE + 1) not in known


@given(st.lists(st.integers(0, 50)))
def test_no_more_bytes_are_kept_than_allowed(numbers: list[int]) -> None:
    known = CheckedTexts(max_bytes=100)
    for number in numbers:
        if text(number) not in known:
            known.add(text(number))
    assert sum(text(number) in CopyOf(known) for number in range(51)) <= 10


class CopyOf(CheckedTexts):
    """Asks without keeping."""

    def __init__(self, other: CheckedTexts) -> None:
        self._both = vars(other)["_younger"] | vars(other)["_older"]

    def __contains__(self, wanted: bytes) -> bool:
        return wanted in self._both
