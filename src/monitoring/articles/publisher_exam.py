"""Tests how a publisher retries requests. Has no side effects.

The exam chooses the HTTP response to the first request for each article, and evaluates the requests that
follow. All times are in seconds and from the same clock.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from monitoring.articles.submissions import read_submission

RETRY_AFTER_SECONDS = 5

# Allows for clock differences and for timers that fire a little early.
TOLERANCE_SECONDS = 0.2


class Lesson(StrEnum):
    """The response to the first request for an article.

    Later requests for the same article get 202, or 400 if the first response was 400.
    """

    UNAVAILABLE = "503 with Retry-After"
    SILENT = "no answer"
    ACCEPTED = "202"
    REFUSED = "400"


LESSONS = tuple(Lesson)
# The responses after which a correct publisher retries the article. After the other two, it does not.
SENT_AGAIN = {Lesson.UNAVAILABLE, Lesson.SILENT}


@dataclass(slots=True)
class Trial:
    """The article of a lesson, and the requests for it. `answered_at` is None before the first response."""

    lesson: Lesson
    content: Sequence[str]
    answered_at: float | None = None
    repeated_at: list[float] = field(default_factory=list)
    has_other_content: bool = False

    @property
    def is_to_be_sent_again(self) -> bool:
        """Whether a correct publisher retries the article."""
        return self.lesson in SENT_AGAIN

    @property
    def waited_seconds(self) -> float:
        """Return the seconds from the first response to the first retry, or 0 if no retry followed."""
        if not self.repeated_at or self.answered_at is None:
            return 0.0
        return max(0.0, self.repeated_at[0] - self.answered_at)


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of a lesson: what the publisher did, and how to fix it if it was wrong."""

    lesson: Lesson
    is_right: bool
    sentence: str


class PublisherExam:
    """Starts the lessons in order, one with each new article.

    `patience_seconds` is how long to wait for the next request for an article.
    """

    def __init__(self, patience_seconds: float) -> None:
        self._patience_seconds = patience_seconds
        self._trials: dict[Sequence[str], Trial] = {}

    def receive(self, submissions: Sequence[Mapping[str, Any]], now: float) -> tuple[Lesson, Trial | None]:
        """Record a request. Returns the lesson that determines the response, and the trial that begins.

        A trial begins with the first request for an article. For later requests, the trial is None. Articles
        that arrive after the last lesson has started are accepted without a trial. As in the service, a retry
        may have a different timestamp.
        """
        read = [read_submission(dict(each), datetime.now(UTC)) for each in submissions]
        identity = tuple(each.identity for each in read)
        content = tuple(each.content_hash for each in read)
        known = self._trials.get(identity)
        if known:
            known.repeated_at.append(now)
            known.has_other_content |= known.content != content
            return Lesson.REFUSED if known.lesson is Lesson.REFUSED else Lesson.ACCEPTED, None
        if len(self._trials) == len(LESSONS):
            return Lesson.ACCEPTED, None
        lesson = LESSONS[len(self._trials)]
        self._trials[identity] = Trial(lesson, content)
        return lesson, self._trials[identity]

    def is_over(self, now: float) -> bool:
        """Return whether every lesson has started and its waiting time is over."""
        trials = self._trials.values()
        return len(trials) == len(LESSONS) and all(self._has_ended(trial, now) for trial in trials)

    def judge(self) -> Iterator[Finding]:
        """Yield a finding for each lesson."""
        trials = {trial.lesson: trial for trial in self._trials.values()}
        for lesson in LESSONS:
            if lesson in trials:
                fault = _find_fault(trials[lesson])
                yield Finding(lesson, fault is None, fault or _describe(trials[lesson]))
            else:
                yield Finding(lesson, is_right=False, sentence="No article came for this.")

    def _has_ended(self, trial: Trial, now: float) -> bool:
        if trial.answered_at is None:
            return False
        begins_at = (
            trial.repeated_at[0] if trial.is_to_be_sent_again and trial.repeated_at else trial.answered_at
        )
        return now >= begins_at + self._patience_seconds


def _find_fault(trial: Trial) -> str | None:
    """Return the publisher's first fault in a trial and how to fix it, or None if there is no fault."""
    if not trial.is_to_be_sent_again:
        return _AFTER_THE_LAST_WORD[trial.lesson] if trial.repeated_at else None
    if not trial.repeated_at:
        return _LOST
    if trial.has_other_content:
        return _CHANGED
    if len(trial.repeated_at) > 1:
        return _AFTER_THE_LAST_WORD[Lesson.ACCEPTED]
    is_early = trial.waited_seconds < RETRY_AFTER_SECONDS - TOLERANCE_SECONDS
    return _EARLY.format(trial.waited_seconds) if trial.lesson is Lesson.UNAVAILABLE and is_early else None


_AFTER_THE_LAST_WORD = {
    Lesson.ACCEPTED: "Sent again although it was accepted. 202 is a promise, so do not send it again.",
    Lesson.REFUSED: "Sent again although it was refused. It is refused each time, so show people the error.",
}
_LOST = "Not sent again with the same id, so the article is lost. Send it again until the answer is 202."
_CHANGED = "Sent again with other content. Send the same article, so that nothing is translated twice."
_EARLY = (
    f"Sent again after {{:.1f}} seconds. Wait as long as Retry-After says: {RETRY_AFTER_SECONDS} seconds."
)


def _describe(trial: Trial) -> str:
    if not trial.is_to_be_sent_again:
        return "Not sent again."
    return f"The same article was sent again after {trial.waited_seconds:.1f} seconds, and then no more."
