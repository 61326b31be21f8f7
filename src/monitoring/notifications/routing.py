"""Decides which channels are notified of an event, and when. Has no side effects."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from uuid import UUID

from monitoring.contract.document import Json
from monitoring.notifications.configuration import complete_routing
from monitoring.notifications.models import CONFIRMATION, NotificationChannel
from monitoring.notifications.quiet_hours import find_quiet_end

# Maps each event that ends a situation to the event that began it. A channel is never notified of a situation
# that ends within the channel's delay.
BEGINNINGS: Mapping[str, str] = {
    "incident.resolved": "incident.opened",
    "incident.acknowledged": "incident.opened",
    "monitor.recovered": "monitor.degraded",
}
ACKNOWLEDGED = "incident.acknowledged"
REMINDER = "incident.reminder"
# A channel that subscribes to one of these events is notified of incidents that nobody has acknowledged.
ALERTS = frozenset({"incident.opened", REMINDER})
# Channels that subscribe to opened incidents also receive this event, because without checks, no outage can
# be found.
INTERRUPTED = "checks.interrupted"

# Messages that a person has requested and is waiting for, so quiet hours do not delay them.
TEST = "test"
ASKED_FOR = frozenset({TEST, CONFIRMATION})

# The types of channels that programs read.
PROGRAMS = frozenset({"webhook", "custom", "pagerduty", "opsgenie"})
# The types of channels whose provider opens an incident of its own. The event that ends this service's
# incident closes the provider's incident.
PAGERS = frozenset({"pagerduty", "opsgenie"})


class Hold(StrEnum):
    """The reason why a delivery is not sent immediately, even if a worker is free."""

    DELAY = "delay"  # the channel is notified only of situations that outlast its delay
    STORM = "storm"  # more than a few events within a minute
    FLAPPING = "flapping"  # the monitor goes down again and again
    QUIET = "quiet"  # the channel has quiet hours
    STORY = "story"  # an earlier message about the same incident is pending
    LATE = "late"  # quiet hours began before a worker claimed the delivery; never in a digest


# Deliveries with these holds may join a digest. Deliveries with other holds may already have been attempted.
GATHERED = frozenset({Hold.DELAY, Hold.STORM, Hold.FLAPPING, Hold.QUIET})


@dataclass(frozen=True, slots=True, kw_only=True)
class Announcement:
    """An event for a team's channels: what happened, when, and to which subject.

    `subject_id` is the id of the subject, such as an incident, monitor or article. Channels select events
    about monitors by `monitor_id` and `tags`, whereas any other event goes to every subscribed channel.
    `recent_incidents` is the number of the monitor's incidents within an hour. If `channel_ids` is not None,
    only these channels can receive the event.
    """

    team_id: UUID
    event: str
    happened_at: datetime
    subject: Mapping[str, Json]
    subject_id: UUID | None = None
    monitor_id: UUID | None = None
    tags: Collection[str] = ()
    recent_incidents: int = 0
    channel_ids: Collection[UUID] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """The channel settings that determine which events a channel receives, and when."""

    channel_id: UUID
    type: str
    events: Collection[str]
    routing: Mapping[str, Json]

    @property
    def is_read_by_people(self) -> bool:
        """Whether people read the channel's messages. Programs get every event in a separate message."""
        return self.type not in PROGRAMS

    def leads(self, announcement: Announcement) -> bool:
        """Return whether this channel receives an event."""
        if announcement.channel_ids is not None and self.channel_id not in announcement.channel_ids:
            return False
        if announcement.event == INTERRUPTED:
            # Pagers are left out, because no later event would close the incident in the pager.
            return "incident.opened" in self.events and self.type not in PAGERS
        return announcement.event in self.events and self.concerns(announcement.monitor_id, announcement.tags)

    def concerns(self, monitor_id: UUID | None, tags: Collection[str]) -> bool:
        """Return whether the channel is notified of a monitor's events.

        This is true if the channel selects the monitor by its id or one of its tags, if the channel does not
        select particular monitors, or if `monitor_id` is None.
        """
        wanted_tags, wanted_ids = self.routing["tags"], self.routing["monitor_ids"]
        if monitor_id is None or not (wanted_tags or wanted_ids):
            return True
        return str(monitor_id) in wanted_ids or not set(tags).isdisjoint(wanted_tags)

    def delay_of(self, event: str) -> timedelta:
        """Return the delay before an event is sent, which is zero unless the event begins a situation."""
        begins = event in BEGINNINGS.values()
        return timedelta(seconds=self.routing["delay_seconds"] if begins else 0)

    def quiet_end(self, moment: datetime) -> datetime | None:
        """Return the end of the quiet hours that contain `moment`, or None if `moment` is outside them."""
        return find_quiet_end(self.routing, moment)

    def late_end(self, due_at: datetime, moment: datetime) -> datetime | None:
        """Return the end of quiet hours that contain `moment` and began after `due_at`, or None.

        A message that was already due during quiet hours need not wait for their end, because a person
        requested it during quiet hours.
        """
        return None if self.quiet_end(due_at) else self.quiet_end(moment)

    def is_spared_by(self, event: str) -> bool:
        """Return whether an ending `event` makes the delayed message about the situation's start obsolete."""
        return event != ACKNOWLEDGED or self.routing["unless_acknowledged"]


def route_of(channel: NotificationChannel) -> Route:
    """Return the route that a channel's settings define."""
    return Route(
        channel_id=channel.id,
        type=channel.type,
        events=channel.events,
        routing=complete_routing(channel.settings)["routing"],
    )
