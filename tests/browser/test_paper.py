"""Pages on paper: black on white whatever the screen looks like, with nothing to press and nothing folded."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from browser.places import PLACES

if TYPE_CHECKING:
    from browser.acme.team import Acme
    from browser.chromium import Arrive

pytestmark = pytest.mark.embedded("a browser sees the same pages on every backend")

TO_PRESS = "header, nav:not([aria-label=Pages]), button, select, input, textarea, a[href*='.csv'], .skip"
SEEN = "parts => parts.filter(part => part.checkVisibility()).map(part => part.outerHTML.slice(0, 100))"
LOOK = """
() => [document.body, document.querySelector("h1"), document.querySelector(".card")].map(element => {
  const { backgroundColor, color } = getComputedStyle(element);
  return [backgroundColor, color];
})
"""
NOTHING, INK, WHITE = "rgba(0, 0, 0, 0)", "rgb(23, 32, 46)", "rgb(255, 255, 255)"

# As wide as A4 between narrow edges.
PAPER_WIDTH = 700


@pytest.mark.parametrize("name", ["monitor-down", "incident", "audit-log", "monitors", "article-failed"])
def test_a_printed_page_is_light_and_has_nothing_to_press(name: str, acme: Acme, arrive: Arrive) -> None:
    owner = arrive(acme.owner, color_scheme="dark")
    PLACES[name].visit(owner, acme)
    owner.page.emulate_media(media="print", color_scheme="dark")
    assert owner.page.evaluate(LOOK) == [[NOTHING, INK], [NOTHING, INK], [WHITE, INK]]
    assert owner.page.locator(TO_PRESS).evaluate_all(SEEN) == []


def test_a_printed_table_keeps_its_columns_and_what_is_folded_is_shown(acme: Acme, arrive: Arrive) -> None:
    owner = arrive(acme.owner)
    PLACES["monitor-down"].visit(owner, acme)
    owner.page.emulate_media(media="print")
    owner.page.set_viewport_size({"width": PAPER_WIDTH, "height": 1000})
    table = owner.page.get_by_role("table", name="Response times by hour")
    assert table.is_visible()
    tops = (
        table.locator("tbody tr")
        .first.locator("th, td")
        .evaluate_all("cells => cells.map(cell => cell.getBoundingClientRect().top)")
    )
    assert len(tops) == 10
    assert len(set(tops)) == 1
