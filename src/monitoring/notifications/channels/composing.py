"""The message of a delivery, for the channels that people read."""

from __future__ import annotations

from dataclasses import replace

from monitoring.backends.current import current_backends
from monitoring.notifications.acknowledge_links import write_acknowledge_link
from monitoring.notifications.channels.message import Message
from monitoring.notifications.channels.wording import word
from monitoring.notifications.models import NotificationDelivery


def compose(delivery: NotificationDelivery) -> Message:
    """Put a delivery's event in words, and say how to answer it. Every attempt makes the same message."""
    base_url = current_backends().settings.base_url
    message = word(delivery.payload, base_url)
    return replace(message, acknowledge_link=write_acknowledge_link(delivery, base_url))
