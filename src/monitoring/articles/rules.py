"""What becomes of a delivery, and of an attempt that failed. Pure: clock and chance are passed in."""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from datetime import datetime

FIRST_RETRY_SECONDS = 15.0
MIN_RETRY_SECONDS = 5.0
MAX_RETRY_SECONDS = 900.0
MAX_REASON_CHARACTERS = 500

WORKER_STOPPED = "A worker stopped while translating this"
STORAGE_AWAY = "The blog storage did not take the translation"
UNEXPECTED = "Something unexpected went wrong; the worker's log has it"


class Verdict(Enum):
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


def judge_delivery(delivery: Revision, kept: Revision | None) -> Verdict:
    """Compare a delivery with the revision that is kept, if any.

    Only a time that is known to be earlier makes a delivery stale; otherwise the order of arrival counts.
    """
    if kept is None:
        return Verdict.NEW_REVISION
    if delivery.content_hash == kept.content_hash:
        return Verdict.DUPLICATE
    if delivery.source_time and kept.source_time and delivery.source_time < kept.source_time:
        return Verdict.STALE
    return Verdict.NEW_REVISION


def latest_source_time(delivery: Revision, kept: Revision) -> datetime | None:
    """Say up to when the article is known: a duplicate confirms it, and what tells no time leaves it."""
    return max(filter(None, (delivery.source_time, kept.source_time)), default=None)


def retry_delay_seconds(attempts: int, chance: float) -> float:
    """Say how long to wait after the given number of attempts; `chance` is in 0..1.

    Exponential with full jitter, from 5 seconds to 15 minutes: eight attempts take half an hour on average.
    """
    longest = min(FIRST_RETRY_SECONDS * 3.0 ** min(attempts - 1, 10), MAX_RETRY_SECONDS)
    return MIN_RETRY_SECONDS + chance * (longest - MIN_RETRY_SECONDS)


def shorten_reason(reason: str) -> str:
    """Fit a reason into the document's bound."""
    if len(reason) <= MAX_REASON_CHARACTERS:
        return reason
    return f"{reason[: MAX_REASON_CHARACTERS - 1]}…"


def give_up(reason: str, attempts: int) -> str:
    """Write the reason of a translation that is not tried again."""
    suffix = f" (given up after {attempts} {'attempt' if attempts == 1 else 'attempts'})"
    return f"{reason[: MAX_REASON_CHARACTERS - len(suffix)]}{suffix}"
