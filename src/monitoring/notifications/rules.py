"""What a webhook's configuration must be, and what becomes of an attempt. Pure: chance is passed in."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus
from typing import TYPE_CHECKING

from monitoring.contract.problems import Problem
from monitoring.notifications.models import DeliveryStatus
from monitoring.outbound.hosts import host_of, is_host

if TYPE_CHECKING:
    from collections.abc import Mapping

    from monitoring.contract.document import Json
    from monitoring.notifications.configuration import Configuration
    from monitoring.outbound.exchanges import Exchange

MAX_NAME_CHARACTERS = 100

# How long to wait after the first attempt, the second, ... as Standard Webhooks suggests: 27 hours in all.
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

# Of a wait, how much longer it may get, so that a server that comes back is not met by everything at once.
MOST_JITTER = 0.1

GONE = "The server answered 410, which says that it wants no more notifications"
WEBHOOK_DISABLED = "The webhook was disabled"
WORKER_STOPPED = "A worker stopped while sending this"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What an attempt means for its delivery. `wait` is there as long as it is pending."""

    status: DeliveryStatus
    status_code: int | None
    error_message: str | None = None
    wait: timedelta | None = None
    is_unwelcome: bool = False

    @property
    def outcome(self) -> str:
        """What an attempt is counted as: delivered, retried or failed."""
        return "retried" if self.status is DeliveryStatus.PENDING else str(self.status)


def complete(given: Mapping[str, Json], defaults: Mapping[str, Json]) -> Configuration:
    """Fill in what was left out; the name becomes the URL's host, cut where it is too long."""
    return {"name": host_of(given["url"])[:MAX_NAME_CHARACTERS], **defaults, **given}


def change(
    configuration: Mapping[str, Json], patch: Mapping[str, Json], defaults: Mapping[str, Json]
) -> Configuration:
    """Apply a merge patch (RFC 7396): what null removes gets its default again."""
    merged = {**configuration, **patch}
    return complete({name: value for name, value in merged.items() if value is not None}, defaults)


def check(configuration: Mapping[str, Json]) -> None:
    """Refuse what no single field's schema can see. Raises Problem."""
    if not is_host(host_of(configuration["url"])):
        raise Problem("url_host_invalid")


def judge_attempt(exchange: Exchange, attempts: int, chance: float) -> Verdict:
    """Say what follows from the given attempt, counted from 1; `chance` is in 0..1.

    2xx is the only success: redirects are not followed. 410 asks for the end of all notifications.
    """
    status_code = exchange.status_code
    if exchange.failure:
        return _try_again(exchange.failure.message, None, attempts, chance)
    if status_code and HTTPStatus(200) <= status_code < HTTPStatus(300):
        return Verdict(status=DeliveryStatus.DELIVERED, status_code=status_code)
    error_message = f"Answered {status_code}"
    if status_code == HTTPStatus.GONE:
        return Verdict(
            status=DeliveryStatus.FAILED,
            status_code=status_code,
            error_message=error_message,
            is_unwelcome=True,
        )
    return _try_again(error_message, status_code, attempts, chance)


def wait_after(attempts: int, chance: float) -> timedelta | None:
    """Say how long to wait after the given number of attempts; None when they were enough."""
    return WAITS[attempts - 1] * (1 + MOST_JITTER * chance) if attempts < MAX_ATTEMPTS else None


def _try_again(error_message: str, status_code: int | None, attempts: int, chance: float) -> Verdict:
    wait = wait_after(attempts, chance)
    return Verdict(
        status=DeliveryStatus.PENDING if wait else DeliveryStatus.FAILED,
        status_code=status_code,
        error_message=error_message,
        wait=wait,
    )
