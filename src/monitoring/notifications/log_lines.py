"""Log lines about failed and skipped notifications. They contain no addresses and no secrets.

The lines are written after the caller's transaction commits.
"""

from __future__ import annotations

import logging
from datetime import datetime
from functools import partial

from monitoring.backends.database import after_commit
from monitoring.contract.timestamps import write_timestamp
from monitoring.notifications.models import NotificationChannel, NotificationDelivery
from monitoring.notifications.retries import MAX_ATTEMPTS

log = logging.getLogger(__name__)


def log_failure(
    delivery: NotificationDelivery, channel: NotificationChannel, answer: str | None, again_at: datetime
) -> None:
    """Log a failed attempt as a warning, with the time of the next attempt."""
    _warn(
        "%s failed at attempt %d of %d, the next is at %s: %s",
        _name(delivery, channel),
        delivery.attempts,
        MAX_ATTEMPTS,
        write_timestamp(again_at),
        answer,
    )


def log_given_up(delivery: NotificationDelivery, channel: NotificationChannel, reason: str | None) -> None:
    """Log a failed delivery that will not be retried, as a warning."""
    _warn("%s is given up after %d attempts: %s", _name(delivery, channel), delivery.attempts, reason)


def log_skipped(delivery: NotificationDelivery, channel: NotificationChannel, reason: str) -> None:
    """Log a skipped delivery."""
    after_commit(partial(log.info, "%s is skipped: %s", _name(delivery, channel), reason))


def log_disabled(channel: NotificationChannel, reason: str, waiting_count: int) -> None:
    """Log a disabled channel as a warning, with the number of waiting deliveries that failed."""
    _warn(
        "The %s channel %s of the team %s is disabled (deliveries given up: %d): %s",
        channel.type,
        channel.id,
        channel.team_id,
        waiting_count,
        reason,
    )


def _warn(line: str, *values: object) -> None:
    after_commit(partial(log.warning, line, *values))


def _name(delivery: NotificationDelivery, channel: NotificationChannel) -> str:
    about = f" about {delivery.subject_id}" if delivery.subject_id else ""
    return f"Delivery {delivery.id} of {delivery.event}{about} to the {channel.type} channel {channel.id}"
