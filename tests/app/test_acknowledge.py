"""The link of a message: it opens a page to anybody who has it, and only its button acknowledges."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest

from app.visitor import Stranger, Visitor, read_forms, read_text
from incidents.breakdowns import open_incident
from monitoring.auth.links import sign_link
from monitoring.incidents.models import Incident, Resolution
from monitoring.incidents.service import resolve_incident
from monitoring.monitors.service import create_monitor
from monitoring.notifications.acknowledge_links import VALID_FOR, write_acknowledge_link
from monitoring.notifications.models import NotificationDelivery
from monitoring.notifications.service import delete_channel

if TYPE_CHECKING:
    from cast import Player
    from monitoring.monitors.models import Monitor
    from running_service import RunningService

CHANNEL = {"type": "slack", "name": "Ops", "url": "https://hooks.example.com/a-secret"}


@pytest.fixture
def channel_id(alice: Player) -> UUID:
    created = alice.post("/api/notification-channels", json=CHANNEL)
    return UUID(created.raise_for_status().json()["id"])


@pytest.fixture
def monitor(service: RunningService, alice: Player, channel_id: UUID) -> Monitor:
    """Has just gone down, and the channel is told."""
    del channel_id

    async def begin() -> Monitor:
        monitor = await create_monitor(alice.team_id, {"name": "Shop", "url": "https://shop.example.com/"})
        now = datetime.now(UTC)
        await open_incident(
            monitor, started_at=now, confirmed_at=now, error="timeout", error_message="Took too long"
        )
        return monitor

    return service.run(begin())


@pytest.fixture
def link(service: RunningService, monitor: Monitor) -> str:
    async def write() -> str:
        incident = await Incident.get(monitor_id=monitor.id)
        delivery = await NotificationDelivery.get(subject_id=incident.id)
        return write_acknowledge_link(delivery, "") or ""

    return service.run(write()).removeprefix("/app")


def find_acknowledger(service: RunningService, monitor: Monitor) -> str | None:
    async def read() -> str | None:
        return (await Incident.get(monitor_id=monitor.id)).acknowledged_by

    return service.run(read())


def test_an_unnamed_monitor_is_known_by_its_address_and_team(
    service: RunningService, stranger: Stranger, alice: Player, channel_id: UUID
) -> None:
    async def begin() -> str:
        monitor = await create_monitor(alice.team_id, {"url": "https://shop.example.com/api?key=a-secret"})
        now = datetime.now(UTC)
        failure: dict[str, Any] = {"error": "timeout", "error_message": "Took too long"}
        await open_incident(monitor, started_at=now, confirmed_at=now, **failure)
        incident = await Incident.get(monitor_id=monitor.id)
        delivery = await NotificationDelivery.get(subject_id=incident.id, channel_id=channel_id)
        return write_acknowledge_link(delivery, "") or ""

    page = read_text(stranger.open(service.run(begin()).removeprefix("/app")).text)
    assert "Incident of shop.example.com/api" in page
    assert "URL: https://shop.example.com/api" in page
    assert "Team: " in page
    assert "a-secret" not in page


def test_only_the_button_acknowledges(
    service: RunningService, stranger: Stranger, monitor: Monitor, link: str
) -> None:
    for _ in range(2):
        page = stranger.open(link)
        assert "Incident of Shop" in read_text(page.text)
    assert stranger.head(link).status_code in (200, 405)
    assert find_acknowledger(service, monitor) is None
    page = stranger.submit(link)
    assert "A reader of Ops acknowledged it" in read_text(page.text)
    assert find_acknowledger(service, monitor) == "a reader of Ops"
    assert "/app/acknowledge" not in read_forms(page.text)


def test_who_is_signed_in_acknowledges_by_name(
    service: RunningService, owner: Visitor, monitor: Monitor, link: str
) -> None:
    owner.submit(link)
    assert find_acknowledger(service, monitor) == owner.email


def test_another_team_s_member_is_a_reader_like_others(
    service: RunningService, outsider: Visitor, monitor: Monitor, link: str
) -> None:
    outsider.submit(link)
    assert find_acknowledger(service, monitor) == "a reader of Ops"


def test_the_second_to_press_is_told_of_the_first(
    service: RunningService, owner: Visitor, stranger: Stranger, monitor: Monitor, link: str
) -> None:
    form = read_forms(stranger.open(link).text)["/app/acknowledge"]
    owner.submit(link)
    assert f"{owner.user.name} acknowledged it" in read_text(stranger.post("/acknowledge", data=form).text)
    assert find_acknowledger(service, monitor) == owner.email


def test_what_is_over_needs_no_answer(
    service: RunningService, stranger: Stranger, monitor: Monitor, link: str
) -> None:
    form = read_forms(stranger.open(link).text)["/app/acknowledge"]

    async def end() -> None:
        await resolve_incident(monitor, resolved_at=datetime.now(UTC), resolution=Resolution.RECOVERED)

    service.run(end())
    assert "It is over." in read_text(stranger.post("/acknowledge", data=form).text)
    assert find_acknowledger(service, monitor) is None


def test_the_links_of_a_deleted_channel_are_worth_nothing(
    service: RunningService, stranger: Stranger, alice: Player, channel_id: UUID, link: str
) -> None:
    form = read_forms(stranger.open(link).text)["/app/acknowledge"]
    service.run(delete_channel(alice.team_id, channel_id))
    assert stranger.open(link).status_code == 404
    assert stranger.post("/acknowledge", data=form).status_code == 404


def test_a_link_that_is_not_ours_opens_nothing(
    service: RunningService, stranger: Stranger, monitor: Monitor, channel_id: UUID, link: str
) -> None:
    async def sign(purpose: str, expires_at: datetime) -> str:
        incident = await Incident.get(monitor_id=monitor.id)
        return sign_link(purpose, {"incident": str(incident.id), "channel": str(channel_id)}, expires_at)

    token, now = link.partition("token=")[2], datetime.now(UTC)
    in_time, too_late = now + VALID_FOR, now - timedelta(seconds=1)
    assert stranger.open(f"/acknowledge?token={service.run(sign('acknowledge', in_time))}").status_code == 200
    for refused in (
        service.run(sign("acknowledge", too_late)),
        service.run(sign("unsubscribe", in_time)),
        token[:-8] + token[-8:].swapcase(),
        token * 20,
        "",
    ):
        answer = stranger.open(f"/acknowledge?token={refused}")
        assert answer.status_code == 404
        assert "This link is no longer valid" in answer.text
