"""A page that is followed is sent anew when it changes, and only to whom may see it."""

from __future__ import annotations

import asyncio
import json
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

import pytest

from app.visitor import Visitor
from incidents.breakdowns import break_down
from moments import a_second_ago
from monitoring.app.live import changes
from monitoring.app.visits import FOLLOWED_MEDIA_TYPE, GLANCE
from monitoring.auth.service import create_team
from monitoring.members.models import Role, Session, User
from monitoring.members.sessions import Standing, end_sessions
from monitoring.monitors.health import State
from monitoring.monitors.maintenance.service import create_window
from monitoring.monitors.models import CheckState, Monitor, StateChange
from monitoring.monitors.service import create_monitor, delete_monitor
from monitoring.notifications.deliveries import queue_test
from monitoring.notifications.muting import store_mutes
from monitoring.notifications.service import create_channel, update_channel

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator

    from httpx import Response

    from running_service import RunningService

MONITOR = {"url": "https://shop.example.com/", "name": "Shop"}
HOUR = timedelta(hours=1)
HEADERS = {"Accept": FOLLOWED_MEDIA_TYPE}


@contextmanager
def following(visitor: Visitor, path: str) -> Iterator[Iterator[str]]:
    """Follow a page, as its script does, and return what it becomes."""
    with visitor.stream("GET", path, headers=HEADERS) as answer:
        yield (json.loads(line) for line in answer.iter_lines() if line)


async def expire(user: User) -> None:
    await Session.filter(user_id=user.id).update(expires_at=a_second_ago())


async def sign_out(user: User) -> None:
    await end_sessions(user.id)


async def demote(user: User) -> None:
    await User.filter(id=user.id).update(role=Role.VIEWER)


async def make_channel(team_id: UUID) -> UUID:
    return (await create_channel(team_id, {"type": "webhook", "url": "https://pager.example.com/"})).id


async def disable_it(team_id: UUID, channel_id: UUID) -> None:
    await update_channel(team_id, channel_id, {"type": "webhook", "enabled": False})


async def send_test(team_id: UUID, channel_id: UUID) -> None:
    await queue_test(team_id, channel_id)


async def live_for_two_days(monitor_id: UUID, hours_down: int) -> None:
    """Give a monitor a history, at whose end it was down, as if its state had changed now."""
    now = datetime.now(UTC)
    await StateChange.filter(monitor_id=monitor_id).delete()
    for hours, state in ((48, State.UP), (hours_down, State.DOWN)):
        await StateChange.create(monitor_id=monitor_id, changed_at=now - hours * HOUR, state=state)
    await CheckState.filter(monitor_id=monitor_id).update(seen_until=now + HOUR)
    await Monitor.filter(id=monitor_id).update(created_at=now - 48 * HOUR, status_changed_at=now)


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
    address = path.format(channel_id)
    assert "Without JavaScript this page does not update itself" in owner.open(address).text
    with following(owner, address) as pages:
        first = next(pages)
        service.run(change(owner.team.id, channel_id))
        assert next(pages) != first


def test_a_page_is_sent_when_a_monitor_is_made(owner: Visitor, service: RunningService) -> None:
    with following(owner, "/monitors") as pages:
        assert "No monitors yet" in next(pages)
        service.run(create_monitor(owner.team.id, MONITOR))
        assert "https://shop.example.com/" in next(pages)


def test_pages_of_one_team_that_show_other_monitors_count_their_own(
    owner: Visitor, service: RunningService
) -> None:
    for name in ("Shop", "Blog"):
        service.run(create_monitor(owner.team.id, MONITOR | {"name": name}))
    with following(owner, "/monitors") as all_of_them, following(owner, "/monitors?search=blog") as some:
        assert "2 monitors</span>" in next(all_of_them)
        assert "1 monitor</span>" in next(some)


def test_a_page_is_sent_when_a_monitor_is_muted(owner: Visitor, service: RunningService) -> None:
    monitor = service.run(create_monitor(owner.team.id, MONITOR))
    with following(owner, "/monitors") as pages:
        assert ">muted<" not in next(pages)
        service.run(store_mutes(owner.team.id, [monitor.id], None, "Alice"))
        assert any(">muted<" in page for page in pages)  # it may be checked meanwhile


