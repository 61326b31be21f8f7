"""An open page shows what happens, and says so politely."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import ViewportSize

from browser.acme.people import join
from browser.chromium import find_what_is_too_wide
from browser.silent_proxy import AWAY, BAD_GATEWAY, ENDLESS, FROZEN, PASSING, PORTAL, running_proxy
from incidents.breakdowns import open_incident
from monitoring.app.live import changes
from monitoring.app.visits import FOLLOWED_MEDIA_TYPE, GLANCE
from monitoring.auth.service import create_team
from monitoring.backends.fields import uuid7
from monitoring.incidents.models import Incident, Resolution
from monitoring.incidents.responding import acknowledge
from monitoring.incidents.service import resolve_incident
from monitoring.members.models import Role
from monitoring.members.sessions import end_sessions
from monitoring.monitors.models import Monitor
from monitoring.monitors.service import create_monitor
from service_process import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Request

    from browser.acme.people import Member
    from browser.acme.team import Acme
    from browser.chromium import Arrive, Person
    from running_service import RunningService

pytestmark = pytest.mark.embedded("a browser sees the same pages on every backend")

NAME = "Shop <&>"

HIDE, LOOK = (
    f"""
Object.defineProperty(document, 'hidden', {{ value: {is_hidden}, configurable: true }});
document.dispatchEvent(new Event('visibilitychange'));
"""
    for is_hidden in ("true", "false")
)


@pytest.fixture
def watched(app_service: RunningService, acme: Acme) -> tuple[Member, Monitor]:
    """Make the owner of a team, and its only monitor."""
    del acme  # must be made first

    async def form() -> tuple[Member, Monitor]:
        team = await create_team(f"Watched {uuid7()}", "free", 10)
        monitor = await create_monitor(team.id, {"url": "https://watched.example/", "name": NAME})
        return await join(team, Role.OWNER), monitor

    return app_service.run(form())


# A page that renews itself meanwhile says again when the incident began.
AS_IF_IT_LASTED = """([ms, words]) => {
  const lasts = document.querySelector("[data-since]");
  lasts.dataset.since = new Date(Date.now() - ms).toISOString();
  return lasts.textContent === words;
}"""


def follow_with_own_clock(person: Person) -> None:
    """Open the list with a clock that the test moves, and wait until it is followed."""
    person.page.clock.install()
    person.open("/monitors")
    person.page.clock.pause_at(datetime.now(UTC) + timedelta(seconds=1))
    with person.page.expect_response(lambda answer: is_followed(answer.request)):
        person.page.clock.run_for(3_000)
    person.page.wait_for_function("ahead !== null")


def renew_until(person: Person, condition: Callable[[], bool]) -> None:
    """Let the page's time pass, and the network some of the world's, until something is so."""

    def is_so() -> bool:
        person.page.clock.run_for(5_000)
        person.page.wait_for_timeout(20)
        return condition()

    wait_until(is_so)


def is_followed(asked: Request) -> bool:
    return asked.headers["accept"] == FOLLOWED_MEDIA_TYPE


async def go_down(monitor: Monitor) -> None:
    await Monitor.filter(id=monitor.id).update(status="down")
    now = datetime.now(UTC)
    await open_incident(monitor, started_at=now, confirmed_at=now, error="timeout", error_message="Silence")


async def recover(monitor: Monitor) -> None:
    await Monitor.filter(id=monitor.id).update(status="up")
    await resolve_incident(monitor, resolved_at=datetime.now(UTC), resolution=Resolution.RECOVERED)


async def be_degraded(monitor: Monitor) -> None:
    await Monitor.filter(id=monitor.id).update(status="degraded", status_changed_at=datetime.now(UTC))


class TestAnOpenPage:
    @pytest.mark.parametrize(
        ("path", "title", "says"),
        [
            ("/monitors", "(1 down) Monitors", f"1 open incident: {NAME}."),
            ("/monitors/{id}", f"(down) {NAME}", f"{NAME}: down"),
            ("/incidents", "(1 down) Incidents", f"1 open incident: {NAME}."),
        ],
    )
    def test_shows_in_page_title_and_icon_that_a_monitor_goes_down(  # noqa: PLR0913, PLR0917
        self,
        path: str,
        title: str,
        says: str,
        watched: tuple[Member, Monitor],
        arrive: Arrive,
        app_service: RunningService,
    ) -> None:
        owner, monitor = watched
        person = arrive(owner)
        person.open(path.format(id=monitor.id))
        assert "down" not in person.page.title()
        assert person.page.locator("#news").inner_text() == ""
        app_service.run(go_down(monitor))
        person.page.get_by_text("Silence").first.wait_for()
        assert person.page.title() == f"{title} · Monitoring"
        assert "icon-down" in (person.page.locator("link[rel=icon]").get_attribute("href") or "")
        assert person.page.locator("#news").inner_text() == says

    @pytest.mark.parametrize("path", ["/monitors", "/incidents", "/monitors/{id}"])
    def test_shows_who_takes_care_of_what_is_down_on_a_small_phone_too(
        self, path: str, watched: tuple[Member, Monitor], arrive: Arrive, app_service: RunningService
    ) -> None:
        owner, monitor = watched
        app_service.run(go_down(monitor))
        person = arrive(owner, viewport=ViewportSize(width=360, height=740))
        person.open(path.format(id=monitor.id))
        taken = person.page.get_by_text(f"acknowledged by {owner.user.name}").first
        assert not taken.is_visible()

        async def take_care() -> None:
            incident = await Incident.get(monitor_id=monitor.id, resolved_at=None)
            await acknowledge(monitor.team_id, incident.id, owner.actor)

        app_service.run(take_care())
        taken.wait_for()
        box = taken.bounding_box()
        assert box
        assert box["x"] + box["width"] <= 360  # nothing cuts it off
        assert find_what_is_too_wide(person.page) == []

    @pytest.mark.parametrize("path", ["/monitors", "/incidents"])
    def test_says_which_monitor_it_is_when_as_many_are_down_as_before_and_when_one_is_degraded(
        self, path: str, watched: tuple[Member, Monitor], arrive: Arrive, app_service: RunningService
    ) -> None:
        owner, monitor = watched
        other = app_service.run(
            create_monitor(monitor.team_id, {"url": "https://x.example/", "name": "Blog"})
        )
        app_service.run(go_down(monitor))
        person = arrive(owner)
        person.open(path)
        app_service.run(recover(monitor))
        app_service.run(go_down(other))
        person.page.get_by_role("status").get_by_text("1 open incident: Blog.").wait_for(state="attached")
        app_service.run(be_degraded(monitor))
        said = f"1 open incident: Blog. 1 degraded: {NAME}."
        person.page.get_by_role("status").get_by_text(said).wait_for(state="attached")

    def test_keeps_focus_and_says_which_zone_its_times_are_in(
        self, watched: tuple[Member, Monitor], arrive: Arrive, app_service: RunningService
    ) -> None:
        owner, monitor = watched
        person = arrive(owner, timezone_id="Asia/Tokyo")
        person.open("/monitors")
        link = person.page.get_by_role("link", name=NAME)
        link.focus()
        app_service.run(go_down(monitor))
        person.page.get_by_text("Silence").wait_for()
        assert person.page.evaluate("document.activeElement.textContent") == NAME
        assert "Times are in Asia/Tokyo" in person.page.locator("footer").inner_text()

    @pytest.mark.parametrize(("options", "count"), [({"is_mobile": True, "has_touch": True}, 0), ({}, 1)])
    def test_says_what_a_pointer_shows_to_whoever_has_one(
        self, options: dict[str, Any], count: int, watched: tuple[Member, Monitor], arrive: Arrive
    ) -> None:
        owner, _ = watched
        person = arrive(owner, timezone_id="Asia/Tokyo", **options)
        person.open("/monitors")
        person.page.get_by_text("Times are in Asia/Tokyo.").wait_for()  # the page is written anew for it
        assert person.page.locator("#zone").inner_text().count("Point at one") == count

    def test_never_turns_a_focused_link_into_that_of_another_row(
        self, watched: tuple[Member, Monitor], arrive: Arrive, app_service: RunningService
    ) -> None:
        owner, monitor = watched
        person = arrive(owner)
        person.open("/monitors")
        person.page.get_by_role("link", name=NAME).focus()
        app_service.run(create_monitor(monitor.team_id, {"url": "https://new.example/", "name": "Newer"}))
        person.page.get_by_role("link", name="Newer").wait_for()
        assert person.page.evaluate("document.activeElement.href").endswith(str(monitor.id))

    @pytest.mark.parametrize("manner", [FROZEN, AWAY, BAD_GATEWAY, ENDLESS, PORTAL])
    def test_says_how_old_it_is_within_half_a_minute_of_silence_of_any_kind(
        self, manner: str, watched: tuple[Member, Monitor], arrive: Arrive, app_service: RunningService
    ) -> None:
        owner, monitor = watched
        with running_proxy(app_service.port) as proxy:
            person = arrive(owner, proxy.url)
            person.forgive()  # browsers complain about requests that fail
            follow_with_own_clock(person)
            said = person.page.locator("#stale")
            assert not said.is_visible()
            title = person.page.title()
            proxy.behave(manner)
            person.page.clock.run_for(12_000)
            assert not said.is_visible()
            person.page.clock.run_for(18_000)
            said.wait_for()
            assert re.match(r"This page was last updated at [\d:]{8}, \d+ s ago\.", said.inner_text())
            assert person.page.title() == f"(old) {title}"
            person.page.clock.run_for(120_000)
            assert re.search(r", 2 min( \d+ s)? ago\.", said.inner_text())
            proxy.behave(PASSING)
            app_service.run(go_down(monitor))
            renew_until(person, lambda: person.page.title() == "(1 down) Monitors · Monitoring")
            assert not said.is_visible()

    def test_says_how_old_it_is_when_its_session_has_ended(
        self, watched: tuple[Member, Monitor], arrive: Arrive, app_service: RunningService
    ) -> None:
        owner, _ = watched
        person = arrive(owner)
        follow_with_own_clock(person)
        app_service.run(end_sessions(owner.user.id))
        with person.page.expect_response(lambda answer: "/sign-in" in answer.url):
            person.page.clock.run_for(30_000)
        person.page.get_by_text("This page was last updated").wait_for()

    def test_that_does_not_change_is_not_old(
        self, watched: tuple[Member, Monitor], arrive: Arrive, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(changes, "SILENCE_SECONDS", 1.5)
        owner, _ = watched
        person = arrive(owner)
        follow_with_own_clock(person)
        for _ in range(4):
            began_at = person.page.evaluate("heardAt")
            person.page.clock.run_for(8_000)
            person.page.wait_for_function("began => heardAt > began", arg=began_at)
        assert not person.page.locator("#stale").is_visible()

    def test_that_was_not_looked_at_is_not_old_before_it_could_be_renewed(
        self, watched: tuple[Member, Monitor], arrive: Arrive
    ) -> None:
        owner, _ = watched
        person = arrive(owner)
        follow_with_own_clock(person)
        person.page.evaluate(HIDE)
        person.page.clock.run_for(100_000)
        assert "(old)" not in person.page.title()
        person.page.evaluate(LOOK)
        person.page.clock.run_for(1_000)
        assert not person.page.locator("#stale").is_visible()

    def test_that_nobody_looks_at_says_in_its_title_that_it_is_old(
        self, watched: tuple[Member, Monitor], arrive: Arrive, app_service: RunningService
    ) -> None:
        owner, _ = watched
        with running_proxy(app_service.port) as proxy:
            person = arrive(owner, proxy.url)
            person.forgive()
            follow_with_own_clock(person)
            person.page.evaluate(HIDE)
            proxy.behave(FROZEN)
            person.page.clock.run_for(160_000)
            assert person.page.title().startswith("(old) ")

    def test_leaves_the_connection_to_others_while_nobody_looks_at_it(
        self, watched: tuple[Member, Monitor], arrive: Arrive
    ) -> None:
        owner, _ = watched
        person = arrive(owner)
        person.open("/monitors")
        with person.page.expect_request(is_followed):
            pass
        with person.page.expect_event("requestfailed"):
            person.page.evaluate(HIDE)

    @pytest.mark.parametrize(
        ("path", "title"),
        [
            ("/monitors", "(1 down) Monitors"),
            ("/monitors/{id}", f"(down) {NAME}"),
            ("/incidents?state=resolved", "(1 down) Incidents"),
        ],
    )
    def test_says_in_title_and_icon_that_a_monitor_goes_down_while_nobody_looks_at_it(
        self,
        path: str,
        title: str,
        watched: tuple[Member, Monitor],
        arrive: Arrive,
        app_service: RunningService,
    ) -> None:
        owner, monitor = watched
        person = arrive(owner)
        person.page.clock.install()
        person.open(path.format(id=monitor.id))
        person.page.evaluate(HIDE)
        app_service.run(go_down(monitor))
        with person.page.expect_request(is_followed) as asked:
            person.page.clock.run_for(30_000)
        assert asked.value.headers["prefer"] == GLANCE
        person.page.wait_for_function("title => document.title === title", arg=f"{title} · Monitoring")
        assert "icon-down" in (person.page.locator("link[rel=icon]").get_attribute("href") or "")

    def test_keeps_telling_truly_how_long_an_incident_lasts(
        self, watched: tuple[Member, Monitor], arrive: Arrive, app_service: RunningService
    ) -> None:
        owner, monitor = watched
        app_service.run(go_down(monitor))
        person = arrive(owner)
        person.open("/incidents")
        person.page.wait_for_function(AS_IF_IT_LASTED, arg=[7_265_000, "2 h 1 min"])

    def test_tells_without_a_script_how_to_renew_it(self, acme: Acme, arrive: Arrive) -> None:
        owner = arrive(acme.owner, java_script_enabled=False)
        owner.open("/monitors?tag=shop")
        owner.page.get_by_text("does not update itself").wait_for()
        owner.follow("Reload it")
        assert owner.page.url.endswith("/monitors?tag=shop")
