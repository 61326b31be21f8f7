"""What happened in an incident, in order: it began, channels were told, people answered, it ended. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from enum import StrEnum, auto
from typing import NamedTuple

from monitoring.app.channels.labels import name_event, name_way
from monitoring.app.formatting import go_on_with
from monitoring.incidents.models import Incident, IncidentNote
from monitoring.notifications.models import DeliveryStatus, NotificationDelivery


class Tone(StrEnum):
    """How an entry's dot is coloured. Its words say the same."""

    PLAIN = auto()
    BAD = auto()
    GOOD = auto()


class Entry(NamedTuple):
    """Something that happened. `text` is a stranger's or a provider's, and may be empty.

    `who` did it, or was told of it, and stands before the title. The page keeps apart what it may do to words
    around it. Empty if it is nobody.
    """

    happened_at: datetime
    title: str
    text: str = ""
    who: str = ""
    tone: Tone = Tone.PLAIN


def tell_incident(
    incident: Incident, notes: Iterable[IncidentNote], deliveries: Iterable[NotificationDelivery]
) -> list[Entry]:
    """Return what happened, oldest first."""
    entries = [
        Entry(incident.started_at, "The first check failed", f"{incident.error_message}.", tone=Tone.BAD),
        Entry(incident.confirmed_at, "The failure was confirmed, and the incident opened", tone=Tone.BAD),
        *(tell_delivery(delivery, incident.resolution) for delivery in deliveries),
        *(Entry(note.created_at, "wrote", note.text, note.author) for note in notes),
    ]
    if incident.acknowledged_at:
        entries.append(Entry(incident.acknowledged_at, "acknowledged it", who=incident.acknowledged_by or ""))
    if incident.resolved_at:
        ended = Entry(incident.resolved_at, "The monitor recovered", tone=Tone.GOOD)
        if incident.resolution != "recovered":
            how = f"The monitor was {incident.resolution}, which ended the incident"
            ended = Entry(incident.resolved_at, how)
        entries.append(ended)
    return sorted(entries, key=lambda entry: entry.happened_at)


def is_nobody_told(incident: Incident, deliveries: Sequence[NotificationDelivery]) -> bool:
    """Say whether an open incident was told to nobody, and will be told to nobody."""
    reached = (DeliveryStatus.DELIVERED, DeliveryStatus.PENDING)
    return incident.resolved_at is None and not any(each.status in reached for each in deliveries)


def tell_delivery(delivery: NotificationDelivery, resolution: str | None = None) -> Entry:
    """Tell whom a message told, how, and what became of it.

    `resolution` is how its incident ended, if it is about one that did.
    """
    what = name_event(delivery.event, resolution)
    name, reason, way = delivery.channel.name, delivery.error_message, name_way(delivery.channel.type)
    by = "" if name == way else f" by {way}"  # some channels are called after their service
    if delivery.status == DeliveryStatus.DELIVERED:
        return Entry(delivery.delivered_at or delivery.created_at, f"was told{by}", f"{what}.", name)
    if delivery.status == DeliveryStatus.SKIPPED:
        return Entry(delivery.created_at, f"was not told{by}", f"{reason}.", name)
    if delivery.status == DeliveryStatus.FAILED:
        return Entry(delivery.created_at, f"could not be told{by}", f"{reason}.", name, Tone.BAD)
    tried = f"The last attempt failed: {go_on_with(reason)}." if reason else f"{what}. Not sent yet."
    return Entry(delivery.created_at, f"is being told{by}", tried, name)
