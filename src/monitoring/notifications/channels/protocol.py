"""The interface of channel types, and the result of a delivery attempt."""

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
    REFUSED = auto()  # permanently, so the delivery is not retried


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptResult:
    """The result of an attempt, as the delivery log shows it.

    `retry_after_seconds` is the pause that the receiver requested. `disabled_reason` is set if the channel
    must be disabled, because the receiver no longer exists or wants no more notifications. `new_settings` are
    new values that the receiver reported for channel fields. The next attempt uses them. `may_have_arrived`
    is set if a failed attempt may have reached the receiver, for example after a timeout.
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
    """A channel type: its default name, its secret, and how it sends a notification."""

    def default_name(self, configuration: Configuration) -> str:
        """Return the name for a new channel if the client did not specify a name."""

    def make_secret(self, given: Mapping[str, Json]) -> str:
        """Return a new channel's secret, encrypted for storage. `given` are the client's secret fields."""

    async def send(
        self,
        delivery: NotificationDelivery,
        receiver: NotificationChannel,
        sender: Sender,
        attempted_at: datetime,
    ) -> AttemptResult:
        """Make one attempt to send a notification, well within the delivery's lease, and return the result.

        Every attempt sends the same `delivery.id` and the same event, `delivery.payload`. If the receiver
        fails, the result reports the failure, and no exception is raised. Raises OSError if this machine
        cannot send anything. An attempt that raises OSError is not counted.
        """
