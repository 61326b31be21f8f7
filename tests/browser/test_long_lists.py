"""The list of many monitors begins high on the page, and what stands in it can be hit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import ViewportSize

from browser.acme.monitors import own_monitors
from browser.acme.people import join
from monitoring.auth.service import create_team
from monitoring.members.models import Role
from monitoring.monitors.service import create_monitor

if TYPE_CHECKING:
    from browser.acme.people import Member
    from browser.acme.team import Acme
    from browser.chromium import Arrive
    from running_service import RunningService

pytestmark = pytest.mark.embedded("pages are the same on every backend")

# WCAG 2.2, 2.5.8
LEAST_TARGET = 24

# How large the areas are that react to a press of a box, or of a link in a row of the list.
SIZES = """
targets => targets.map(target => (target.closest("label") ?? target).getBoundingClientRect())
  .map(box => [box.width, box.height])
"""
LONG_URL = f"https://example.com/?{'way=' + 'long' * 480}"


@pytest.fixture(scope="module")
def busy(app_service: RunningService, acme: Acme) -> Member:
    """Make the owner of many monitors, of which some are down, and nobody is told."""
    del acme  # must be made first
    return app_service.run(own_monitors(120))


@pytest.fixture(scope="module")
def lengthy(app_service: RunningService, acme: Acme) -> tuple[Member, str]:
    """Make the owner of a monitor with a URL of 2,000 characters, and return its id too."""
    del acme

    async def form() -> tuple[Member, str]:
        team = await create_team("Lengthy", "free", 10)
        monitor = await create_monitor(team.id, {"url": LONG_URL, "name": "L\u0353\u0353\u0353\u0300ong"})
        return await join(team, Role.OWNER), str(monitor.id)

    return app_service.run(form())


@pytest.mark.parametrize(("width", "height"), [(1440, 800), (768, 1024)])
@pytest.mark.parametrize("density", ["roomy", "compact"])
def test_the_first_of_many_monitors_stands_high_on_the_page(
    width: int, height: int, density: str, busy: Member, arrive: Arrive
) -> None:
    owner = arrive(busy, viewport=ViewportSize(width=width, height=height))
    owner.open(f"/monitors?density={density}")
    for told in ("3 open incidents", "Nobody is notified", "120 monitors"):
        assert owner.page.locator("main").get_by_text(told).first.is_visible(), told
    first = owner.page.locator("tbody tr").first.bounding_box()
    assert first
    assert first["y"] <= 300


def test_a_thumb_hits_the_boxes_and_links_of_a_row(busy: Member, arrive: Arrive) -> None:
    owner = arrive(busy, viewport=ViewportSize(width=360, height=740))
    owner.open("/monitors?density=roomy")
    boxes = owner.page.locator("tbody [type=checkbox]")
    links = owner.page.locator("tbody a:visible, .ranges a:visible")
    for targets in (boxes, links):
        sizes = targets.evaluate_all(SIZES)
        assert len(sizes) > 20
        assert min(min(size) for size in sizes) >= LEAST_TARGET
    box = boxes.first.bounding_box()
    assert box
    owner.page.mouse.click(box["x"] - 3, box["y"] - 8)  # beside it
    assert boxes.first.is_checked()


def test_a_phone_can_acknowledge_the_only_open_incident_in_the_box_above_the_list(
    app_service: RunningService, acme: Acme, arrive: Arrive
) -> None:
    del acme
    owner = arrive(app_service.run(own_monitors(2)), viewport=ViewportSize(width=360, height=740))
    owner.open("/monitors")
    owner.page.locator("#open").get_by_role("button", name="Acknowledge").click()
    owner.page.get_by_text("You have acknowledged the incident").wait_for()
    assert owner.page.locator("#open .taken").is_visible()


@pytest.mark.parametrize("width", [360, 1440])
def test_a_long_url_takes_one_line_above_the_state(
    width: int, lengthy: tuple[Member, str], arrive: Arrive
) -> None:
    member, monitor_id = lengthy
    owner = arrive(member, viewport=ViewportSize(width=width, height=740))
    owner.open(f"/monitors/{monitor_id}")
    address = owner.page.locator(".head .address").bounding_box()
    assert address
    assert address["height"] < 30
    owner.page.get_by_text("Configuration").click()
    assert owner.page.get_by_text(LONG_URL).last.is_visible()
