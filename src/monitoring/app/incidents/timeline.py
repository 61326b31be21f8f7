"""Builds an incident's timeline: its start, notifications, acknowledgement, notes and end, in order.

Has no side effects.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import StrEnum, auto
from typing import NamedTuple

from monitoring.app.channels.labels import name_channel_type, name_event
from monitoring.app.formatting import continue_sentence
from monitoring.incidents.models import Incident, IncidentNote
from monitoring.notifications.models import DeliveryStatus, NotificationDelivery


class Tone(StrEnum):
    """The colour of an entry's dot. The entry's title conveys the same meaning."""

    PLAIN = auto()
    BAD = auto()
    GOOD = auto()


class Entry(NamedTuple):
    """A timeline entry. `text` may be empty, and may be untrusted.

    `who` is the actor or the notified channel; empty if there is neither. The page shows `who` before the
    title, and isolates its writing direction.
    """

    happened_at: datetime
    title: str
    text: str = ""
    who: str = ""
    tone: Tone = Tone.PLAIN


def build_incident_timeline(
    incident: Incident,
    notes: Iterable[IncidentNote],
    deliveries: Iterable[NotificationDelivery],
    names: Mapping[str, str],
) -> list[Entry]:
    """Return the incident's timeline, oldest entry first. `names` maps each actor to the name to show."""
    entries = [
        Entry(incident.started_at, "The first check failed", f"{incident.error_message}.", tone=Tone.BAD),
        Entry(incident.confirmed_at, "The failure was confirmed, and the incident opened", tone=Tone.BAD),
        *(describe_notification(delivery, incident.resolution) for delivery in deliveries),
        *(Entry(note.created_at, "wrote", note.text, names[note.author]) for note in notes),
    ]
    if incident.acknowledged_at:
        entries.append(
            Entry(incident.acknowledged_at, "acknowledged it", who=names[incident.acknowledged_by or ""])
        )
    if incident.resolved_at:
        ended = Entry(incident.resolved_at, "The monitor recovered", tone=Tone.GOOD)
        if incident.resolution != "recovered":
            how = f"The monitor was {incident.resolution}, which ended the incident"
            ended = Entry(incident.resolved_at, how)
        entries.append(ended)
    return sorted(entries, key=lambda entry: entry.happened_at)


def describe_notification(delivery: NotificationDelivery, resolution: str | None = None) -> Entry:
    """Describe a delivery: who was notified, how, and with what result.

    `resolution` is how the incident ended. It is None if the incident has not ended, or if the delivery is
    not about an incident.
    """
    what = name_event(delivery.event, resolution)
    name, reason = delivery.channel.name, delivery.error_message
    channel_type = name_channel_type(delivery.channel.type)
    by = "" if name == channel_type else f" by {channel_type}"  # some channels are named after their service
    if delivery.status == DeliveryStatus.DELIVERED:
        return Entry(delivery.delivered_at or delivery.created_at, f"was notified{by}", f"{what}.", name)
    if delivery.status == DeliveryStatus.SKIPPED:
        return Entry(delivery.created_at, f"was not notified{by}", f"{reason}.", name)
    if delivery.status == DeliveryStatus.FAILED:
        return Entry(delivery.created_at, f"could not be notified{by}", f"{reason}.", name, Tone.BAD)
    tried = f"The last attempt failed: {continue_sentence(reason)}." if reason else f"{what}. Not sent yet."
    return Entry(delivery.created_at, f"is being notified{by}", tried, name)
