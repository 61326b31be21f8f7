from __future__ import annotations

from typing import Any, TypeAlias

import pytest

from monitoring.articles.publisher_exam import (
    LESSONS,
    RETRY_AFTER_SECONDS,
    TOLERANCE_SECONDS,
    Lesson,
    PublisherExam,
)

PATIENCE = 60.0

# When, and which fields differ from those of the first post
Posts: TypeAlias = dict[Lesson, list[tuple[float, dict[str, Any]]]]


def article(lesson: Lesson, **fields: Any) -> list[dict[str, Any]]:
    """Return what a publisher posts when this lesson's turn has come."""
    written = {"id": lesson.name, "title": lesson.name, "content": "Some text.", **fields}
    return [{"article": written, "timestamp": "2026-11-20T10:00:00Z"}]


def sit(posts: Posts) -> dict[Lesson, tuple[bool, str]]:
    """Post an article for each lesson at 0 seconds, answered at once, and these afterwards."""
    exam = PublisherExam(PATIENCE)
    for lesson in LESSONS:
        given, trial = exam.receive(article(lesson), 0)
        assert given is lesson
        assert trial
        trial.answered_at = 0
    for lesson, later in posts.items():
        for moment, fields in later:
            given, trial = exam.receive(article(lesson, **fields), moment)
            assert trial is None
            assert given is (Lesson.REFUSED if lesson is Lesson.REFUSED else Lesson.ACCEPTED)
    return {finding.lesson: (finding.is_right, finding.sentence) for finding in exam.judge()}


IN_TIME = float(RETRY_AFTER_SECONDS)
BY_THE_BOOK: Posts = {Lesson.UNAVAILABLE: [(IN_TIME, {})], Lesson.SILENT: [(1.0, {})]}


def test_a_publisher_by_the_book_is_right_in_everything() -> None:
    assert all(is_right for is_right, _ in sit(BY_THE_BOOK).values())


@pytest.mark.parametrize(
    ("lesson", "posts", "said"),
    [
        (Lesson.UNAVAILABLE, [], "Not sent again"),
        (Lesson.SILENT, [], "Not sent again"),
        (Lesson.UNAVAILABLE, [(1.0, {})], "Sent again after 1.0 seconds. Wait as long"),
        (Lesson.UNAVAILABLE, [(IN_TIME, {"title": "Another"})], "Sent again with other content"),
        (Lesson.SILENT, [(1.0, {"content": "Other text."})], "Sent again with other content"),
        (Lesson.UNAVAILABLE, [(IN_TIME, {}), (9.0, {})], "Sent again although it was accepted"),
        (Lesson.SILENT, [(1.0, {}), (2.0, {})], "Sent again although it was accepted"),
        (Lesson.ACCEPTED, [(1.0, {})], "Sent again although it was accepted"),
        (Lesson.REFUSED, [(1.0, {})], "Sent again although it was refused"),
    ],
)
def test_each_fault_is_found_and_only_that(
    lesson: Lesson, posts: list[tuple[float, dict[str, Any]]], said: str
) -> None:
    findings = sit({**BY_THE_BOOK, lesson: posts})
    assert [each for each in LESSONS if not findings[each][0]] == [lesson]
    assert findings[lesson][1].startswith(said)


def test_a_timer_may_fire_a_little_early() -> None:
    early = sit({**BY_THE_BOOK, Lesson.UNAVAILABLE: [(IN_TIME - TOLERANCE_SECONDS / 2, {})]})
    assert early[Lesson.UNAVAILABLE][0]


def test_a_new_timestamp_is_no_other_content() -> None:
    exam = PublisherExam(PATIENCE)
    exam.receive(article(Lesson.UNAVAILABLE), 0)[1].answered_at = 0  # type: ignore[union-attr]
    again = [{**article(Lesson.UNAVAILABLE)[0], "timestamp": "2026-11-20T10:00:09Z"}]
    exam.receive(again, IN_TIME)
    assert next(exam.judge()).is_right


def test_it_ends_when_nothing_more_is_to_be_expected() -> None:
    exam = PublisherExam(PATIENCE)
    for lesson in LESSONS:
        assert not exam.is_over(1000)
        trial = exam.receive(article(lesson), 0)[1]
        assert trial
        if lesson is not Lesson.SILENT:
            trial.answered_at = 0
    assert not exam.is_over(1000)  # one post waits for its answer
    silent = exam.receive(article(Lesson.SILENT), 10)
    assert silent == (Lesson.ACCEPTED, None)


def test_what_never_came_is_not_right() -> None:
    assert [(finding.is_right, finding.sentence) for finding in PublisherExam(PATIENCE).judge()] == [
        (False, "No article came for this.")
    ] * len(LESSONS)
