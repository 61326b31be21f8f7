"""What a message was about, as a list of deliveries tells it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import orjson

from monitoring.app.channels.labels import name_event
from monitoring.contract.document import Json
from monitoring.notifications.grouping import DIGEST
from monitoring.notifications.models import NotificationDelivery

# A sum of events names so many monitors.
MOST_NAMED = 3


class Subject(NamedTuple):
    """A monitor that a message was about, and the page that tells more: its incident's, or its own."""

    name: str
    path: str


class Description(NamedTuple):
    """What a message was about. `more` counts the monitors beyond those that are named."""

    words: str
    subjects: tuple[Subject, ...]
    more: int


def describe_delivery(delivery: NotificationDelivery) -> Description:
    """Say what a message was about."""
    data = orjson.loads(delivery.payload)["data"]
    if delivery.event == DIGEST:
        found = [subject for event in data["events"] if (subject := _find_subject(event["data"]))]
        by_name = {subject.name: subject for subject in found}
        subjects = tuple(by_name.values())
        words = f"Sum of {len(data['events'])} events"
        return Description(words, subjects[:MOST_NAMED], max(0, len(subjects) - MOST_NAMED))
    subject = _find_subject(data)
    resolution = data["incident"].get("resolution") if "incident" in data else None
    return Description(name_event(delivery.event, resolution), (subject,) if subject else (), 0)


def _find_subject(data: Mapping[str, Json]) -> Subject | None:
    if "monitor" not in data:
        return None
    monitor = data["monitor"]
    if "incident" in data:
        return Subject(monitor["name"], f"/incidents/{data['incident']['id']}")
    return Subject(monitor["name"], f"/monitors/{monitor['id']}")
