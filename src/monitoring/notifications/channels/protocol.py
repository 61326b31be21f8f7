"""What a channel is, and what came of an attempt to send through it. Neither says how a message leaves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum, auto
from typing import Protocol

from monitoring.contract.configurations import Configuration
from monitoring.contract.document import Json
from monitoring.notifications.channels.sending import Sender
from monitoring.notifications.models import NotificationChannel, NotificationDelivery


class Reception(StrEnum):
    """How a receiver took a notification."""

    DELIVERED = auto()
    TRY_AGAIN = auto()
    REFUSED = auto()  # for good: another attempt would not help


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptResult:
    """What came of an attempt, in the words of the delivery log.

    `retry_after_seconds` is the pause that the receiver asked for, if it did. `disabled_reason` is set if the
    receiver wants no more notifications: it is turned off, and this says why. `new_settings` are fields of
    the channel that the receiver says have changed: the next attempt uses them. `may_have_arrived` says that
    an attempt failed after which the receiver may have the notification: it did not answer in time.
    """

    reception: Reception
    status_code: int | None = None
    error_message: str | None = None
    retry_after_seconds: float | None = None
    disabled_reason: str | None = None
    new_settings: Mapping[str, str] = field(default_factory=dict)
    is_receivers_fault: bool = True
    may_have_arrived: bool = False


class Channel(Protocol):
    """A kind of channel: how one is named, what is kept secret of it, and how a notification reaches it."""

    def default_name(self, configuration: Configuration) -> str:
        """Name a channel that its team did not name."""

    def make_secret(self, given: Mapping[str, Json]) -> str:
        """Write what is stored encrypted of a new channel, `given` the secret fields that the client sent."""

    async def send(
        self,
        delivery: NotificationDelivery,
        receiver: NotificationChannel,
        sender: Sender,
        attempted_at: datetime,
    ) -> AttemptResult:
        """Send a notification once and judge the answer, well within the lease of the delivery.

        Every attempt sends the same `delivery.id` and the same event, `delivery.payload`. Never raises
        because of the receiver. Raises OSError if this machine cannot send at all: then the attempt does
        not count.
        """
