"""Links in messages, with which readers acknowledge an incident without signing in."""

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
    """Which incident a link is for, and the channel whose readers have it."""

    incident_id: UUID
    channel_id: UUID


def write_acknowledge_link(delivery: NotificationDelivery, base_url: str) -> str | None:
    """Return the link of a message about an incident, the same at every attempt; None for other messages."""
    if delivery.event not in ANSWERABLE:
        return None
    claims = {"incident": str(delivery.subject_id), "channel": str(delivery.channel_id)}
    token = sign_link(PURPOSE, claims, delivery.created_at + VALID_FOR)
    # The access log has paths, but no queries.
    return f"{base_url}/app/acknowledge?token={token}"


def read_acknowledge_link(token: str) -> AcknowledgeLink | None:
    """Return what a link is for; None if its signature is not ours or it has expired."""
    claims = read_link(PURPOSE, token)
    return AcknowledgeLink(UUID(claims["incident"]), UUID(claims["channel"])) if claims else None
