"""Forms tell everything that is wrong at once, and lead to the first of it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from browser.acme.articles import MARKED
from browser.chromium import unfold
from browser.places import PLACES
from monitoring.app.monitors.labels import LABELS
from monitoring.app.sentences import REFUSALS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from browser.acme.people import Member
    from browser.acme.team import Acme
    from browser.chromium import Arrive, Person

pytestmark = pytest.mark.embedded("a browser sees the same pages on every backend")

WRONG = {"url": "nowhere", "interval_seconds": "soon", "tags": "Größe", "timeout_seconds": "0"}
OTHER = {"interval_choice": ""}  # than the intervals of the list


def describe(person: Person, field: str) -> tuple[str | None, str]:
    """Return a field's `aria-invalid`, and the texts that `aria-describedby` names."""
    found = person.page.locator(f"#{field}")
    ids = (found.get_attribute("aria-describedby") or "").split()
    return found.get_attribute("aria-invalid"), " ".join(
        person.page.locator(f"[id='{each}']").inner_text() for each in ids
    )


def press_with(person: Person, button: str, fields: Mapping[str, str]) -> None:
    """Fill in fields as people do, and press a button. A box is ticked if it has a text."""
    form = person.page.locator("main form[method=post]").filter(
        has=person.page.get_by_role("button", name=button)
    )
    for name, text in fields.items():
        field = form.locator(f"[name={name}]").first
        if field.get_attribute("type") == "checkbox":
            field.set_checked(bool(text))
            continue
        if name == "interval_seconds":
            form.locator("[name=interval_choice]").select_option(OTHER["interval_choice"])
        field.fill(text)
    with person.page.expect_navigation():
        person.press(button)


class TestSeveralWrongFields:
    def test_are_all_told_above_the_form_and_each_at_its_field(self, acme: Acme, arrive: Arrive) -> None:
        owner = arrive(acme.owner)
        owner.open("/monitors/new")
        assert owner.fill_in(WRONG | OTHER).status == 400
        told = owner.page.get_by_role("alert").get_by_role("listitem").all_inner_texts()
        assert [line.partition(":")[0] for line in told] == [LABELS[name] for name in WRONG]
        for name, line in zip(WRONG, told, strict=True):
            is_invalid, description = describe(owner, name)
            assert is_invalid == "true"
            assert line.partition(": ")[2] in description

    def test_lead_to_the_first_one(self, acme: Acme, arrive: Arrive) -> None:
        owner = arrive(acme.owner)
        owner.open("/monitors/new")
        owner.fill_in(WRONG | OTHER | {"url": "https://shop.acme.example/"})
        expect(owner.page.locator("#interval_seconds")).to_be_focused()
        owner.page.get_by_role("alert").get_by_role("link", name=LABELS["timeout_seconds"]).click()
        expect(owner.page.locator("#timeout_seconds")).to_be_focused()

    @pytest.mark.parametrize(
        ("path", "wrong"),
        [
            ("/settings/account/password", {"current_password": "a guess", "new_password": "short"}),
            ("/settings/api-keys/new", {"name": "", "scopes": ""}),
        ],
    )
    def test_are_all_told_on_every_page(
        self, path: str, wrong: dict[str, str], acme: Acme, arrive: Arrive
    ) -> None:
        owner = arrive(acme.owner)
        owner.open(path)
        owner.fill_in(wrong)
        assert owner.page.locator("[id^=error-]").count() == len(wrong)
        expect(owner.page.locator(f"[name={next(iter(wrong))}]").first).to_be_focused()

    def test_of_a_filter_are_all_told(self, acme: Acme, arrive: Arrive) -> None:
        owner = arrive(acme.owner)
        assert owner.open("/monitors?tag=No+tag&status=sleeping").status == 400
        assert owner.page.locator("[id^=error-]").count() == 2
        expect(owner.page.locator("#tag")).to_be_focused()


# What is pressed, and what stands at the fields then. A field's text is typed; a box is ticked or not.
PRESSED = {
    "/sign-in": ("Sign in", {"email": "", "password": ""}),
    "/forgotten-password": ("Send the link", {"email": "alice at acme"}),
    "/new-password?token={acme.password_token}": ("Save and sign in", {"password": "short"}),
    "/monitors/new": ("Create the monitor", {"url": "", "interval_seconds": "5", "tags": "Bad Tag!"}),
    "/settings/notifications/new?type=telegram": ("Create the channel", {"bot_token": "", "chat_id": ""}),
    "/settings/account/password": ("Change the password", {"current_password": "", "new_password": "short"}),
    "/settings/api-keys/new": ("Create the key", {"name": "", "scopes": ""}),
    "/settings/api-keys/{acme.keys[deploy]}/revoke": ("Revoke the key", {"understood": ""}),
    "/settings/members/invite": ("Create the invitation", {"email": "frank"}),
    "/incidents/{acme.incidents[open]}": ("Add the note", {"text": ""}),
    f"/articles/{{acme.articles[whole]}}/es/segments/{MARKED}": ("Save", {"text": ""}),
}
FOR_STRANGERS = ("/sign-in", "/forgotten-password", "/new-password")