def test_a_list_is_sent_with_other_uptimes_when_the_state_of_a_monitor_changes(
    owner: Visitor, service: RunningService
) -> None:
    monitor = service.run(create_monitor(owner.team.id, MONITOR | {"paused": True}))
    service.run(live_for_two_days(monitor.id, hours_down=6))
    with following(owner, "/monitors") as pages:
        assert uptime_in(next(pages)).startswith("74.")
        service.run(live_for_two_days(monitor.id, hours_down=12))
        assert uptime_in(next(pages)).startswith("49.")


def uptime_in(page: str) -> str:
    return page.partition('class="number uptime">')[2].partition("<")[0]


@pytest.mark.parametrize("change", [sign_out, expire, demote])
def test_a_session_that_ends_or_may_see_less_is_shown_nothing_from_then_on(
    change: Callable[[User], Coroutine[Any, Any, None]], owner: Visitor, service: RunningService
) -> None:
    with following(owner, "/monitors") as pages:
        next(pages)
        service.run(change(owner.user))
        service.run(create_monitor(owner.team.id, MONITOR))
        assert list(pages) == []


def test_what_is_sent_to_several_holds_nothing_of_one_and_no_form_for_viewers(
    owner: Visitor, service: RunningService
) -> None:
    service.run(create_monitor(owner.team.id, MONITOR))
    with following(owner, "/monitors") as pages, Visitor(service, owner.team, Role.VIEWER) as viewer:
        page = next(pages)
        assert 'name="csrf_token" value=""' in page
        assert owner.email not in page
        assert owner.user.name not in page
        with following(viewer, "/monitors") as seen:
            assert "csrf_token" not in next(seen)


def test_an_end_of_what_is_followed_is_told_when_its_script_asks_anew(
    owner: Visitor, service: RunningService
) -> None:
    monitor = service.run(create_monitor(owner.team.id, MONITOR))
    path = f"/monitors/{monitor.id}"
    with following(owner, path) as pages:
        next(pages)
        service.run(delete_monitor(owner.team.id, monitor.id))
        list(pages)  # it may be checked meanwhile
    assert owner.get(path, headers=HEADERS).status_code == 404


def glance(visitor: Visitor, path: str) -> Response:
    return visitor.get(path, headers={**HEADERS, "Prefer": GLANCE})


def test_a_page_in_the_background_is_told_title_and_icon_alone(
    owner: Visitor, service: RunningService
) -> None:
    monitor = service.run(create_monitor(owner.team.id, MONITOR))
    assert "<title>Monitors" in json.loads(glance(owner, "/monitors").text)
    service.run(break_down(monitor))
    for path, title in (("/monitors", "(1 down) Monitors"), ("/incidents", "(1 down) Incidents")):
        [told] = glance(owner, path).text.splitlines()
        assert f"<title>{title}" in json.loads(told)
        assert "icon-down" in told
        assert "id=" not in told


def test_a_page_in_the_background_is_told_nothing_that_its_person_may_not_see(
    owner: Visitor, service: RunningService
) -> None:
    monitor = service.run(create_monitor(owner.team.id, MONITOR))
    path = f"/monitors/{monitor.id}"
    assert glance(owner, path).status_code == 200
    with Visitor(service, service.run(create_team("Others", "free", 10))) as other:
        assert glance(other, path).status_code == 404
    service.run(sign_out(owner.user))
    assert "Sign in" in glance(owner, path).text


def test_a_page_that_does_not_change_gives_signs_of_life(
    owner: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "REST_SECONDS", 0)
    monkeypatch.setattr(changes, "SILENCE_SECONDS", 0)
    with owner.stream("GET", "/monitors", headers=HEADERS) as answer:
        lines = answer.iter_lines()
        assert (bool(next(lines)), next(lines)) == (True, "")


@pytest.mark.anyio
async def test_a_process_that_stops_lets_nobody_wait() -> None:
    stopping = changes.Changes(lambda: True)
    waiting = asyncio.ensure_future(stopping.wait((), (), Standing(uuid4(), uuid4(), Role.OWNER)))
    await asyncio.sleep(0)
    await stopping.look()
    assert await waiting is None
