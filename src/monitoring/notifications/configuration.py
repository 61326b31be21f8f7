"""What a client decides about a webhook: the document's NotificationWebhookCreate, and its defaults."""

from __future__ import annotations

from typing import TYPE_CHECKING

from monitoring.contract.configurations import Configuration, read_configuration, read_defaults

if TYPE_CHECKING:
    from collections.abc import Mapping

    from monitoring.contract.document import Json
    from monitoring.notifications.models import NotificationWebhook

__all__ = ["Configuration", "configuration_of", "default_configuration"]

_SCHEMA = "NotificationWebhookCreate"


def configuration_of(webhook: NotificationWebhook) -> Configuration:
    """Read a webhook's configuration, in the order of the document."""
    return read_configuration(webhook, _SCHEMA)


def default_configuration() -> Mapping[str, Json]:
    """Return the default of every field that has one. The name's default depends on the channel."""
    return read_defaults(_SCHEMA)
