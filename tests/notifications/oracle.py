"""Works out again, from everything that happened, when which message leaves for a channel, and what it tells.

It knows no database: where the service asks for rows, this looks through the whole list.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, time, timedelta
from typing import TYPE_CHECKING, NamedTuple
from zoneinfo import ZoneInfo

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from uuid import UUID

MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
BERLIN = ZoneInfo("Europe/Berlin")


@dataclass
class Outage:
    """An incident: it was opened, perhaps acknowledged, and resolved."""

    monitor_id: UUID
    tags: Sequence[str]
    opened_at: datetime
    resolved_at: datetime
    acknowledged_at: datetime | None = None
    incident_id: UUID | None = None


class Event(NamedTuple):
    """What happened to an outage."""

    at: datetime
    name: str
    outage: Outage


@dataclass(frozen=True)
class Taste:
    """What a channel wants."""

    is_for_people: bool = True
    tag: str | None = None
    delay: timedelta = timedelta(0)
    unless_acknowledged: bool = False
    night: tuple[int, int] | None = None  # hours in Berlin, over midnight
    reminder: timedelta | None = None  # it wants nothing else


@dataclass
class Message:
    """Leaves at a time. Unless it waits for something, nothing joins it."""

    leaves_at: datetime
    waits_for: str | None
    events: list[Event] = field(default_factory=list)


def events_of(outages: Iterable[Outage]) -> list[Event]:
    """List everything that happened, oldest first."""
    events = []
    for each in outages:
        events.append(Event(each.opened_at, "incident.opened", each))
        if each.acknowledged_at:
            events.append(Event(each.acknowledged_at, "incident.acknowledged", each))
        events.append(Event(each.resolved_at, "incident.resolved", each))
    return sorted(events, key=lambda event: event.at)


def work_out(taste: Taste, outages: Sequence[Outage]) -> list[Message]:
    """Return the messages to a channel, in the order in which they leave."""
    wanted = [each for each in outages if taste.tag is None or taste.tag in each.tags]
    if taste.reminder:
        return sorted(_remind(taste.reminder, wanted), key=lambda message: message.leaves_at)
    told = [event for event in events_of(wanted) if _is_told(taste, event)]
    if not taste.is_for_people:
        return [Message(event.at, None, [event]) for event in told]
    messages: list[Message] = []
    for moment in sorted({event.at for event in told}):
        _send([event for event in told if event.at == moment], moment, taste, messages, outages)
    return _merge(messages)


def _remind(interval: timedelta, outages: Iterable[Outage]) -> Iterator[Message]:
    for each in outages:
        end = min(each.resolved_at, each.acknowledged_at or each.resolved_at)
        moment = each.opened_at + interval
        while moment < end:
            yield Message(moment, None, [Event(moment, "incident.reminder", each)])
            moment += interval


def _is_told(taste: Taste, event: Event) -> bool:
    outage = event.outage
    due_at = outage.opened_at + taste.delay
    was_taken = outage.acknowledged_at is not None and outage.acknowledged_at < due_at
    if event.name == "incident.acknowledged":
        return not was_taken
    return outage.resolved_at >= due_at and not (was_taken and taste.unless_acknowledged)


def _send(
    events: list[Event], moment: datetime, taste: Taste, messages: list[Message], outages: Sequence[Outage]
) -> None:
    prompt = []
    for event in events:
        leaves_at = moment + (taste.delay if event.name == "incident.opened" else timedelta(0))
        morning = _morning_after(leaves_at, taste.night)
        if morning or leaves_at > moment:
            messages.append(Message(morning or leaves_at, "its time", [event]))
        elif event.name != "incident.acknowledged" and _is_flapping(event, outages):
            _join("flapping", _awake(moment + 10 * MINUTE, taste), event, moment, messages)
        else:
            prompt.append(event)
    before = [
        event.at
        for message in messages
        if message.waits_for in (None, "storm")
        for event in message.events
        if event.at >= moment - MINUTE
    ]
    if len(before) + len(prompt) <= 3:
        messages += [Message(moment, None, [event]) for event in prompt]
        return
    calm_at = _awake(min(before) + MINUTE if before else moment, taste)
    for event in prompt:
        _join("storm", calm_at, event, moment, messages)


def _join(reason: str, leaves_at: datetime, event: Event, moment: datetime, messages: list[Message]) -> None:
    """Add to what still waits for this reason, or let it wait alone."""
    for message in messages:
        if message.waits_for == reason and (message.leaves_at > moment or message.events[0].at == moment):
            message.events.append(event)
            return
    messages.append(Message(leaves_at, reason, [event]))


def _is_flapping(event: Event, outages: Sequence[Outage]) -> bool:
    opened_at = event.outage.opened_at
    recent = [each for each in outages if opened_at - HOUR < each.opened_at <= opened_at]
    return sum(each.monitor_id == event.outage.monitor_id for each in recent) > 4


def _awake(moment: datetime, taste: Taste) -> datetime:
    return _morning_after(moment, taste.night) or moment


def _morning_after(moment: datetime, night: tuple[int, int] | None) -> datetime | None:
    local = moment.astimezone(BERLIN)
    if night is None or night[1] <= local.hour < night[0]:
        return None
    day = local.date() + timedelta(days=local.hour >= night[0])
    return datetime.combine(day, time(night[1]), BERLIN)


def _merge(messages: Iterable[Message]) -> list[Message]:
    """Let what waited until the same moment leave together."""
    merged: dict[tuple[datetime, str], Message] = {}
    for number, each in enumerate(sorted(messages, key=lambda message: message.leaves_at)):
        key = (each.leaves_at, "together" if each.waits_for else f"alone {number}")
        whole = merged.setdefault(key, Message(each.leaves_at, each.waits_for))
        whole.events += each.events
    return list(merged.values())
