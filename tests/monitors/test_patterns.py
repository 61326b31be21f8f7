"""Patterns of strangers are read or refused, and never take longer than they may."""

from __future__ import annotations

import pytest

from monitoring.monitors.patterns import TooMuchWorkError, UnreadablePatternError, read_pattern

NESTED = "((a{1,9}){1,9}){1,9}b"  # on a mebibyte of `a` it would keep RE2 busy for most of a minute


class TestPattern:
    def test_matches_anywhere_in_a_text(self) -> None:
        assert read_pattern(r'"status":\s*"(ok|fine)"').is_in('{"status":  "fine"}')
        assert not read_pattern(r"(?i)\berror\b").is_in("Terrors")
        assert read_pattern(r"(?i)\berror\b").is_in("An ERROR")

    def test_of_the_usual_size_searches_a_mebibyte(self) -> None:
        assert not read_pattern(r'"status":\s*"(ok|fine)"').is_in("a" * 1_048_576)
        assert not read_pattern("(a*)*b").is_in("a" * 1_048_576)

    def test_that_would_take_long_is_not_searched_in_a_long_text(self) -> None:
        assert not read_pattern(NESTED).is_in("a" * 1000)
        with pytest.raises(TooMuchWorkError):
            read_pattern(NESTED).is_in("a" * 1_048_576)

    @pytest.mark.parametrize(
        ("written", "reason"),
        [
            ("(secret", "missing )"),
            ("(?=secret)", "invalid perl operator"),
            (r"(secret)\1", "invalid escape sequence"),
            ("[z-a]", "invalid character class range"),
            ("secret**", "bad repetition operator"),
            ("a{1001}", "invalid repetition size"),
            (r"\p{L}{90}", "pattern too large"),
            ("((((((a{9}){9}){9}){9}){9}){9}){9}", "invalid repetition size"),
        ],
    )
    def test_that_cannot_be_read_is_refused_with_a_reason_that_quotes_nothing(
        self, written: str, reason: str
    ) -> None:
        with pytest.raises(UnreadablePatternError) as raised:
            read_pattern(written)
        assert raised.value.reason == reason
