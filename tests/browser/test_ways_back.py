"""No answer is a dead end: errors keep the navigation and lead back, and so does the browser's Back."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from browser.chromium import COOKIE, write_storage_state
from monitoring.app.monitors import actions as monitor_actions
from monitoring.app.sentences import NOTICES, REFUSALS
from monitoring.auth.limits import count_request
from monitoring.auth.service import list_keys
from monitoring.backends.fields import uuid7
from monitoring.monitors.maintenance.service import list_windows
from monitoring.monitors.models import Monitor

if TYPE_CHECKING:
    from starlette.requests import Request

    from browser.acme.team import Acme
    from browser.chromium import Arrive, Person
    from monitoring.settings.value_types import RateLimitPolicy
    from running_service import RunningService

pytestmark = pytest.mark.embedded("a browser sees the same pages on every backend")


def sees_navigation(person: Person) -> bool:
    return person.page.get_by_role("navigation", name="Main").is_visible()


async def list_urls(acme: Acme) -> list[str]:
    return [monitor.url for monitor in await Monitor.filter(team_id=acme.team.id)]


class TestErrors:
    @pytest.mark.parametrize("path", ["/nowhere", "/monitors/1", "/settings/audit-log"])
    def test_keep_the_navigation(self, path: str, acme: Acme, arrive: Arrive) -> None:
        member = arrive(acme.member)
        assert member.open(path).status in (403, 404)
        assert sees_navigation(member)
        member.follow("Back to the app")
        assert member.page.url.endswith("/app/monitors")

    def test_show_strangers_no_navigation(self, arrive: Arrive) -> None:
        stranger = arrive()
        assert stranger.open("/nowhere").status == 404
        assert not sees_navigation(stranger)

    @pytest.mark.parametrize("options", [{}, {"java_script_enabled": False}], ids=["script", "no script"])
    def test_lead_back_to_the_page_of_the_form(
        self, options: dict[str, Any], acme: Acme, arrive: Arrive
    ) -> None:
        owner = arrive(acme.owner, **options)
        monitor = f"/monitors/{acme.monitors['up']}"
        owner.open(monitor)
        # Another browser tab has signed in anew meanwhile, so the form belongs to an older session.
        newer = arrive(acme.owner).cookies()[COOKIE]["value"]
        owner.context.add_cookies(write_storage_state(newer)["cookies"])
        owner.press("Check now")
        owner.page.get_by_role("heading", name="This form is out of date").wait_for()
        assert sees_navigation(owner)
        owner.follow("Back")
        owner.page.get_by_role("button", name="Check now").wait_for()
        assert owner.page.url.endswith(monitor)

    @pytest.mark.parametrize("options", [{}, {"java_script_enabled": False}], ids=["script", "no script"])
    def test_of_too_many_acts_say_when_to_try_again_and_lead_back(
        self,
        options: dict[str, Any],
        acme: Acme,
        arrive: Arrive,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        name = f"check now {uuid7()}"  # which nothing is counted under yet

        async def count_once(request: Request, policy: RateLimitPolicy, key: str) -> None:
            await count_request(request, replace(policy, name=name, limit=1), key)

        monkeypatch.setattr(monitor_actions, "count_request", count_once)
        owner = arrive(acme.owner, **options)
        monitor = f"/monitors/{acme.monitors['up']}"
        owner.open(monitor)
        owner.press("Check now")
        owner.page.get_by_text(NOTICES["check_requested"]).wait_for()
        owner.press("Check now")
        owner.page.get_by_text("Try again in").wait_for()
        assert sees_navigation(owner)
        owner.follow("Back")
        owner.page.get_by_role("button", name="Check now").wait_for()
        assert owner.page.url.endswith(monitor)

    @pytest.mark.parametrize("path", ["/incidents", "/settings/audit-log"])
    def test_in_a_cursor_lead_to_the_first_page(self, path: str, acme: Acme, arrive: Arrive) -> None:
        owner = arrive(acme.owner)
        assert owner.open(f"{path}?cursor=nonsense").status == 200
        assert sees_navigation(owner)
        assert owner.page.locator("tbody tr").count() > 0


class TestTheBrowsersBack:
    @pytest.mark.parametrize("options", [{}, {"java_script_enabled": False}], ids=["script", "no script"])
    def test_leads_to_a_form_that_was_wrong_and_to_what_was_typed(
        self, options: dict[str, Any], acme: Acme, arrive: Arrive
    ) -> None:
        owner = arrive(acme.owner, **options)
        owner.open("/monitors/new")
        owner.page.get_by_label("URL").fill("https://typed.acme.example/")
        owner.page.get_by_label("Interval", exact=True).select_option("other")
        owner.page.get_by_label("Interval in seconds", exact=True).fill("soon")
        owner.press("Create the monitor")
        owner.page.get_by_text("Nothing is saved yet").wait_for()
        owner.follow("Incidents")
        owner.page.get_by_role("heading", name="Incidents").wait_for()
        owner.page.go_back()
        owner.page.get_by_text("Nothing is saved yet").wait_for()
        assert owner.page.get_by_label("URL").input_value() == "https://typed.acme.example/"
        owner.page.go_back()
        assert owner.page.get_by_role("heading", name="New monitor").is_visible()

    def test_leads_a_stranger_to_what_was_wrong_without_script(self, arrive: Arrive) -> None:
        stranger = arrive(java_script_enabled=False)
        stranger.open("/sign-in")
        stranger.page.get_by_label("Email").fill("nobody@acme.example")
        stranger.page.get_by_label("Password").fill("a guess")
        stranger.press("Sign in")
        stranger.page.get_by_text(REFUSALS["sign_in_refused"]).wait_for()
        stranger.open("/join")
        stranger.page.go_back()
        stranger.page.get_by_text(REFUSALS["sign_in_refused"]).wait_for()
        assert stranger.page.get_by_label("Email").input_value() == "nobody@acme.example"

    def test_leads_from_a_new_secret_to_the_list(self, acme: Acme, arrive: Arrive) -> None:
        owner = arrive(acme.owner)
        owner.open("/settings/api-keys/new")
        owner.fill_in({"name": "Shown once"})
        owner.follow("Monitors")
        owner.page.get_by_role("heading", name="Monitors").wait_for()
        owner.page.go_back()
        owner.page.get_by_role("heading", name="API keys").wait_for()

    def test_and_create_makes_no_second_monitor(
        self, acme: Acme, arrive: Arrive, app_service: RunningService
    ) -> None:
        owner = arrive(acme.owner)
        owner.open("/monitors/new")
        owner.fill_in({"url": "https://twice.acme.example/", "timeout_seconds": "soon"})
        for notice in ("monitor_created", "monitor_created_before"):
            owner.page.get_by_label("URL").fill("https://twice.acme.example/")
            owner.page.get_by_label("Timeout in seconds").fill("20")
            owner.press("Create the monitor")
            owner.page.get_by_text(NOTICES[notice]).wait_for()
            owner.page.go_back()
            owner.page.get_by_role("heading", name="New monitor").wait_for()
        owner.page.get_by_label("URL").fill("https://another.acme.example/")
        owner.press("Create the monitor")
        owner.page.get_by_text(REFUSALS["monitor_form_spent"]).wait_for()
        made = app_service.run(list_urls(acme))
        assert made.count("https://twice.acme.example/") == 1
        assert "https://another.acme.example/" not in made

    def test_and_save_makes_no_second_maintenance(
        self, acme: Acme, arrive: Arrive, app_service: RunningService
    ) -> None:
        owner = arrive(acme.owner)
        owner.open("/settings/maintenance/new")
        for notice in ("maintenance_created", "maintenance_created_before"):
            owner.page.get_by_label("Name").fill("Made once")
            owner.page.get_by_label("Monitors with one of these tags").fill("nobodys")
            owner.press("Save the maintenance")
            owner.page.get_by_text(NOTICES[notice]).wait_for()
            owner.page.go_back()
            owner.page.get_by_role("heading", name="New maintenance").wait_for()
        page = app_service.run(list_windows(acme.team.id, 100, None))
        assert [window.name for window in page.rows].count("Made once") == 1

    def test_and_create_makes_no_second_key(
        self, acme: Acme, arrive: Arrive, app_service: RunningService
    ) -> None:
        owner = arrive(acme.owner)
        owner.open("/settings/api-keys/new")
        owner.page.get_by_label("Name").fill("Made once")
        owner.press("Create the key")
        owner.page.locator("#client-secret").wait_for()
        owner.page.go_back()
        owner.page.get_by_label("Name").fill("Made once")
        owner.press("Create the key")
        owner.page.get_by_role("heading", name="This key was already created").wait_for()
        keys = app_service.run(list_keys(acme.team.id))
        assert [key.name for key in keys].count("Made once") == 1
