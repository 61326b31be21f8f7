"""A notice is shown once, where something was done, and an ended session keeps what was typed."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from browser.chromium import COOKIE
from history.diary import make_result, write_down
from monitoring.app.sentences import NOTICES

if TYPE_CHECKING:
    from browser.acme.team import Acme
    from browser.chromium import Arrive, Person
    from running_service import RunningService

pytestmark = pytest.mark.embedded("a browser sees the same pages on every backend")

BROWSERS = pytest.mark.parametrize(
    "options", [{}, {"java_script_enabled": False}], ids=["script", "no script"]
)


def count(person: Person, notice: str) -> int:
    return person.page.get_by_text(NOTICES[notice]).count()


class TestANotice:
    @BROWSERS
    def test_is_shown_once_and_no_link_repeats_it(
        self, options: dict[str, Any], acme: Acme, arrive: Arrive
    ) -> None:
        owner = arrive(acme.owner, **options)
        monitor = f"/monitors/{acme.monitors['pending']}"
        owner.open(monitor)
        owner.press("Check now")
        owner.page.get_by_text(NOTICES["check_requested"]).wait_for()
        assert owner.page.url.endswith(monitor)
        owner.open(monitor)
        assert count(owner, "check_requested") == 0

    def test_is_dismissed_by_its_button_and_the_focus_is_kept(self, acme: Acme, arrive: Arrive) -> None:
        owner = arrive(acme.owner)
        owner.open(f"/monitors/{acme.monitors['pending']}")
        owner.press("Check now")
        owner.page.get_by_role("button", name="Dismiss").press("Enter")
        assert count(owner, "check_requested") == 0
        expect(owner.page.locator("#content")).to_be_focused()

    def test_of_a_check_goes_once_the_page_shows_another_check(
        self, acme: Acme, app_service: RunningService, arrive: Arrive
    ) -> None:
        owner = arrive(acme.owner)
        monitor_id = acme.monitors["quick"]
        owner.open(f"/monitors/{monitor_id}")
        owner.press("Check now")
        notice = owner.page.get_by_text(NOTICES["check_requested"])
        notice.wait_for()
        app_service.run(write_down([make_result(monitor_id, datetime.now(UTC), "down", None)]))
        notice.wait_for(state="detached")

    def test_has_no_button_that_does_nothing(self, acme: Acme, arrive: Arrive) -> None:
        owner = arrive(acme.owner, java_script_enabled=False)
        owner.open(f"/monitors/{acme.monitors['pending']}")
        owner.press("Check now")
        owner.page.get_by_text(NOTICES["check_requested"]).wait_for()
        assert owner.page.get_by_role("button", name="Dismiss").count() == 0

    def test_is_shown_by_no_address(self, acme: Acme, arrive: Arrive) -> None:
        owner = arrive(acme.owner)
        owner.open("/settings/members?notice=member_removed")
        assert count(owner, "member_removed") == 0

    def test_waits_for_its_page(self, acme: Acme, arrive: Arrive) -> None:
        owner = arrive(acme.owner)
        monitor = f"/monitors/{acme.monitors['pending']}"
        owner.open(monitor)
        form = {"csrf_token": owner.page.locator("[name=csrf_token]").first.get_attribute("value") or ""}
        assert owner.send(f"{monitor}/check", form).status == 303
        owner.open("/monitors")
        assert count(owner, "check_requested") == 0
        owner.open(monitor)
        assert count(owner, "check_requested") == 1


class TestAnEndedSession:
    @BROWSERS
    def test_keeps_the_form_that_was_typed(self, options: dict[str, Any], acme: Acme, arrive: Arrive) -> None:
        owner = arrive(acme.owner, **options)
        owner.open("/monitors/new")
        owner.page.get_by_label("URL").fill("https://typed.acme.example/")
        owner.page.get_by_label("Tags").fill("Größe")
        owner.page.get_by_text("Request", exact=True).click()
        owner.page.get_by_label("Request headers").fill("Accept: text/html\nX-Two: 2")
        owner.context.clear_cookies(name=COOKIE)
        owner.press("Create the monitor")
        owner.page.get_by_text(NOTICES["form_kept"]).wait_for()
        owner.page.get_by_label("Email").fill(acme.owner.email)
        owner.page.get_by_label("Password").fill(acme.owner.password)
        owner.press("Sign in")
        owner.press("Send the form")
        owner.page.get_by_text("Nothing is saved yet").wait_for()
        assert owner.page.get_by_label("URL").input_value() == "https://typed.acme.example/"
        assert owner.page.get_by_label("Request headers").input_value() == "Accept: text/html\nX-Two: 2"

    def test_keeps_no_password(self, acme: Acme, arrive: Arrive) -> None:
        owner = arrive(acme.owner)
        owner.open("/settings/account/password")
        owner.page.get_by_label("Current password").fill(acme.owner.password)
        owner.page.get_by_label("New password").fill("a password that nobody keeps")
        owner.context.clear_cookies(name=COOKIE)
        owner.press("Change the password")
        owner.page.get_by_text(NOTICES["form_kept"]).wait_for()
        page = owner.page.content()
        assert "nobody+keeps" not in page
        assert "correct+horse" not in page

    @BROWSERS
    def test_asks_for_the_password_alone(self, options: dict[str, Any], acme: Acme, arrive: Arrive) -> None:
        owner = arrive(**options)
        owner.sign_in(acme.owner.email, acme.owner.password)
        owner.open("/monitors/new")
        owner.page.get_by_label("URL").fill("https://typed.acme.example/")
        owner.context.clear_cookies(name=COOKIE)
        owner.press("Create the monitor")
        owner.page.get_by_text(NOTICES["form_kept"]).wait_for()
        assert owner.page.get_by_label("Email").input_value() == acme.owner.email
        owner.open("/incidents")
        assert owner.page.get_by_label("Email").input_value() == acme.owner.email
        owner.page.keyboard.type(acme.owner.password)
        owner.page.keyboard.press("Enter")
        owner.page.get_by_role("heading", name="Incidents").wait_for()

    def test_by_signing_out_is_forgotten_with_its_person(self, acme: Acme, arrive: Arrive) -> None:
        owner = arrive()
        owner.sign_in(acme.owner.email, acme.owner.password)
        owner.press("Sign out")
        owner.page.get_by_text(NOTICES["signed_out"]).wait_for()
        assert owner.page.get_by_label("Email").input_value() == ""
        assert acme.owner.email not in str(owner.cookies())