class TestAPress:
    """A real one: a browser that refuses to send a form tells one thing, in its own words."""

    @pytest.mark.parametrize("path", PRESSED)
    def test_tells_everything_that_is_wrong_and_leads_to_the_first(
        self, path: str, acme: Acme, arrive: Arrive
    ) -> None:
        person = arrive(None if path.startswith(FOR_STRANGERS) else acme.owner)
        person.open(path.format(acme=acme))
        button, wrong = PRESSED[path]
        press_with(person, button, wrong)
        assert person.page.locator("main [id^=error-]").count() == len(wrong)
        expect(person.page.locator(f"[name={next(iter(wrong))}]").first).to_be_focused()

    def test_on_join_tells_about_name_and_password(self, acme: Acme, arrive: Arrive) -> None:
        stranger = arrive()
        stranger.open("/join")
        press_with(stranger, "Continue", {"code": ""})
        assert REFUSALS["invitation_unknown"] in stranger.page.inner_text("main")
        press_with(stranger, "Continue", {"code": acme.invited.code})
        press_with(stranger, "Join", {"name": "", "password": "short"})
        told = stranger.page.inner_text("main")
        assert REFUSALS["name_invalid"] in told
        assert REFUSALS["password_too_short"] in told

    @pytest.mark.parametrize(
        ("path", "field", "button"),
        [
            ("/settings/maintenance/new", "starts_at", "Save the maintenance"),
            ("/settings/notifications/new?type=email", "routing_quiet_starts_at", "Create the channel"),
            ("/settings/audit-log", "from", "Show"),
        ],
    )
    def test_tells_of_a_time_that_is_typed_in_half(
        self, path: str, field: str, button: str, acme: Acme, arrive: Arrive
    ) -> None:
        owner = arrive(acme.owner)
        owner.open(path)
        unfold(owner.page)
        owner.page.locator(f"#{field}").press("1")
        with owner.page.expect_navigation():
            owner.press(button)
        assert describe(owner, field)[0] == "true"
        assert owner.page.locator(f"#error-{field}").is_visible()

    def test_without_the_script_sends_no_time_that_is_typed_in_half(self, acme: Acme, arrive: Arrive) -> None:
        owner = arrive(acme.owner, java_script_enabled=False)
        owner.open("/settings/maintenance/new")
        owner.page.locator("#starts_at").press("1")
        owner.press("Save the maintenance")
        owner.open("/settings/maintenance")
        assert owner.page.locator("main").get_by_text("all monitors").count() == 0

    def test_is_never_judged_by_the_browser_alone(self, acme: Acme, arrive: Arrive) -> None:
        """Without the script too; then a form with times is left to it, and has times indeed."""
        people: dict[Member | None, Person] = {}
        for name, place in PLACES.items():
            who = place.find_visitor(acme)
            person = people.setdefault(who, people.get(who) or arrive(who))
            page = person.ask(place.path.format(acme=acme)).text()
            for form in re.findall(r'<form [^>]*method="post".*?</form>', page, re.DOTALL):
                is_timed = re.search(r'type="(date|time|datetime-local)"', form)
                is_judged = "novalidate" not in form.partition(">")[0]
                assert (name, is_judged) == (name, bool(is_timed))


def test_a_stranger_who_joins_is_told_about_name_and_password(acme: Acme, arrive: Arrive) -> None:
    stranger = arrive()
    stranger.open("/join")
    stranger.fill_in({"code": acme.invited.code})
    stranger.fill_in({"name": " ", "password": "short"})
    assert stranger.page.locator("[id^=error-]").count() == 2
    expect(stranger.page.locator("#name")).to_be_focused()


def test_a_conflict_is_an_alert_and_has_the_focus(acme: Acme, arrive: Arrive) -> None:
    owner = arrive(acme.owner)
    owner.open(f"/monitors/{acme.monitors['degraded']}/edit")
    assert owner.fill_in({"version": "0", "name": "Checkout"}).status == 412
    alert = owner.page.get_by_role("alert")
    assert "changed" in alert.inner_text()
    expect(owner.page.get_by_role("alert")).to_be_focused()
