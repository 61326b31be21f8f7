"""What the app's only script does: it copies text, and counts two clicks on a button as one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest

from monitoring.auth.service import list_keys

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Route

    from browser.acme.team import Acme
    from browser.chromium import Arrive, Person
    from running_service import RunningService

pytestmark = pytest.mark.embedded("a browser sees the same pages on every backend")

NOW = datetime(2026, 11, 21, 13, 54, tzinfo=UTC)

# How long a form counts as being sent.
FORGOTTEN, ALMOST_FORGOTTEN = NOW + timedelta(milliseconds=3_000), NOW + timedelta(milliseconds=2_999)


def open_form_of_a_key(person: Person, name: str) -> None:
    person.open("/settings/api-keys/new")
    person.page.get_by_label("Name").fill(name)


class TestCopying:
    def test_puts_the_text_on_the_clipboard_and_says_so_also_aloud(self, acme: Acme, arrive: Arrive) -> None:
        owner = arrive(acme.owner, permissions=["clipboard-read", "clipboard-write"])
        open_form_of_a_key(owner, "To be copied")
        owner.press("Create the key")
        owner.press("Copy the client_secret")
        owner.page.get_by_role("status").get_by_text("Copied", exact=True).wait_for(state="attached")
        assert owner.page.get_by_role("button", name="Copied the client_secret", exact=True).is_visible()
        secret = owner.page.locator("#client-secret").inner_text()
        assert owner.page.evaluate("navigator.clipboard.readText()") == secret
        owner.page.keyboard.press("Tab")
        assert owner.page.get_by_role("button", name="Copy the client_secret", exact=True).is_visible()

    def test_that_is_denied_is_told_and_selects_the_text(self, acme: Acme, arrive: Arrive) -> None:
        owner = arrive(acme.owner)
        owner.open("/settings/api-keys")
        owner.page.evaluate(
            "() => { navigator.clipboard.writeText = () => Promise.reject(new Error('denied')) }"
        )
        owner.page.get_by_role("button", name="Copy the client_id of Deploy", exact=True).click()
        owner.page.get_by_text("Your browser does not let this page copy").wait_for()
        assert owner.page.evaluate("getSelection().toString().trim()") == acme.keys["deploy"]

    def test_is_not_offered_without_a_script(self, acme: Acme, arrive: Arrive) -> None:
        owner = arrive(acme.owner, java_script_enabled=False)
        owner.open("/settings/api-keys")
        assert owner.page.locator("[data-copies]").count()
        assert not owner.page.locator("[data-copies]").first.is_visible()


class TestSending:
    def test_two_clicks_make_one_key_and_show_its_secret(
        self, acme: Acme, arrive: Arrive, app_service: RunningService
    ) -> None:
        owner = arrive(acme.owner)
        open_form_of_a_key(owner, "Clicked twice")
        on_their_way: list[Route] = []

        def hold(route: Route) -> None:
            on_their_way.append(route)

        owner.page.route("**/settings/api-keys/new", hold)
        button = owner.page.get_by_role("button", name="Create the key").bounding_box()
        assert button
        # By script, because Playwright would not click while a page is loading.
        with owner.page.expect_request("**/settings/api-keys/new"):
            owner.page.mouse.click(button["x"] + 9, button["y"] + 9)
        owner.page.mouse.click(button["x"] + 9, button["y"] + 9)
        on_their_way[0].continue_()
        owner.page.locator("#client-secret").wait_for()
        assert len(on_their_way) == 1
        keys = app_service.run(list_keys(acme.team.id))
        assert [key.name for key in keys].count("Clicked twice") == 1

    @pytest.mark.parametrize("later", ["after a while", "when one comes back to it"])
    def test_a_form_can_be_sent_again_that_was_stopped(self, later: str, acme: Acme, arrive: Arrive) -> None:
        owner = arrive(acme.owner)
        owner.page.clock.set_fixed_time(NOW)
        open_form_of_a_key(owner, f"Stopped, sent again {later}")
        sent = stop_the_first(owner)
        with owner.page.expect_event("requestfailed"):
            owner.press("Create the key")
        owner.page.clock.set_fixed_time(ALMOST_FORGOTTEN)
        owner.press("Create the key")
        if later == "after a while":
            owner.page.clock.set_fixed_time(FORGOTTEN)
        else:
            owner.page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', {persisted: true}))")
        owner.press("Create the key")
        owner.page.locator("#client-secret").wait_for()
        assert len(sent) == 2
        owner.forgive()  # Chromium reports a failure on its console when the stopped one


def stop_the_first(person: Person) -> list[str]:
    """Abort the first form that is sent, as Stop does, and let later ones pass. Return the sent ones."""
    sent: list[str] = []

    def pass_on(route: Route) -> None:
        if route.request.method != "POST":
            route.continue_()
            return
        sent.append(route.request.url)
        if len(sent) == 1:
            route.abort("aborted")
        else:
            route.continue_()

    person.context.route("**/settings/api-keys/new", pass_on)
    return sent


class TestTheZone:
    @pytest.mark.parametrize("before", [None, "Asia/Tokyo"])
    def test_of_who_comes_by_a_link_is_that_of_their_times_at_once(
        self, before: str | None, acme: Acme, arrive: Arrive
    ) -> None:
        reader = arrive(timezone_id="Europe/Berlin")
        if before:
            reader.context.add_cookies(
                [{"name": "zone", "value": before, "domain": "127.0.0.1", "path": "/app/"}]
            )
        reader.open(f"/acknowledge?token={acme.acknowledge_token}")
        began = reader.page.locator("time").first
        began.and_(reader.page.locator(f"text={at_berlin(began)}")).wait_for()
        assert "UTC" not in began.inner_text()

    def test_is_asked_for_once_by_a_browser_that_keeps_no_cookie(self, acme: Acme, arrive: Arrive) -> None:
        refuses = "Object.defineProperty(Document.prototype, 'cookie', { get: () => '', set: () => {} });"
        reader = arrive(timezone_id="Europe/Berlin", script=refuses)
        reader.open(f"/acknowledge?token={acme.acknowledge_token}")
        reader.page.wait_for_load_state("networkidle")
        assert sum("/acknowledge" in address for address in reader.asked) == 1
        assert "UTC" in reader.page.locator("time").first.inner_text()


def at_berlin(time: Locator) -> str:
    """Return the clock of a time of the page in Berlin."""
    moment = datetime.fromisoformat(time.get_attribute("datetime") or "")
    return f"{moment.astimezone(ZoneInfo('Europe/Berlin')):%H:%M:%S}"
