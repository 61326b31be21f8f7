"""A page that waits for changes is answered when one happens, and nobody else's session is let in."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from monitoring.members.sessions import end_sessions
from monitoring.monitors.maintenance.service import create_window
from monitoring.monitors.service import create_monitor
from monitoring.notifications.deliveries import queue_test
from monitoring.notifications.service import create_channel, update_channel

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator
    from concurrent.futures import Future
    from uuid import UUID

    import httpx

    from app.visitor import Visitor
    from running_service import RunningService

MONITOR = {"url": "https://shop.example.com/", "name": "Shop"}


@pytest.fixture
def held(owner: Visitor, service: RunningService) -> Iterator[Future[httpx.Response]]:
    """Send a request for the team's empty list that is held back, and return its answer to come."""
    known = owner.get("/monitors", headers={"Prefer": "wait=20"}).headers["ETag"]
    headers = {"Prefer": "wait=20", "If-None-Match": known}
    with ThreadPoolExecutor() as threads:
        answer = threads.submit(owner.get, "/monitors", headers=headers)
        while not service.app.pages.changes.count_waiting():
            assert not answer.done(), answer.result()
        yield answer


async def make_channel(team_id: UUID) -> UUID:
    return (await create_channel(team_id, {"type": "webhook", "url": "https://pager.example.com/"})).id


async def disable_it(team_id: UUID, channel_id: UUID) -> None:
    await update_channel(team_id, channel_id, {"type": "webhook", "enabled": False})


async def send_test(team_id: UUID, channel_id: UUID) -> None:
    await queue_test(team_id, channel_id)


async def begin_maintenance(team_id: UUID, _: UUID) -> None:
    await create_window(team_id, {"name": "Deployment", "duration_seconds": 3600})


@pytest.mark.parametrize(
    ("path", "change"),
    [
        ("/settings/notifications", disable_it),
        ("/settings/notifications/{}/deliveries", send_test),
        ("/settings/maintenance", begin_maintenance),
    ],
)
def test_a_page_below_settings_is_sent_when_it_changes_and_tells_how_to_renew_it_by_hand(
    path: str,
    change: Callable[[UUID, UUID], Coroutine[Any, Any, None]],
    owner: Visitor,
    service: RunningService,
) -> None:
    channel_id = service.run(make_channel(owner.team.id))
    address, headers = path.format(channel_id), {"Prefer": "wait=0"}
    page = owner.get(address, headers=headers)
    assert "Without JavaScript this page does not renew itself" in page.text
    headers["If-None-Match"] = page.headers["ETag"]
    assert owner.get(address, headers=headers).status_code == 304
    service.run(change(owner.team.id, channel_id))
    assert owner.get(address, headers=headers | {"Prefer": "wait=20"}).status_code == 200


def test_a_page_without_changes_is_not_sent_again(owner: Visitor) -> None:
    known = owner.get("/monitors", headers={"Prefer": "wait=0"}).headers["ETag"]
    answer = owner.get("/monitors", headers={"Prefer": "wait=0", "If-None-Match": known})
    assert (answer.status_code, answer.headers["ETag"], answer.content) == (304, known, b"")


def test_a_page_is_sent_when_something_changes(
    held: Future[httpx.Response], owner: Visitor, service: RunningService
) -> None:
    service.run(create_monitor(owner.team.id, MONITOR))
    assert "https://shop.example.com/" in held.result().text


def test_a_session_that_ended_meanwhile_is_shown_nothing(
    held: Future[httpx.Response], owner: Visitor, service: RunningService
) -> None:
    service.run(end_sessions(owner.user.id))
    service.run(create_monitor(owner.team.id, MONITOR))
    assert held.result().url.path == "/app/sign-in"


def test_another_session_does_not_know_what_this_one_has(owner: Visitor) -> None:
    known = owner.get("/monitors", headers={"Prefer": "wait=20"}).headers["ETag"]
    owner.cookies.clear()
    owner.sign_in(owner.email, owner.password)
    answer = owner.get("/monitors", headers={"Prefer": "wait=20", "If-None-Match": known})
    assert answer.status_code == 200
