from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitoring.articles.models import PublicationStatus
from monitoring.articles.rules import (
    MAX_ASKED_SECONDS,
    MAX_REASON_CHARACTERS,
    MAX_RETRY_SECONDS,
    MIN_RETRY_SECONDS,
    SubmissionKind,
    compare_with_kept,
    give_up,
    latest_source_time,
    retry_delay_seconds,
    shorten_reason,
)

if TYPE_CHECKING:
    from collections.abc import Callable

EARLY, LATE = datetime(2026, 11, 20, tzinfo=UTC), datetime(2026, 11, 21, tzinfo=UTC)


@dataclass(frozen=True)
class Told:
    content_hash: str
    source_time: datetime | None = None
    source_time_field: str | None = None
    status: str = PublicationStatus.PUBLISHED
    withdrawn_at: datetime | None = None


def sent(content_hash: str, moment: datetime) -> Told:
    return Told(content_hash, moment, "timestamp")


def published(content_hash: str, moment: datetime) -> Told:
    return Told(content_hash, moment, "published_at")


def unpublished(told: Told) -> Told:
    return replace(told, status=PublicationStatus.UNPUBLISHED)


def deleted(told: Told) -> Told:
    return replace(told, status=PublicationStatus.DELETED, content_hash="")


class TestComparison:
    @pytest.mark.parametrize(
        ("submission", "kept", "kind"),
        [
            (Told("a"), None, SubmissionKind.NEW_REVISION),
            (Told("a"), Told("a"), SubmissionKind.DUPLICATE),
            (sent("a", EARLY), sent("a", LATE), SubmissionKind.DUPLICATE),
            (published("a", EARLY), sent("a", LATE), SubmissionKind.DUPLICATE),
            (sent("b", LATE), sent("a", EARLY), SubmissionKind.NEW_REVISION),
            (sent("b", EARLY), sent("a", LATE), SubmissionKind.STALE),
            (published("b", EARLY), published("a", LATE), SubmissionKind.STALE),
            (sent("b", LATE), sent("a", LATE), SubmissionKind.NEW_REVISION),
            (published("b", EARLY), sent("a", LATE), SubmissionKind.NEW_REVISION),
            (sent("b", EARLY), published("a", LATE), SubmissionKind.NEW_REVISION),
            (Told("b"), sent("a", LATE), SubmissionKind.NEW_REVISION),
            (sent("b", EARLY), Told("a"), SubmissionKind.NEW_REVISION),
        ],
    )
    def test_only_an_earlier_time_of_the_same_field_makes_other_content_stale(
        self, submission: Told, kept: Told | None, kind: SubmissionKind
    ) -> None:
        assert compare_with_kept(submission, kept) is kind

    @pytest.mark.parametrize(
        ("submission", "kept", "kind"),
        [
            (unpublished(Told("a")), None, SubmissionKind.UNPUBLISHED),
            (unpublished(Told("a")), Told("a"), SubmissionKind.UNPUBLISHED),
            (unpublished(sent("a", LATE)), sent("b", LATE), SubmissionKind.UNPUBLISHED),
            (unpublished(sent("a", EARLY)), sent("a", LATE), SubmissionKind.STALE),
            (unpublished(Told("a")), unpublished(Told("a")), SubmissionKind.DUPLICATE),
            (unpublished(Told("b")), unpublished(Told("a")), SubmissionKind.UNPUBLISHED),
            (unpublished(Told("a")), deleted(Told("a")), SubmissionKind.DUPLICATE),
            (deleted(Told("a")), unpublished(Told("a")), SubmissionKind.DELETED),
            (deleted(Told("a")), deleted(Told("a")), SubmissionKind.DUPLICATE),
            (deleted(sent("a", LATE)), unpublished(sent("a", LATE)), SubmissionKind.DELETED),
            (unpublished(sent("b", LATE)), unpublished(sent("a", LATE)), SubmissionKind.UNPUBLISHED),
            (Told("a"), unpublished(Told("a")), SubmissionKind.NEW_REVISION),
            (Told("a"), deleted(Told("a")), SubmissionKind.NEW_REVISION),
            (sent("a", LATE), deleted(sent("a", EARLY)), SubmissionKind.NEW_REVISION),
            (sent("a", EARLY), deleted(sent("a", LATE)), SubmissionKind.STALE),
        ],
    )
    def test_publishing_and_taking_back_count_in_the_order_in_which_they_were_sent(
        self, submission: Told, kept: Told | None, kind: SubmissionKind
    ) -> None:
        assert compare_with_kept(submission, kept) is kind

    def test_a_deletion_of_what_an_operator_unpublished_may_be_older(self) -> None:
        kept = unpublished(sent("a", LATE))
        assert compare_with_kept(deleted(sent("a", EARLY)), kept) is SubmissionKind.STALE
        by_hand = replace(kept, withdrawn_at=LATE)
        assert compare_with_kept(deleted(sent("a", EARLY)), by_hand) is SubmissionKind.DELETED
        assert compare_with_kept(sent("a", EARLY), by_hand) is SubmissionKind.STALE

    @pytest.mark.parametrize("taken_back", [unpublished, deleted])
    def test_what_is_sent_once_more_does_not_publish_what_was_taken_back(
        self, taken_back: Callable[[Told], Told]
    ) -> None:
        kept = taken_back(sent("a", LATE))
        assert compare_with_kept(sent("a", LATE), kept) is SubmissionKind.STALE
        kept = taken_back(published("a", LATE))
        assert compare_with_kept(published("a", LATE), kept) is SubmissionKind.NEW_REVISION

    @pytest.mark.parametrize(
        ("told", "kept", "latest"),
        [
            (sent("a", LATE), sent("a", EARLY), (LATE, "timestamp")),
            (sent("a", EARLY), sent("a", LATE), (LATE, "timestamp")),
            (Told("a"), sent("a", LATE), (LATE, "timestamp")),
            (published("a", EARLY), Told("a"), (EARLY, "published_at")),
            (published("a", LATE), sent("a", EARLY), (EARLY, "timestamp")),
            (sent("a", EARLY), published("a", LATE), (EARLY, "timestamp")),
            (Told("a"), Told("a"), (None, None)),
        ],
    )
    def test_an_article_is_known_up_to_the_latest_time_of_the_best_field(
        self, told: Told, kept: Told, latest: tuple[datetime | None, str | None]
    ) -> None:
        assert latest_source_time(told, kept) == latest


