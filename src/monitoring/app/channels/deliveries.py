"""The page that lists a notification channel's deliveries, and the action that sends a delivery again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import orjson
from starlette.responses import Response

from monitoring.app.channels.labels import name_event
from monitoring.app.live.fingerprints import Shown, Source
from monitoring.app.live.following import live
from monitoring.app.routing import for_members
from monitoring.app.visits import Visit
from monitoring.auth.limits import count_request
from monitoring.contract.cursors import PagedList, next_cursor
from monitoring.contract.document import Json
from monitoring.notifications.deliveries import list_deliveries, redeliver
from monitoring.notifications.grouping import DIGEST
from monitoring.notifications.models import NotificationDelivery
from monitoring.notifications.service import get_channel
from monitoring.notifications.tasks import nudge

DELIVERIES_A_PAGE = 50

# The most monitors that are named in the description of a digest.
MOST_NAMED = 3

_PATH = "/settings/notifications/{channel_id}/deliveries"


async def show_deliveries(visit: Visit) -> Response:
    """Show a page of the channel's deliveries of the last 30 days, newest first."""
    channel = await get_channel(visit.team.id, visit.read_id("channel_id"))
    page = await list_deliveries(channel, None, DELIVERIES_A_PAGE, visit.after_id)
    return visit.render(
        "channels/deliveries.html",
        channel=channel,
        deliveries=[(each, describe_delivery(each)) for each in page.rows],
        next_cursor=next_cursor(PagedList.NOTIFICATION_DELIVERIES, page.continues_after),
    )


class Subject(NamedTuple):
    """A monitor that a message was about. `path` leads to the monitor's incident, or else to the monitor."""

    name: str
    path: str


class Description(NamedTuple):
    """A description of a message, and the monitors that it was about. `more` counts unlisted monitors."""

    words: str
    subjects: tuple[Subject, ...]
    more: int


def describe_delivery(delivery: NotificationDelivery) -> Description:
    """Describe a delivery's message. The description of a digest lists at most `MOST_NAMED` monitors."""
    data = orjson.loads(delivery.payload)["data"]
    if delivery.event == DIGEST:
        found = [subject for event in data["events"] if (subject := _find_subject(event["data"]))]
        by_name = {subject.name: subject for subject in found}
        subjects = tuple(by_name.values())
        words = f"Summary of {len(data['events'])} events"
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


async def send_again(visit: Visit) -> Response:
    """Queue a delivery to be sent again. It counts against the team's rate limit for notifications."""
    channel_id, delivery_id = visit.read_id("channel_id"), visit.read_id("delivery_id")
    channel = await get_channel(visit.team.id, channel_id)
    await count_request(visit.request, visit.settings.rate_limit_notifications, str(visit.team.id))
    delivery = await redeliver(visit.team.id, channel.id, delivery_id, by=visit.actor)
    await nudge([delivery.id])
    return visit.redirect(_PATH.format(channel_id=channel_id), notice="delivery_sent_again")


async def _name_sources(visit: Visit) -> list[Shown]:
    return [Shown(Source.CHANNELS, visit.team.id), Shown(Source.CHANNEL, visit.read_id("channel_id"))]


ROUTES = (
    for_members(_PATH, get=live(_name_sources, show_deliveries)),
    for_members(f"{_PATH}/{{delivery_id}}/send-again", post=send_again),
)
