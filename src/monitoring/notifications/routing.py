"""Which channels are told of an event, and when. Pure."""

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

# What an event ends that another one began. What was over within a channel's delay is never sent to it.
BEGINNINGS: Mapping[str, str] = {
    "incident.resolved": "incident.opened",
    "incident.acknowledged": "incident.opened",
    "monitor.recovered": "monitor.degraded",
}
ACKNOWLEDGED = "incident.acknowledged"
REMINDER = "incident.reminder"
# Nobody chooses it: whoever wants to hear that monitors go down hears that nobody can say so.
INTERRUPTED = "checks.interrupted"

# What somebody waits for at this moment, whatever the hour.
TEST = "test"
ASKED_FOR = frozenset({TEST, CONFIRMATION})

# The types of channels to programs.
PROGRAMS = frozenset({"webhook", "custom", "pagerduty", "opsgenie"})
# Those that keep incidents of their own, which an end closes and says nothing else.
PAGERS = frozenset({"pagerduty", "opsgenie"})


class Hold(StrEnum):
    """Why a delivery does not leave at once, although a worker may be free."""

    DELAY = "delay"  # the channel wants to know only what lasts
    STORM = "storm"  # more than a few events within a minute
    FLAPPING = "flapping"  # the monitor goes down again and again
    QUIET = "quiet"  # the channel has quiet hours
    STORY = "story"  # an earlier message about the same incident has not ended
    LATE = "late"  # no worker took it before they began: it was its turn already, and it stays what it is


# What becomes one message with others. Everything else was tried already, or was to be.
GATHERED = frozenset({Hold.DELAY, Hold.STORM, Hold.FLAPPING, Hold.QUIET})


@dataclass(frozen=True, slots=True, kw_only=True)
class Announcement:
    """An event that a team's channels are told about: what happened, when, and to which subject.

    `subject_id` is that of the incident, the monitor, the article or what else it is about. `monitor_id` and
    `tags` say whom an event about a monitor concerns; other events concern every channel that wants them.
    `recent_incidents` is how many the monitor has had within an hour. With `channel_ids` only these channels
    are told.
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
    """A channel, as far as it decides what it is told and when."""

    channel_id: UUID
    type: str
    events: Collection[str]
    routing: Mapping[str, Json]

    @property
    def is_read_by_people(self) -> bool:
        """Whether messages are for people, rather than for a program that wants every event by itself."""
        return self.type not in PROGRAMS

    def leads(self, announcement: Announcement) -> bool:
        """Say whether an event is for this channel."""
        if announcement.channel_ids is not None and self.channel_id not in announcement.channel_ids:
            return False
        if announcement.event == INTERRUPTED:
            return "incident.opened" in self.events and self.type not in PAGERS  # which nothing would close
        return announcement.event in self.events and self.concerns(announcement.monitor_id, announcement.tags)

    def concerns(self, monitor_id: UUID | None, tags: Collection[str]) -> bool:
        """Say whether the channel is told about a monitor. Events about no monitor concern everybody."""
        wanted_tags, wanted_ids = self.routing["tags"], self.routing["monitor_ids"]
        if monitor_id is None or not (wanted_tags or wanted_ids):
            return True
        return str(monitor_id) in wanted_ids or not set(tags).isdisjoint(wanted_tags)

    def delay_of(self, event: str) -> timedelta:
        """Say how long what an event begins must last before the channel is told."""
        begins = event in BEGINNINGS.values()
        return timedelta(seconds=self.routing["delay_seconds"] if begins else 0)

    def quiet_end(self, moment: datetime) -> datetime | None:
        """Say until when a message waits that would leave at a moment; None if it need not."""
        return find_quiet_end(self.routing, moment)

    def late_end(self, due_at: datetime, moment: datetime) -> datetime | None:
        """Say until when a message waits that was due before quiet hours in which a moment lies.

        What is due in quiet hours was asked for in them, such as a test, or is the message that ends them.
        """
        return None if self.quiet_end(due_at) else self.quiet_end(moment)

    def is_spared_by(self, event: str) -> bool:
        """Say whether an event makes it needless to tell this channel of the beginning."""
        return event != ACKNOWLEDGED or self.routing["unless_acknowledged"]


def route_of(channel: NotificationChannel) -> Route:
    """Read the route of a channel's row."""
    return Route(
        channel_id=channel.id,
        type=channel.type,
        events=channel.events,
        routing=complete_routing(channel.settings)["routing"],
    )
