"""Pages make good use of small screens: names stay whole, and monitors come early."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import ViewportSize

from browser.chromium import PHONE

if TYPE_CHECKING:
    from browser.acme.team import Acme
    from browser.chromium import Arrive

pytestmark = pytest.mark.embedded("a browser sees the same pages on every backend")

TABLET = ViewportSize(width=768, height=1024)

LATE_YESTERDAY = "times => times.forEach(time => { time.textContent = '28 Nov, 23:58:48 UTC' })"
BROKEN = "names => names.filter(name => name.getClientRects().length > 1).map(name => name.textContent)"


@pytest.mark.parametrize("path", ["/settings/api-keys", "/settings/members"])
def test_a_tablet_breaks_no_email(path: str, acme: Acme, arrive: Arrive) -> None:
    owner = arrive(acme.owner, viewport=TABLET)
    owner.open(path)
    emails = owner.page.locator("table bdi").filter(has_text="@")
    assert emails.count() > 2
    assert emails.evaluate_all(BROKEN) == []


def test_a_phone_shows_the_first_monitor_on_its_first_screen_and_each_in_few_lines(
    acme: Acme, arrive: Arrive
) -> None:
    owner = arrive(acme.owner, viewport=PHONE)
    owner.open("/monitors")
    tops = owner.page.locator("tbody tr").evaluate_all(
        "rows => rows.map(row => row.getBoundingClientRect().top)"
    )
    assert tops[0] < 0.65 * PHONE["height"]
    assert (tops[-1] - tops[0]) / (len(tops) - 1) < 125


def test_a_phone_shows_a_check_in_one_line_or_two(acme: Acme, arrive: Arrive) -> None:
    owner = arrive(acme.owner, viewport=ViewportSize(width=360, height=640))
    for shows, height in (("up", 45), ("down", 70)):
        owner.open(f"/monitors/{acme.monitors[shows]}")
        owner.page.locator(".checks time").evaluate_all(LATE_YESTERDAY)
        heights = owner.page.locator(".checks tbody tr").evaluate_all(
            "rows => rows.map(row => row.offsetHeight)"
        )
        assert max(heights) < height, shows
