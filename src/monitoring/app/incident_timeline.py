"""What happened in an incident, in order: it began, channels were told, people answered, it ended. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from monitoring.app.channel_words import name_event
from monitoring.notifications.models import DeliveryStatus

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from monitoring.incidents.models import Incident, IncidentNote
    from monitoring.notifications.models import NotificationDelivery


class Entry(NamedTuple):
    """Something that happened. `text` is a stranger's or a provider's, and may be empty.

    `who` did it, or was told of it, and stands before the title. The page keeps apart what it may do to words
    around it. Empty if it is nobody.
    """

    happened_at: datetime
    title: str
    text: str = ""
    who: str = ""


def tell_incident(
    incident: Incident, notes: Iterable[IncidentNote], deliveries: Iterable[NotificationDelivery]
) -> list[Entry]:
    """Return what happened, oldest first."""
    entries = [
        Entry(incident.started_at, "The first check failed", f"{incident.error_message}."),
        Entry(incident.confirmed_at, "The failure was confirmed, and the incident opened"),
        *(tell_delivery(delivery, incident.resolution) for delivery in deliveries),
        *(Entry(note.created_at, "wrote", note.text, note.author) for note in notes),
    ]
    if incident.acknowledged_at:
        entries.append(Entry(incident.acknowledged_at, "acknowledged it", who=incident.acknowledged_by or ""))
    if incident.resolved_at:
        how = "The monitor recovered"
        if incident.resolution != "recovered":
            how = f"The monitor was {incident.resolution}, which ended the incident"
        entries.append(Entry(incident.resolved_at, how))
    return sorted(entries, key=lambda entry: entry.happened_at)


def is_nobody_told(incident: Incident, deliveries: Sequence[NotificationDelivery]) -> bool:
    """Say whether an open incident was told to nobody, and will be told to nobody."""
    reached = (DeliveryStatus.DELIVERED, DeliveryStatus.PENDING)
    return incident.resolved_at is None and not any(each.status in reached for each in deliveries)


def tell_delivery(delivery: NotificationDelivery, resolution: str | None = None) -> Entry:
    """Tell what became of a message. `resolution` is how its incident ended, if it is about one that did."""
    what = name_event(delivery.event, resolution)
    name, reason = delivery.channel.name, delivery.error_message
    if delivery.status == DeliveryStatus.DELIVERED:
        return Entry(delivery.delivered_at or delivery.created_at, "was told", f"{what}.", name)
    if delivery.status == DeliveryStatus.SKIPPED:
        return Entry(delivery.created_at, "was not told", f"{reason}.", name)
    if delivery.status == DeliveryStatus.FAILED:
        return Entry(delivery.created_at, "could not be told", f"{reason}.", name)
    return Entry(delivery.created_at, "is being told", f"{what}. {reason or 'Not sent yet'}.", name)
