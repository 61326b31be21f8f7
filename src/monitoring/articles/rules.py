"""Rules for submissions and failed attempts.

They have no side effects: callers pass the time and random numbers as arguments.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum, auto
from typing import Protocol

from monitoring.articles.models import PublicationStatus

# The fields that may contain a submission's time, in order of preference: when it was sent, else when the
# article was published. Times from different fields are never compared.
SENT_FIELD = "timestamp"
SOURCE_TIME_FIELDS = (SENT_FIELD, "published_at", "article.published_at")

FIRST_RETRY_SECONDS = 15.0
MIN_RETRY_SECONDS = 5.0
MAX_RETRY_SECONDS = 900.0
MAX_ASKED_SECONDS = 3600.0  # the longest Retry-After that is honored
# How often a translation that exceeds the monthly budget is tried again.
BUDGET_INTERVAL = timedelta(hours=1)
LONGEST_PAUSE = max(BUDGET_INTERVAL, timedelta(seconds=max(MAX_RETRY_SECONDS, MAX_ASKED_SECONDS)))

MAX_REASON_CHARACTERS = 500

# An article fails when this many workers have died while translating it. After only one death, the cause may
# have been another article that the same worker was translating.
MAX_WORKER_DEATHS = 3

WORKER_STOPPED = "A worker stopped while translating this"
STORAGE_AWAY = "The blog storage did not take the translation"
UNEXPECTED = "Something unexpected went wrong; the worker's log has it"


class SubmissionKind(StrEnum):
    """The effect of a submission on its article. Republishing an article counts as `NEW_REVISION`."""

    NEW_REVISION = auto()
    UNPUBLISHED = auto()
    DELETED = auto()
    DUPLICATE = auto()
    STALE = auto()


KINDS = {
    PublicationStatus.PUBLISHED: SubmissionKind.NEW_REVISION,
    PublicationStatus.UNPUBLISHED: SubmissionKind.UNPUBLISHED,
    PublicationStatus.DELETED: SubmissionKind.DELETED,
}
WITHDRAWALS = (SubmissionKind.UNPUBLISHED, SubmissionKind.DELETED)


class Revision(Protocol):
    """The properties of a submission, or of the stored revision, by which the two are compared."""

    @property
    def status(self) -> str:
        """The article's `PublicationStatus`."""

    @property
    def content_hash(self) -> str:
        """The hash of the content."""

    @property
    def source_time(self) -> datetime | None:
        """The submission's time according to the publisher, or None if unknown."""

    @property
    def source_time_field(self) -> str | None:
        """The field in `SOURCE_TIME_FIELDS` that the time comes from, or None."""


class KeptRevision(Revision, Protocol):
    """The properties of the stored revision that are needed to compare a submission with it."""

    @property
    def withdrawn_at(self) -> datetime | None:
        """When the article was unpublished or deleted, or None."""


def compare_with_kept(submission: Revision, kept: KeptRevision | None) -> SubmissionKind:
    """Return the effect of a submission. `kept` is the stored revision, or None for a new article.

    A submission can be stale only if its time and the stored time come from the same field. Otherwise the
    order of arrival counts.
    """
    kind = KINDS[PublicationStatus(submission.status)]
    if kept is None:
        return kind
    if _changes_nothing(submission, kept):
        return SubmissionKind.DUPLICATE
    return SubmissionKind.STALE if _is_stale(submission, kept) else kind


def _changes_nothing(submission: Revision, kept: KeptRevision) -> bool:
    if kept.status == PublicationStatus.DELETED:  # its content is erased and cannot be compared
        return submission.status != PublicationStatus.PUBLISHED
    return submission.status == kept.status and submission.content_hash == kept.content_hash


def _is_stale(submission: Revision, kept: KeptRevision) -> bool:
    """Return whether the submission was made before the stored revision.

    Publishers retry requests that got no response, and a retry must not undo a withdrawal. So a submission
    that would republish an article is stale even if it was sent at the same time as the withdrawal. If an
    operator unpublished the article, the stored time is when the operator did so. Deletions are not compared
    with that time, because a deletion may have the time of the publisher's last edit.
    """
    if submission.status == PublicationStatus.DELETED and _is_unpublished_by_an_operator(kept):
        return False
    if submission.source_time is None or kept.source_time is None:
        return False
    if submission.source_time_field != kept.source_time_field:
        return False
    if submission.source_time == kept.source_time:
        publishes_again = submission.status == PublicationStatus.PUBLISHED != kept.status
        return publishes_again and submission.source_time_field == SENT_FIELD
    return submission.source_time < kept.source_time


def _is_unpublished_by_an_operator(kept: KeptRevision) -> bool:
    return kept.status == PublicationStatus.UNPUBLISHED and kept.source_time == kept.withdrawn_at


def latest_source_time(submission: Revision, kept: Revision) -> tuple[datetime, str] | tuple[None, None]:
    """Return the latest time in the most preferred field that has one, and the name of that field.

    Returns `(None, None)` if neither `submission` nor `kept` has a time. A duplicate may advance the stored
    time. A submission without a time, or with a time in a less preferred field, does not.
    """
    for field in SOURCE_TIME_FIELDS:
        told = [one.source_time for one in (submission, kept) if one.source_time_field == field]
        if times := list(filter(None, told)):
            return max(times), field
    return None, None


def retry_delay_seconds(attempts: int, chance: float, asked_seconds: float = 0) -> float:
    """Return the seconds until the next attempt. `chance` is a random number from 0 to 1.

    The delay is an exponential backoff with full jitter, from 5 seconds to 15 minutes: eight attempts take
    half an hour on average. `asked_seconds` is the delay that the engine requested. The result is at least
    that delay, or at least an hour if the engine requested more.
    """
    longest = min(FIRST_RETRY_SECONDS * 3.0 ** min(attempts - 1, 10), MAX_RETRY_SECONDS)
    backoff = MIN_RETRY_SECONDS + chance * (longest - MIN_RETRY_SECONDS)
    return max(backoff, min(asked_seconds, MAX_ASKED_SECONDS))


def shorten_reason(reason: str) -> str:
    """Shorten a reason to the maximum length in the OpenAPI document."""
    if len(reason) <= MAX_REASON_CHARACTERS:
        return reason
    return f"{reason[: MAX_REASON_CHARACTERS - 1]}…"


def give_up(reason: str, attempts: int) -> str:
    """Return the reason for a permanent failure: `reason` with the number of attempts."""
    suffix = f" (given up after {attempts} {'attempt' if attempts == 1 else 'attempts'})"
    return f"{reason[: MAX_REASON_CHARACTERS - len(suffix)]}{suffix}"
