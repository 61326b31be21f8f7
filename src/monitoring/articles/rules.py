"""What becomes of a delivery, and of an attempt that failed. Pure: clock and chance are passed in."""

from __future__ import annotations

from enum import StrEnum, auto
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from datetime import datetime

# Where a delivery tells its time, the best first: when it was sent, else when the article was published.
# Times of two fields are never compared.
SOURCE_TIME_FIELDS = ("timestamp", "published_at", "article.published_at")

FIRST_RETRY_SECONDS = 15.0
MIN_RETRY_SECONDS = 5.0
MAX_RETRY_SECONDS = 900.0
MAX_ASKED_SECONDS = 3600.0  # an engine that asks for more is tried anyway
MAX_REASON_CHARACTERS = 500

WORKER_STOPPED = "A worker stopped while translating this"
STORAGE_AWAY = "The blog storage did not take the translation"
UNEXPECTED = "Something unexpected went wrong; the worker's log has it"


class Verdict(StrEnum):
    """What a delivery is to the article it belongs to."""

    NEW_REVISION = auto()
    DUPLICATE = auto()
    STALE = auto()


class Revision(Protocol):
    """What is compared of a delivery and of the revision that is kept."""

    @property
    def content_hash(self) -> str:
        """What was delivered, hashed."""

    @property
    def source_time(self) -> datetime | None:
        """When the publisher made it, if that is known."""

    @property
    def source_time_field(self) -> str | None:
        """Which of `SOURCE_TIME_FIELDS` tells that time."""


def judge_delivery(delivery: Revision, kept: Revision | None) -> Verdict:
    """Compare a delivery with the revision that is kept, if any.

    Only an earlier time in the same field makes a delivery stale; otherwise the order of arrival counts.
    """
    if kept is None:
        return Verdict.NEW_REVISION
    if delivery.content_hash == kept.content_hash:
        return Verdict.DUPLICATE
    if delivery.source_time is None or kept.source_time is None:
        return Verdict.NEW_REVISION
    is_comparable = delivery.source_time_field == kept.source_time_field
    is_stale = is_comparable and delivery.source_time < kept.source_time
    return Verdict.STALE if is_stale else Verdict.NEW_REVISION


def latest_source_time(delivery: Revision, kept: Revision) -> tuple[datetime, str] | tuple[None, None]:
    """Say up to when the article is known, and by which field: the latest time of the best field told so far.

    A duplicate confirms it, and what tells no time, or a lesser field's, leaves it.
    """
    for field in SOURCE_TIME_FIELDS:
        told = [one.source_time for one in (delivery, kept) if one.source_time_field == field]
        if times := list(filter(None, told)):
            return max(times), field
    return None, None


def retry_delay_seconds(attempts: int, chance: float, asked_seconds: float = 0) -> float:
    """Say how long to wait after the given number of attempts; `chance` is in 0..1.

    Exponential with full jitter, from 5 seconds to 15 minutes: eight attempts take half an hour on average.
    At least what the engine has asked for, up to an hour.
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
