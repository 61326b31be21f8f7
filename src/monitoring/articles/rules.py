"""What follows from a submission, and from a failed attempt. Pure: clock and chance are passed in."""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum, auto
from typing import Protocol

from monitoring.articles.models import PublicationStatus

# The fields that may have a submission's time, the best first: when it was sent, else when the article was
# published.
# Times of different fields are never compared.
SENT_FIELD = "timestamp"
SOURCE_TIME_FIELDS = (SENT_FIELD, "published_at", "article.published_at")

FIRST_RETRY_SECONDS = 15.0
MIN_RETRY_SECONDS = 5.0
MAX_RETRY_SECONDS = 900.0
MAX_ASKED_SECONDS = 3600.0  # an engine that asks for more time is tried after this anyway
# How often translations that the month's budget does not allow look again.
BUDGET_INTERVAL = timedelta(hours=1)
LONGEST_PAUSE = max(BUDGET_INTERVAL, timedelta(seconds=max(MAX_RETRY_SECONDS, MAX_ASKED_SECONDS)))

MAX_REASON_CHARACTERS = 500

# A translation may kill its worker. After the first death, it may have been any of several articles.
MAX_WORKER_DEATHS = 3

WORKER_STOPPED = "A worker stopped while translating this"
STORAGE_AWAY = "The blog storage did not take the translation"
UNEXPECTED = "Something unexpected went wrong; the worker's log has it"


class SubmissionKind(StrEnum):
    """What a submission means for its article. `NEW_REVISION` also publishes one again."""

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
    """The parts of a submission, and of the stored revision, that are compared."""

    @property
    def status(self) -> str:
        """The article's `PublicationStatus`."""

    @property
    def content_hash(self) -> str:
        """The hash of the content."""

    @property
    def source_time(self) -> datetime | None:
        """When the publisher made it, if we know."""

    @property
    def source_time_field(self) -> str | None:
        """Which of `SOURCE_TIME_FIELDS` the time comes from."""


class KeptRevision(Revision, Protocol):
    """The parts of the stored revision that are compared."""

    @property
    def withdrawn_at(self) -> datetime | None:
        """When it was unpublished or deleted."""


def compare_with_kept(submission: Revision, kept: KeptRevision | None) -> SubmissionKind:
    """Compare a submission with the stored revision, if there is one.

    Only an earlier time in the same field makes a submission stale. Otherwise the order of arrival counts.
    """
    kind = KINDS[PublicationStatus(submission.status)]
    if kept is None:
        return kind
    if _changes_nothing(submission, kept):
        return SubmissionKind.DUPLICATE
    return SubmissionKind.STALE if _is_stale(submission, kept) else kind


def _changes_nothing(submission: Revision, kept: KeptRevision) -> bool:
    if kept.status == PublicationStatus.DELETED:  # it has no content that could be compared
        return submission.status != PublicationStatus.PUBLISHED
    return submission.status == kept.status and submission.content_hash == kept.content_hash


def _is_stale(submission: Revision, kept: KeptRevision) -> bool:
    """Return whether the submission was made before the stored revision.

    A publisher repeats what got no answer. So a submission that publishes an article again must have been
    sent later than the one that took it back. If an operator unpublished it, the time of that counts instead,
    but only against publications: the time of a deletion may be that of the publisher's last edit.
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
    """Return the latest time of the best field that any submission has had so far, and that field.

    A duplicate may move the time forward. A submission without a time, or with a lesser field's, changes
    nothing.
    """
    for field in SOURCE_TIME_FIELDS:
        told = [one.source_time for one in (submission, kept) if one.source_time_field == field]
        if times := list(filter(None, told)):
            return max(times), field
    return None, None


def retry_delay_seconds(attempts: int, chance: float, asked_seconds: float = 0) -> float:
    """Return how long to wait after the given number of attempts; `chance` is in 0..1.

    Exponential with full jitter, from 5 seconds to 15 minutes: eight attempts take half an hour on average.
    The wait is at least what the engine has asked for, up to an hour.
    """
    longest = min(FIRST_RETRY_SECONDS * 3.0 ** min(attempts - 1, 10), MAX_RETRY_SECONDS)
    backoff = MIN_RETRY_SECONDS + chance * (longest - MIN_RETRY_SECONDS)
    return max(backoff, min(asked_seconds, MAX_ASKED_SECONDS))


def shorten_reason(reason: str) -> str:
    """Fit a reason into the document's bound."""
    if len(reason) <= MAX_REASON_CHARACTERS:
        return reason
    return f"{reason[: MAX_REASON_CHARACTERS - 1]}…"


def give_up(reason: str, attempts: int) -> str:
    """Write the reason of a translation that is not tried again."""
    suffix = f" (given up after {attempts} {'attempt' if attempts == 1 else 'attempts'})"
    return f"{reason[: MAX_REASON_CHARACTERS - len(suffix)]}{suffix}"
