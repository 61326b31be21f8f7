"""Decides whether and when a failed attempt is retried. Has no side effects: callers pass random numbers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from monitoring.notifications.channels.protocol import AttemptResult, Reception
from monitoring.notifications.models import DeliveryStatus
from monitoring.notifications.routing import ACKNOWLEDGED

# How long to wait after the first attempt, after the second attempt and so on. Standard Webhooks suggests
# these waits, which are about 27 hours in total.
WAITS = (
    timedelta(seconds=5),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
    timedelta(hours=5),
    timedelta(hours=10),
    timedelta(hours=10),
)
MAX_ATTEMPTS = len(WAITS) + 1

# If a receiver requests a longer pause than this, the pause is shortened to this.
LONGEST_ASKED = timedelta(hours=1)

# The maximum jitter as a fraction of the wait. Jitter prevents a server that has just recovered from getting
# all retries at the same time.
MOST_JITTER = 0.1

CHANNEL_DISABLED = "The channel was disabled"
OVER_BEFORE_THE_DELAY = "It was over before the channel's delay"
TAKEN_BEFORE_THE_DELAY = "It was acknowledged before the channel's delay"
MUTED_BEFORE = "The monitor was muted before it was to be sent"
NOT_CONFIRMED = "The address is not confirmed"
WORKER_STOPPED = "A worker stopped while sending this"
END_OF_NOTHING = "The channel never received the alarm that this ends"

MAX_REASON_CHARACTERS = 255


@dataclass(frozen=True, slots=True)
class Conclusion:
    """The state of a delivery after an attempt. `wait` is the time until the retry, if there is a retry."""

    status: DeliveryStatus
    wait: timedelta | None = None

    @property
    def outcome(self) -> str:
        """The attempt's outcome, as a label for metrics: delivered, retried or failed."""
        return "retried" if self.status is DeliveryStatus.PENDING else str(self.status)


def conclude(result: AttemptResult, attempts: int, chance: float) -> Conclusion:
    """Return the state of a delivery after an attempt.

    `attempts` includes this attempt. `chance` is a random number in 0..1 for the jitter.
    """
    if result.reception is Reception.DELIVERED:
        return Conclusion(DeliveryStatus.DELIVERED)
    wait = wait_after(attempts, chance) if result.reception is Reception.TRY_AGAIN else None
    if wait and result.retry_after_seconds:
        wait = max(wait, min(timedelta(seconds=result.retry_after_seconds), LONGEST_ASKED))
    return Conclusion(DeliveryStatus.PENDING if wait else DeliveryStatus.FAILED, wait)


def wait_after(attempts: int, chance: float) -> timedelta | None:
    """Return how long to wait after `attempts` attempts, or None if no attempt is left."""
    return WAITS[attempts - 1] * (1 + MOST_JITTER * chance) if attempts < MAX_ATTEMPTS else None


def explain_superseded(
    because_of: str, attempts: int, last_answer: str | None, *, may_have_arrived: bool
) -> str:
    """Return the reason for skipping a message that the event `because_of` superseded."""
    what = "acknowledged" if because_of == ACKNOWLEDGED else "over"
    if not attempts and not may_have_arrived:
        return f"It was {what} before it was sent"
    doubt = ", and may have arrived" if may_have_arrived else ""
    reason = f"It was {what} before another attempt{doubt}"
    return f"{reason}. {last_answer}"[:MAX_REASON_CHARACTERS] if last_answer else reason
