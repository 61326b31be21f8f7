"""What a channel is, and what came of an attempt to send through it. Neither says how a message leaves."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum, auto
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from datetime import datetime

    from monitoring.contract.configurations import Configuration
    from monitoring.notifications.channels.sending import Sender
    from monitoring.notifications.models import NotificationDelivery, NotificationWebhook


class Reception(StrEnum):
    """How a receiver took a notification."""

    DELIVERED = auto()
    TRY_AGAIN = auto()
    REFUSED = auto()  # for good: another attempt would not help


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptResult:
    """What came of an attempt, in the words of the delivery log.

    `disabled_reason` is set if the receiver wants no more notifications: it is turned off, and this says why.
    """

    reception: Reception
    status_code: int | None = None
    error_message: str | None = None
    disabled_reason: str | None = None


class Channel(Protocol):
    """A module of this package: what its receivers are, and how a notification reaches them."""

    def default_name(self, configuration: Configuration) -> str:
        """Name a receiver that its team did not name."""

    def generate_secret(self) -> str:
        """Make the secret of a new receiver."""

    async def send(
        self,
        delivery: NotificationDelivery,
        receiver: NotificationWebhook,
        sender: Sender,
        attempted_at: datetime,
    ) -> AttemptResult:
        """Send a notification once and judge the answer, well within the lease of the delivery.

        Every attempt sends the same `delivery.id` and the same event, `delivery.payload`. Never raises
        because of the receiver. Raises OSError if this machine cannot send at all: then the attempt does
        not count.
        """
