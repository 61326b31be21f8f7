"""Monitors of the list are selected by keyboard and mouse, with a script and without."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import parse_qsl, urlsplit

import pytest

from browser.acme.people import join
from monitoring.auth.service import create_team
from monitoring.backends.fields import uuid7
from monitoring.members.models import Role
from monitoring.monitors.service import create_monitor

if TYPE_CHECKING:
    from browser.acme.people import Member
    from browser.acme.team import Acme
    from browser.chromium import Arrive, Person
    from running_service import RunningService

pytestmark = pytest.mark.embedded("a browser sees the same pages on every backend")


@pytest.fixture
def owner(app_service: RunningService, acme: Acme) -> Member:
    """Make the owner of a team with three monitors."""
    del acme  # must be made first

    async def form() -> Member:
        team = await create_team(f"Selecting {uuid7()}", "free", 10)
        for name in ("First", "Second", "Third"):
            await create_monitor(team.id, {"url": "https://shop.invalid/", "name": name})
        return await join(team, Role.OWNER)

    return app_service.run(form())


class TestSelecting:
    def test_shows_what_can_be_done_and_how_many_are_selected(self, owner: Member, arrive: Arrive) -> None:
        person = arrive(owner)
        person.open("/monitors")
        acts = person.page.get_by_role("group", name="With the selected monitors")
        assert not acts.is_visible()
        person.page.get_by_label("Select First").focus()
        person.page.keyboard.press("Space")
        acts.wait_for()
        person.page.get_by_label("Select all in this table").check()
        person.press("Pause")
        person.page.get_by_text("The selected monitors are paused.").wait_for()
        assert person.page.locator(".badge.paused").count() == 3

    @pytest.mark.parametrize("colours", ["light", "dark"])
    def test_is_done_in_boxes_with_the_colour_of_what_they_lie_on(
        self, colours: Literal["light", "dark"], owner: Member, arrive: Arrive
    ) -> None:
        person = arrive(owner, color_scheme=colours)
        person.open("/monitors")
        colour = "part => getComputedStyle(part).backgroundColor"
        card = person.page.locator(".card").first.evaluate(colour)
        assert person.page.get_by_label("Select First").evaluate(colour) == card

    def test_stays_as_it_is_when_enter_is_pressed(self, owner: Member, arrive: Arrive) -> None:
        person = arrive(owner)
        person.open("/monitors")
        person.page.get_by_label("Select First").focus()
        for key in ("Space", "Enter"):
            person.page.keyboard.press(key)
        for label in ("Tag", "Mute for"):
            person.page.get_by_label(label, exact=True).press("Enter")
        assert person.page.get_by_label("Select First").is_checked()
        assert [url for url in person.asked if "/selected" in url] == []

    @pytest.mark.parametrize("options", [{}, {"java_script_enabled": False}], ids=["script", "no script"])
    def test_gets_the_tag_that_enter_ends(
        self, owner: Member, arrive: Arrive, options: dict[str, Any]
    ) -> None:
        person = arrive(owner, **options)
        person.open("/monitors")
        person.page.get_by_label("Select First").check()
        person.page.get_by_label("Tag", exact=True).fill("shop")
        person.page.keyboard.press("Enter")
        person.page.get_by_text("The selected monitors have the tag.").wait_for()
        assert person.page.locator("tbody .tags a").all_inner_texts() == ["shop"]
        assert person.page.locator(".badge.paused").count() == 0

    def test_is_not_paused_by_enter_without_a_script(self, owner: Member, arrive: Arrive) -> None:
        person = arrive(owner, java_script_enabled=False)
        person.open("/monitors")
        person.page.get_by_label("Select First").check()
        with person.page.expect_navigation():
            person.page.get_by_label("Select First").press("Enter")
        assert person.page.locator("tbody tr").count() == 3
        assert person.page.locator(".badge.paused").count() == 0

    def test_outlives_the_renewal_of_the_page(
        self, owner: Member, arrive: Arrive, app_service: RunningService
    ) -> None:
        person = arrive(owner)
        person.open("/monitors")
        person.page.get_by_label("Select Second").check()
        new = create_monitor(owner.user.team_id, {"url": "https://shop.invalid/", "name": "Newer"})
        app_service.run(new)
        person.page.get_by_role("link", name="Newer").wait_for()
        assert person.page.locator("[name=monitor]:checked").count() == 1
        assert person.page.get_by_label("Select Second").is_checked()

    @pytest.mark.parametrize("options", [{}, {"java_script_enabled": False}])
    def test_deletes_and_undoes_that(self, owner: Member, arrive: Arrive, options: dict[str, Any]) -> None:
        person = arrive(owner, **options)
        person.open("/monitors")
        person.page.get_by_label("Select First").check()
        person.page.get_by_label("Select Third").check()
        person.press("Delete…")
        person.press("Delete 2 monitors")
        person.page.get_by_text("2 monitors will be deleted at").wait_for()
        assert person.page.locator("tbody tr").count() == 1
        person.press("Undo")
        person.page.get_by_text("The deletion is undone.").wait_for()
        assert person.page.locator("tbody tr").count() == 3


class TestDeletingOnAMonitorsOwnPage:
    @pytest.mark.parametrize("options", [{}, {"java_script_enabled": False}], ids=["script", "no script"])
    def test_and_undoing_that_lead_to_the_list_that_one_came_from(
        self, owner: Member, arrive: Arrive, options: dict[str, Any]
    ) -> None:
        person = arrive(owner, **options)
        person.open("/monitors?search=ir&sort=name&group=tag")
        person.follow("First")
        person.press("Pause")
        person.follow("Delete")
        person.press("Delete the monitor")
        assert_is_the_list(person)
        person.page.get_by_text("1 monitor will be deleted at").wait_for()
        assert person.page.locator("tbody th").all_inner_texts() == ["Third\nhttps://shop.invalid/"]
        person.press("Undo")
        person.page.get_by_text("The deletion is undone.").wait_for()
        assert_is_the_list(person)
        assert person.page.locator("tbody tr").count() == 2

    def test_leads_to_what_was_typed_into_the_search(self, owner: Member, arrive: Arrive) -> None:
        person = arrive(owner)
        person.open("/monitors")
        person.page.get_by_label("Name or URL").fill("ir")
        person.page.get_by_role("link", name="Second").wait_for(state="detached")
        person.follow("First")
        person.follow("Delete")
        person.press("Delete the monitor")
        person.page.get_by_text("1 monitor will be deleted at").wait_for()
        assert urlsplit(person.page.url).query == "search=ir"

    def test_leads_to_all_monitors_if_another_monitors_list_was_the_last(
        self, owner: Member, arrive: Arrive
    ) -> None:
        person = arrive(owner)
        person.open("/monitors?search=ir")
        address = person.page.get_by_role("link", name="Third").get_attribute("href") or ""
        person.follow("First")
        person.open(address.removeprefix("/app"))
        person.follow("Delete")
        person.press("Delete the monitor")
        person.page.get_by_text("1 monitor will be deleted at").wait_for()
        assert urlsplit(person.page.url).query == ""


class TestMuting:
    def test_ends_by_itself_unless_one_chooses_otherwise(self, owner: Member, arrive: Arrive) -> None:
        person = arrive(owner)
        person.open("/monitors")
        offered = person.page.get_by_label("Mute for").locator("option").all_inner_texts()
        assert (offered[0], offered[-1]) == ("for 1 hour", "until unmuted")
        person.follow("First")
        assert person.page.get_by_label("Mute for").input_value() == "1"
        person.press("Mute")
        person.page.get_by_text(re.compile(r"Muted by .+ until")).wait_for()


def assert_is_the_list(person: Person) -> None:
    query = dict(parse_qsl(urlsplit(person.page.url).query))
    assert query == {"search": "ir", "sort": "name", "group": "tag"}
    assert person.page.get_by_label("Name or URL").input_value() == "ir"
