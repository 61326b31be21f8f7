"""The interface of a channel type, and the result of an attempt to send."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum, auto
from typing import Protocol

from monitoring.contract.configurations import Configuration
from monitoring.contract.document import Json
from monitoring.notifications.channels.sender import Sender
from monitoring.notifications.models import NotificationChannel, NotificationDelivery


class Reception(StrEnum):
    """Whether a receiver accepted a notification."""

    DELIVERED = auto()
    TRY_AGAIN = auto()
    REFUSED = auto()  # for good: a retry would not help


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptResult:
    """The result of an attempt, as the delivery log shows it.

    `retry_after_seconds` is the pause that the receiver asked for. `disabled_reason` is set if the receiver
    wants no more notifications, so that the channel is disabled. `new_settings` are fields of the channel
    that the receiver reported as changed: the next attempt uses them. `may_have_arrived` is set if a failed
    attempt may have reached the receiver, for example because it did not answer in time.
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
    """A type of channel: its default name, its secret, and how it sends a notification."""

    def default_name(self, configuration: Configuration) -> str:
        """Return the name of a channel that was created without one."""

    def make_secret(self, given: Mapping[str, Json]) -> str:
        """Return the secret to store for a new channel, `given` the secret fields that the client sent."""

    async def send(
        self,
        delivery: NotificationDelivery,
        receiver: NotificationChannel,
        sender: Sender,
        attempted_at: datetime,
    ) -> AttemptResult:
        """Send a notification once and judge the answer, well within the lease of the delivery.

        Every attempt sends the same `delivery.id` and the same event, `delivery.payload`. Never raises
        because of the receiver. Raises OSError if this machine cannot send anything: then the attempt
        does not count.
        """