class TestRetryDelay:
    @pytest.mark.parametrize(
        ("attempts", "longest_seconds"), [(1, 15), (2, 45), (3, 135), (4, 405), (5, 900), (100, 900)]
    )
    def test_grows_from_seconds_to_a_quarter_of_an_hour(self, attempts: int, longest_seconds: float) -> None:
        assert retry_delay_seconds(attempts, 0) == MIN_RETRY_SECONDS
        assert retry_delay_seconds(attempts, 1) == longest_seconds

    @pytest.mark.parametrize(
        ("asked_seconds", "delay_seconds"), [(0, 15), (3, 15), (60, 60), (1e9, MAX_ASKED_SECONDS)]
    )
    def test_is_at_least_what_the_engine_has_asked_for_up_to_an_hour(
        self, asked_seconds: float, delay_seconds: float
    ) -> None:
        assert retry_delay_seconds(1, 1, asked_seconds) == delay_seconds

    @given(st.integers(1, 1000), st.floats(0, 1))
    def test_stays_within_its_bounds(self, attempts: int, chance: float) -> None:
        assert MIN_RETRY_SECONDS <= retry_delay_seconds(attempts, chance) <= MAX_RETRY_SECONDS


class TestReason:
    def test_tells_how_often_it_was_tried(self) -> None:
        assert give_up("The engine is away", 8) == "The engine is away (given up after 8 attempts)"
        assert give_up("The engine is away", 1).endswith("after 1 attempt)")

    def test_is_cut_only_where_it_is_too_long(self) -> None:
        longest = "a" * MAX_REASON_CHARACTERS
        assert shorten_reason(longest) == longest
        assert shorten_reason(f"{longest}a") == f"{longest[:-1]}…"
        assert len(give_up(longest, 8)) == MAX_REASON_CHARACTERS

    @given(st.text(max_size=600), st.integers(1, 1000))
    def test_fits_the_document(self, reason: str, attempts: int) -> None:
        assert len(give_up(reason, attempts)) <= MAX_REASON_CHARACTERS
        assert len(shorten_reason(reason)) <= MAX_REASON_CHARACTERS
