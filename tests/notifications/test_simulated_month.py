"""A month of incidents on a simulated clock, told by the real code to a real server, beside an oracle."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count
from random import Random
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

import orjson
import pytest
import time_machine

from monitoring.audit.actors import Actor
from monitoring.auth.service import create_team
from monitoring.backends.clock import Clock
from monitoring.backends.current import current_backends
from monitoring.incidents.models import Incident, Resolution
from monitoring.incidents.responding import acknowledge
from monitoring.incidents.service import Ending, Opening, open_incidents, resolve_incidents
from monitoring.monitors import rules
from monitoring.monitors.configuration import default_configuration
from monitoring.monitors.models import Monitor
from monitoring.monitors.reminders import remind
from monitoring.notifications.channels.sender import open_sender
from monitoring.notifications.models import DeliveryStatus, NotificationChannel, NotificationDelivery
from monitoring.notifications.service import create_channel
from monitoring.notifications.tasks import deliver_notification
from notifications.oracle import HOUR, MINUTE, Outage, Taste, events_of, work_out

if TYPE_CHECKING:
    from collections.abc import Sequence

    from monitoring.backends.assembly import Backends
    from notifications.addressee import Addressee
    from notifications.oracle import Event

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("backends")]

# The clocks of Berlin change on 25 October.
BEGINNING = datetime(2026, 10, 1, tzinfo=UTC)
MONTH = timedelta(days=30)
SECOND = timedelta(seconds=1)
MONITORS = 30

INCIDENTS = ["incident.opened", "incident.acknowledged", "incident.resolved"]
NIGHT = {"starts_at": "22:00", "ends_at": "07:00", "time_zone": "Europe/Berlin"}
CHANNELS: dict[str, tuple[dict[str, Any], Taste]] = {
    "program": ({"type": "webhook", "events": INCIDENTS}, Taste(is_for_people=False)),
    "chat": ({"events": INCIDENTS}, Taste()),
    "shop": ({"events": INCIDENTS, "routing": {"tags": ["shop"]}}, Taste(tag="shop")),
    "patient": (
        {"events": INCIDENTS, "routing": {"delay_seconds": 300, "unless_acknowledged": True}},
        Taste(delay=5 * MINUTE, unless_acknowledged=True),
    ),
    "sleeper": ({"events": INCIDENTS, "routing": {"quiet_hours": NIGHT}}, Taste(night=(22, 7))),
    "calm": (
        {"events": INCIDENTS, "routing": {"delay_seconds": 300, "quiet_hours": NIGHT}},
        Taste(delay=5 * MINUTE, night=(22, 7)),
    ),
    "reminder": (
        {"type": "webhook", "events": ["incident.reminder"], "routing": {"reminder_interval_seconds": 7200}},
        Taste(reminder=2 * HOUR),
    ),
}


def write_script(chance: Random, monitors: Sequence[Monitor]) -> list[Outage]:
    """Write a month: outages one by one, monitors that flap, and storms that take many down."""
    outages: list[Outage] = []

    def add(monitor: Monitor, opened_at: datetime, length: timedelta, *, is_taken: bool = False) -> None:
        resolved_at = opened_at + length
        is_free = all(
            each.monitor_id != monitor.id or each.resolved_at < opened_at or resolved_at < each.opened_at
            for each in outages
        )
        if is_free:
            taken_at = opened_at + chance.random() * length if is_taken else None
            outages.append(Outage(monitor.id, monitor.tags, opened_at, resolved_at, taken_at))

    def some_time() -> datetime:
        return BEGINNING + chance.random() * MONTH

    for _ in range(5):
        monitor, start = chance.choice(monitors), some_time()
        for number in range(15):
            add(monitor, start + number * 3 * MINUTE + chance.random() * MINUTE, chance.random() * MINUTE)
        for other in chance.sample(monitors, 6):  # others go down meanwhile
            add(other, start + (20 + chance.random() * 10) * MINUTE, 10 * MINUTE)
    for number in range(6):
        start, is_at_once = some_time(), number % 2
        for monitor in chance.sample(monitors, 4 * number + 3):
            later = timedelta(0) if is_at_once else 90 * chance.random() * SECOND
            add(monitor, start + later, 20 * MINUTE + later)
    for _ in range(80):
        length = chance.choice((10 * MINUTE, HOUR, 10 * HOUR)) * chance.random()
        add(chance.choice(monitors), some_time(), length, is_taken=chance.random() < 0.4)
    return outages


async def make_monitors(team_id: UUID) -> list[Monitor]:
    ages = {"status_changed_at": BEGINNING, "created_at": BEGINNING, "updated_at": BEGINNING}
    monitors = []
    for number in range(MONITORS):
        configuration = {"url": f"https://shop-{number}.example.com/", "tags": ["shop"] if number % 3 else []}
        whole = rules.complete(configuration, default_configuration())
        monitors.append(Monitor(id=uuid4(), team_id=team_id, status="up", search_text="", **ages, **whole))
    await Monitor.bulk_create(monitors)
    return monitors


async def happen(events: Sequence[Event], monitors: dict[UUID, Monitor]) -> None:
    """Let everything of one moment happen, as checks and people do."""
    by_name: dict[str, list[Event]] = {}
    for event in events:
        by_name.setdefault(event.name, []).append(event)
    openings, endings = by_name.get("incident.opened", []), by_name.get("incident.resolved", [])
    await open_incidents(
        [
            Opening(
                monitor=monitors[each.outage.monitor_id],
                started_at=each.at - 10 * SECOND,
                confirmed_at=each.at,
                error="timeout",
                error_message="No answer within 10 s",
            )
            for each in openings
        ]
    )
    for each in openings:
        incident = await Incident.get(monitor_id=each.outage.monitor_id, resolved_at=None)
        each.outage.incident_id = incident.id
    for each in by_name.get("incident.acknowledged", []):
        assert each.outage.incident_id
        team_id = monitors[each.outage.monitor_id].team_id
        await acknowledge(team_id, each.outage.incident_id, Actor("alice"))
    await resolve_incidents(
        [
            Ending(
                monitor=monitors[each.outage.monitor_id], resolved_at=each.at, resolution=Resolution.RECOVERED
            )
            for each in endings
        ]
    )


async def work_off(now: datetime) -> None:
    """Send what is due, as workers do."""
    due = NotificationDelivery.filter(status=DeliveryStatus.PENDING, due_at__lte=now)
    for delivery in await due.order_by("due_at", "id"):
        await deliver_notification.function(str(delivery.id))


async def live_through_the_month(
    outages: Sequence[Outage], monitors: dict[UUID, Monitor], clock: time_machine.Traveller
) -> None:
    """Go from moment to moment at which something happens, is due, or a reminder should be."""
    by_moment: dict[datetime, list[Event]] = {}
    for event in events_of(outages):
        by_moment.setdefault(event.at, []).append(event)
    reminders = {message.leaves_at for message in work_out(CHANNELS["reminder"][1], outages)}
    moments = sorted(by_moment.keys() | reminders)
    while True:
        waiting = NotificationDelivery.filter(status=DeliveryStatus.PENDING, due_at__isnull=False)
        first = await waiting.order_by("due_at").first()
        ahead = [*moments[:1], *([first.due_at] if first and first.due_at else [])]
        if not ahead:
            return
        now = min(ahead)
        clock.move_to(now)
        await work_off(now)
        if now in moments[:1]:
            await happen(by_moment.get(moments.pop(0), []), monitors)
        await remind(now)
        await work_off(now)


async def told_to(channel: NotificationChannel) -> list[tuple[datetime, list[tuple[str, UUID]]]]:
    """Return when each message to a channel left, and the events it told."""
    rows = await NotificationDelivery.filter(channel_id=channel.id).order_by("id")
    sent: dict[UUID, tuple[datetime, list[tuple[str, UUID]]]] = {}
    for row in rows:
        if row.status == DeliveryStatus.SKIPPED:
            continue
        assert row.status == DeliveryStatus.DELIVERED
        assert row.delivered_at
        if row.digest_id:
            continue
        payload = orjson.loads(row.payload)
        parts = payload["data"]["events"] if row.event == "digest" else [payload]
        events = [(part["type"], UUID(part["data"]["incident"]["id"])) for part in parts]
        sent[row.id] = (row.delivered_at, sorted(events))
    return sorted(sent.values())


@pytest.mark.night("the month of checks is the gate's")
@pytest.mark.long(seconds=80)
async def test_after_a_month_each_channel_was_told_what_it_wanted_and_when(
    addressee: Addressee, backends: Backends, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = count()
    # The library that makes ids has a clock of its own. RFC 9562 §5.7: milliseconds, version, variant.
    monkeypatch.setattr(
        "monitoring.backends.fields.generate_uuid7",
        lambda: UUID(int=int(time.time() * 1000) << 80 | 7 << 76 | 2 << 62 | next(numbers)),
    )
    chance = Random(20261124)  # noqa: S311 - a script that repeats
    with (
        time_machine.travel(BEGINNING, tick=False) as clock,
        replace(backends, clock=Clock(monotonic=time.time)).activate(),
    ):
        team = await create_team("Alice's team", "free", MONITORS)
        channels = {
            name: await create_channel(team.id, {"type": "slack", "url": f"{addressee.url}/{name}", **fields})
            for name, (fields, _) in CHANNELS.items()
        }
        monitors = await make_monitors(team.id)
        outages = write_script(chance, monitors)
        async with open_sender(current_backends().settings):
            await live_through_the_month(outages, {each.id: each for each in monitors}, clock)
    seen: Counter[str] = Counter()
    received = Counter(each.path.rpartition("/")[2] for each in addressee.received)
    for name, channel in channels.items():
        expected = work_out(CHANNELS[name][1], outages)
        assert await told_to(channel) == sorted(
            (each.leaves_at, sorted((event.name, event.outage.incident_id) for event in each.events))
            for each in expected
        ), name
        assert received[name] == len(expected)
        seen.update(f"{name}: waited for {each.waits_for}" for each in expected)
    assert seen.keys() >= {
        "program: waited for None",
        "chat: waited for None",
        "chat: waited for storm",
        "chat: waited for flapping",
        "shop: waited for storm",
        "patient: waited for its time",
        "sleeper: waited for its time",
        "sleeper: waited for flapping",
        "reminder: waited for None",
    }
