"""Everybody can use every page: axe finds no fault, none is too wide for a phone, and all are tidy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import ViewportSize

from browser.chromium import DESKTOP, PHONE, find_what_is_too_wide, unfold
from browser.places import PLACES
from browser.possessions import find_address, list_addresses, list_pages
from browser.tidiness import find_what_is_untidy

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from browser.acme.team import Acme
    from browser.chromium import Arrive

pytestmark = pytest.mark.embedded("pages are the same on every backend")

SMALL_PHONE = ViewportSize(width=360, height=640)
TABLET = ViewportSize(width=768, height=1024)
AXE = Axe()

# Has axe parse a colour once in a page, and not for each element, which takes a third of its time.
KNOW_COLOURS = """
{
  const { Color } = axe.commons.color;
  const known = new Map();
  const parse = Color.prototype.parseString;
  Color.prototype.parseString = function (text) {
    if (!known.has(text)) known.set(text, parse.call(new Color(), text));
    const { r, g, b, alpha } = known.get(text);
    return Object.assign(this, { r, g, b, alpha });
  };
}
"""

# How axe looks at a page, so that one thing changes at a time and the window is at last as it was at first.
SIGHTS: tuple[tuple[ViewportSize, Literal["light", "dark"]], ...] = (
    (PHONE, "light"),
    (PHONE, "dark"),
    (DESKTOP, "dark"),
    (DESKTOP, "light"),
)

# What axe examines: everything in light colours, and in dark colours only what colours can change.
LOOKS = {
    "light": {"resultTypes": ["violations"]},
    "dark": {"resultTypes": ["violations"], "runOnly": ["color-contrast", "link-in-text-block"]},
}

# Notes which elements the focus has yet to reach, and which did not show that they have it.
WATCH_FOCUS = """
() => {
  const wanted = 'a[href], button, input:not([type=hidden]), select, textarea, summary';
  window.left = new Set([...document.querySelectorAll(wanted)].filter(
    element => !element.disabled && element.checkVisibility() && element.tabIndex >= 0
  ));
  window.unseen = [];
  document.activeElement.blur();
  document.addEventListener('focusin', ({ target }) => {
    const style = getComputedStyle(target);
    const shows = style.outlineStyle !== 'none' || style.boxShadow !== 'none';
    if (window.left.delete(target) && !shows) window.unseen.push('focus unseen: ' + target.outerHTML);
  });
  return window.left.size;
}
"""

# Returns what axe objects to. Of rows that differ by their numbers alone, axe needs one: hundreds of them
# would take most of its time.
EXAMINE = """
look => {
  for (const body of document.querySelectorAll('tbody')) {
    const kinds = new Set();
    for (const row of [...body.rows]) {
      const kind = getComputedStyle(row).backgroundColor + row.outerHTML.replace(/\\d+/g, '0');
      if (kinds.has(kind)) row.remove();
      kinds.add(kind);
    }
  }
  return axe.run(look).then(results => results.violations);
}
"""

# Addresses that always redirect, and forms whose answer always does.
LEADING_ELSEWHERE = {"/settings", "/monitors/selected"}
ANSWERED_ELSEWHERE = {
    "/settings/notifications/{channel_id}/deliveries/{delivery_id}/send-again",
    "/settings/account/sessions/{session_id}/end",
    "/acknowledge",
    "/confirm-email",
    "/incidents/{incident_id}/acknowledge",
    "/articles/{article_id}/delete",
    "/articles/{article_id}/retranslate",
    "/articles/{article_id}/retry",
    "/articles/{article_id}/unpublish",
    "/monitors/deletions/{deletion_id}/undo",
    "/monitors/selected/delete",
    "/monitors/{monitor_id}/check",
    "/monitors/{monitor_id}/keep",
    "/monitors/{monitor_id}/mute",
    "/monitors/{monitor_id}/unmute",
    "/monitors/{monitor_id}/delete",
    "/monitors/{monitor_id}/pause",
    "/monitors/{monitor_id}/resume",
    "/monitors/{monitor_id}/test-notifications",
    "/settings/account/sign-out-everywhere",
    "/settings/maintenance/{window_id}/delete",
    "/settings/maintenance/{window_id}/end",
    "/settings/members/invitations/{invitation_id}/withdraw",
    "/settings/notifications/{channel_id}/ask",
    "/settings/notifications/{channel_id}/delete",
    "/settings/notifications/{channel_id}/test",
    "/sign-out",
}


@pytest.mark.parametrize("name", PLACES)
def test_everybody_can_use_the_page(name: str, acme: Acme, come_back: Arrive) -> None:
    place = PLACES[name]
    visitor = come_back(place.find_visitor(acme), script=AXE.axe_script + KNOW_COLOURS)
    place.visit(visitor, acme)
    page = visitor.page
    unfold(page)
    assert page.title().removesuffix("· Monitoring").strip()
    assert page.evaluate("document.querySelectorAll('h1').length") == 1  # a locator takes ten times as long
    assert walk_by_keyboard(page) == []
    for size in (DESKTOP, TABLET, SMALL_PHONE, PHONE):
        page.set_viewport_size(size)
        assert find_what_is_too_wide(page) == []
        assert find_what_is_untidy(page) == []
    assert find_objections(page) == []


def test_every_address_of_the_app_is_among_the_places(acme: Acme) -> None:
    seen = {find_address("GET", place.path.format(acme=acme)) for place in PLACES.values() if not place.sent}
    assert seen - {None} == set(list_pages()) - LEADING_ELSEWHERE


def test_every_form_that_is_answered_with_a_page_is_among_the_places(acme: Acme) -> None:
    seen = {find_address("POST", place.path.format(acme=acme)) for place in PLACES.values() if place.sent}
    assert seen == set(list_addresses("POST")) - ANSWERED_ELSEWHERE


def find_objections(page: Page) -> list[str]:
    """Let axe examine a page at two widths and in both colour schemes. Return rules and elements."""
    found: list[str] = []
    for size, colours in SIGHTS:
        page.set_viewport_size(size)
        page.emulate_media(color_scheme=colours, reduced_motion="reduce")
        for violation in page.evaluate(EXAMINE, LOOKS[colours]):
            places = [node["html"][:200] for node in violation["nodes"]]
            found.append(f"{size['width']} {colours} {violation['id']}: {violation['help']}: {places}")
    return found


def walk_by_keyboard(page: Page) -> list[str]:
    """Press Tab through the whole page. Name elements that were left out or did not show their focus."""
    expected: int = page.evaluate(WATCH_FOCUS)
    for _ in range(2):  # a page may keep the focus for a while
        for _ in range(expected + 2):
            page.keyboard.down("Tab")
        if page.evaluate("window.left.size") == 0:
            break
    found: list[str] = page.evaluate(
        "[...window.unseen, ...[...window.left].map(element => 'not reached: ' + element.outerHTML)]"
    )
    return [fault[:300] for fault in found]
