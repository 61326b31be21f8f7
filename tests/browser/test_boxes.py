"""Boxes for many monitors are found by the monitors' names while one types."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from browser.acme.people import join
from browser.chromium import PHONE
from monitoring.auth.service import create_team
from monitoring.members.models import Role
from monitoring.monitors.service import create_monitor

if TYPE_CHECKING:
    from playwright.sync_api import Locator

    from browser.acme.people import Member
    from browser.chromium import Arrive, Person
    from running_service import RunningService

pytestmark = pytest.mark.embedded("a browser sees the same pages on every backend")

PATH = "/settings/maintenance/new"

NAMES = [f"Shop {number}" for number in range(11, 25)] + ["A name of many words, in several lines " * 5]


@pytest.fixture(scope="module")
def many(app_service: RunningService) -> Member:
    """Make the owner of a team with more monitors than the box has lines."""

    async def form() -> Member:
        team = await create_team("Many", "free", len(NAMES))
        for name in NAMES:
            await create_monitor(
                team.id, {"name": name.strip(), "url": "https://shop.invalid/", "paused": True}
            )
        return await join(team, Role.OWNER)

    return app_service.run(form())


def open_boxes(person: Person) -> Locator:
    person.open(PATH)
    person.page.get_by_text("These monitors", exact=True).click()
    return person.page.locator(".offered label")


class TestTyping:
    def test_finds_monitors_and_keeps_those_that_are_ticked(self, many: Member, arrive: Arrive) -> None:
        owner = arrive(many)
        boxes = open_boxes(owner)
        names = [name.strip() for name in boxes.all_inner_texts()]
        ticked, wanted = names[0], names[-1]
        owner.page.get_by_label(ticked, exact=True).check()
        owner.page.get_by_label("Search these monitors").press_sequentially(wanted.upper())
        assert [name.strip() for name in boxes.filter(visible=True).all_inner_texts()] == [ticked, wanted]
        assert owner.page.get_by_role("status").get_by_text("1 found", exact=True).is_visible()
        owner.page.get_by_label("Search these monitors").fill("")
        assert boxes.filter(visible=True).count() == len(names)

    def test_and_pressing_enter_sends_nothing(self, many: Member, arrive: Arrive) -> None:
        owner = arrive(many)
        open_boxes(owner)
        search = owner.page.get_by_label("Search these monitors")
        search.fill("Shop 2")
        asked = len(owner.asked)
        search.press("Enter")
        owner.page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        assert owner.asked[asked:] == []

    def test_is_not_offered_without_a_script(self, many: Member, arrive: Arrive) -> None:
        owner = arrive(many, java_script_enabled=False)
        assert open_boxes(owner).count() == len(NAMES)
        assert not owner.page.locator("[data-finds]").is_visible()


@pytest.mark.parametrize("width", [360, 1440])
def test_the_box_ends_between_two_lines(many: Member, arrive: Arrive, width: int) -> None:
    owner = arrive(many, viewport={**PHONE, "width": width})
    open_boxes(owner)
    box = owner.page.locator(".offered")
    assert box.evaluate("box => box.scrollHeight > box.clientHeight")
    row = box.evaluate("box => parseFloat(getComputedStyle(box).lineHeight)")
    lines = box.evaluate("box => [...box.children].map(label => label.offsetHeight)")
    assert {height % row for height in [*lines, box.evaluate("box => box.clientHeight")]} == {0}
