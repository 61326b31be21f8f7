from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitoring.articles.rules import (
    MAX_REASON_CHARACTERS,
    MAX_RETRY_SECONDS,
    MIN_RETRY_SECONDS,
    Verdict,
    give_up,
    judge_delivery,
    latest_source_time,
    retry_delay_seconds,
    shorten_reason,
)

EARLY, LATE = datetime(2026, 11, 20, tzinfo=UTC), datetime(2026, 11, 21, tzinfo=UTC)


@dataclass(frozen=True)
class Told:
    content_hash: str
    source_time: datetime | None = None


class TestVerdict:
    @pytest.mark.parametrize(
        ("delivery", "kept", "verdict"),
        [
            (Told("a"), None, Verdict.NEW_REVISION),
            (Told("a"), Told("a"), Verdict.DUPLICATE),
            (Told("a", EARLY), Told("a", LATE), Verdict.DUPLICATE),
            (Told("b", LATE), Told("a", EARLY), Verdict.NEW_REVISION),
            (Told("b", EARLY), Told("a", LATE), Verdict.STALE),
            (Told("b", LATE), Told("a", LATE), Verdict.NEW_REVISION),
            (Told("b", None), Told("a", LATE), Verdict.NEW_REVISION),
            (Told("b", EARLY), Told("a", None), Verdict.NEW_REVISION),
        ],
    )
    def test_only_a_time_known_to_be_earlier_makes_other_content_stale(
        self, delivery: Told, kept: Told | None, verdict: Verdict
    ) -> None:
        assert judge_delivery(delivery, kept) is verdict

    @pytest.mark.parametrize(
        ("told", "kept", "latest"),
        [
            (LATE, EARLY, LATE),
            (EARLY, LATE, LATE),
            (None, LATE, LATE),
            (EARLY, None, EARLY),
            (None, None, None),
        ],
    )
    def test_a_duplicate_sent_later_confirms_the_article_up_to_then(
        self, told: datetime | None, kept: datetime | None, latest: datetime | None
    ) -> None:
        assert latest_source_time(Told("a", told), Told("a", kept)) == latest


class TestRetryDelay:
    @pytest.mark.parametrize(
        ("attempts", "longest_seconds"), [(1, 15), (2, 45), (3, 135), (4, 405), (5, 900), (100, 900)]
    )
    def test_grows_from_seconds_to_a_quarter_of_an_hour(self, attempts: int, longest_seconds: float) -> None:
        assert retry_delay_seconds(attempts, 0) == MIN_RETRY_SECONDS
        assert retry_delay_seconds(attempts, 1) == longest_seconds

    @given(st.integers(1, 1000), st.floats(0, 1))
    def test_stays_within_its_bounds(self, attempts: int, chance: float) -> None:
        assert MIN_RETRY_SECONDS <= retry_delay_seconds(attempts, chance) <= MAX_RETRY_SECONDS


class TestReason:
    def test_tells_how_often_it_was_tried(self) -> None:
        assert give_up("The engine is away", 8) == "The engine is away (given up after 8 attempts)"
        assert give_up("The engine is away", 1).endswith("after 1 attempt)")

    @given(st.text(max_size=600), st.integers(1, 1000))
    def test_fits_the_document(self, reason: str, attempts: int) -> None:
        assert len(give_up(reason, attempts)) <= MAX_REASON_CHARACTERS
        assert len(shorten_reason(reason)) <= MAX_REASON_CHARACTERS
