"""Which channels are notified of an event, and when. Pure."""

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

# Which event begins what an event ends. What was over within a channel's delay is never sent to it.
BEGINNINGS: Mapping[str, str] = {
    "incident.resolved": "incident.opened",
    "incident.acknowledged": "incident.opened",
    "monitor.recovered": "monitor.degraded",
}
ACKNOWLEDGED = "incident.acknowledged"
REMINDER = "incident.reminder"
# A channel with one of these hears of an incident that nobody answers.
ALERTS = frozenset({"incident.opened", REMINDER})
# Not a choice of its own: channels that want to know when monitors go down must know if we cannot check.
INTERRUPTED = "checks.interrupted"

# Somebody waits for these now, whatever the hour.
TEST = "test"
ASKED_FOR = frozenset({TEST, CONFIRMATION})

# The types of channels that programs read.
PROGRAMS = frozenset({"webhook", "custom", "pagerduty", "opsgenie"})
# Those that keep incidents of their own, which a resolving event closes.
PAGERS = frozenset({"pagerduty", "opsgenie"})


class Hold(StrEnum):
    """Why a delivery is not sent at once, although a worker may be free."""

    DELAY = "delay"  # the channel wants to know only what lasts
    STORM = "storm"  # more than a few events within a minute
    FLAPPING = "flapping"  # the monitor goes down again and again
    QUIET = "quiet"  # the channel has quiet hours
    STORY = "story"  # an earlier message about the same incident has not ended
    LATE = "late"  # it was due before quiet hours, but no worker took it in time; it joins no digest


# Deliveries that may join a digest. All others may have been tried already.
GATHERED = frozenset({Hold.DELAY, Hold.STORM, Hold.FLAPPING, Hold.QUIET})


@dataclass(frozen=True, slots=True, kw_only=True)
class Announcement:
    """An event for a team's channels: what happened, when, and to which subject.

    `subject_id` is the id of the incident, monitor, article or other subject. Channels choose events of
    monitors by `monitor_id` and `tags`; other events go to every channel that subscribes to them.
    `recent_incidents` is how many the monitor has had within an hour. `channel_ids` restricts the event to
    these channels.
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
    """The settings of a channel that decide which events it receives, and when."""

    channel_id: UUID
    type: str
    events: Collection[str]
    routing: Mapping[str, Json]

    @property
    def is_read_by_people(self) -> bool:
        """Whether people read the messages, rather than a program that wants every event by itself."""
        return self.type not in PROGRAMS

    def leads(self, announcement: Announcement) -> bool:
        """Return whether an event is for this channel."""
        if announcement.channel_ids is not None and self.channel_id not in announcement.channel_ids:
            return False
        if announcement.event == INTERRUPTED:
            return "incident.opened" in self.events and self.type not in PAGERS  # nothing would close it
        return announcement.event in self.events and self.concerns(announcement.monitor_id, announcement.tags)

    def concerns(self, monitor_id: UUID | None, tags: Collection[str]) -> bool:
        """Return whether the channel wants events of a monitor, or an event that is about no monitor."""
        wanted_tags, wanted_ids = self.routing["tags"], self.routing["monitor_ids"]
        if monitor_id is None or not (wanted_tags or wanted_ids):
            return True
        return str(monitor_id) in wanted_ids or not set(tags).isdisjoint(wanted_tags)

    def delay_of(self, event: str) -> timedelta:
        """Return how long the situation that an event begins must last before the event is sent."""
        begins = event in BEGINNINGS.values()
        return timedelta(seconds=self.routing["delay_seconds"] if begins else 0)

    def quiet_end(self, moment: datetime) -> datetime | None:
        """Return when the quiet hours end that contain a moment; None if it is in no quiet hours."""
        return find_quiet_end(self.routing, moment)

    def late_end(self, due_at: datetime, moment: datetime) -> datetime | None:
        """Return when the quiet hours end that began since a message was due; None if it need not wait.

        A message that is due in quiet hours was requested in them, such as a test, or is due at their end.
        """
        return None if self.quiet_end(due_at) else self.quiet_end(moment)

    def is_spared_by(self, event: str) -> bool:
        """Return whether an event makes the message about the beginning needless for this channel."""
        return event != ACKNOWLEDGED or self.routing["unless_acknowledged"]


def route_of(channel: NotificationChannel) -> Route:
    """Return the route of a channel."""
    return Route(
        channel_id=channel.id,
        type=channel.type,
        events=channel.events,
        routing=complete_routing(channel.settings)["routing"],
    )
