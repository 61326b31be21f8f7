"""Signed links in messages, with which people can acknowledge an incident without signing in."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from monitoring.auth.links import read_link, sign_link
from monitoring.notifications.models import NotificationDelivery

PURPOSE = "acknowledge"
VALID_FOR = timedelta(days=7)
ANSWERABLE = frozenset({"incident.opened", "incident.reminder"})


@dataclass(frozen=True, slots=True)
class AcknowledgeLink:
    """The claims of an acknowledge link: the incident, and the channel that the link was sent to."""

    incident_id: UUID
    channel_id: UUID


def write_acknowledge_link(delivery: NotificationDelivery, base_url: str) -> str | None:
    """Return a delivery's acknowledge link, or None if the event cannot be acknowledged.

    Every attempt to send the delivery uses the same link.
    """
    if delivery.event not in ANSWERABLE:
        return None
    claims = {"incident": str(delivery.subject_id), "channel": str(delivery.channel_id)}
    token = sign_link(PURPOSE, claims, delivery.created_at + VALID_FOR)
    # The token is in the query string, because the access log records only paths.
    return f"{base_url}/app/acknowledge?token={token}"


def read_acknowledge_link(token: str) -> AcknowledgeLink | None:
    """Return a token's claims, or None if its signature is invalid or the token has expired."""
    claims = read_link(PURPOSE, token)
    return AcknowledgeLink(UUID(claims["incident"]), UUID(claims["channel"])) if claims else None
