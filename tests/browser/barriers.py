"""What keeps people from using a page: faults that axe finds, pages wider than a phone, a lost focus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import ViewportSize

from browser.chromium import DESKTOP, PHONE, find_what_is_too_wide, unfold
from browser.tidiness import find_what_is_untidy

if TYPE_CHECKING:
    from playwright.sync_api import Page

SMALL_PHONE = ViewportSize(width=360, height=640)
TABLET = ViewportSize(width=768, height=1024)

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

# Runs in every page that is examined.
EXAMINER = Axe().axe_script + KNOW_COLOURS


def find_barriers(page: Page) -> list[str]:
    """Name what somebody stumbles over who has only a keyboard, a small screen, or a reader of screens."""
    unfold(page)
    found = [] if page.title().removesuffix("· Monitoring").strip() else ["the page has no title"]
    headings = page.evaluate("document.querySelectorAll('h1').length")  # a locator takes ten times as long
    if headings != 1:
        found.append(f"{headings} main headings")
    found += walk_by_keyboard(page)
    for size in (DESKTOP, TABLET, SMALL_PHONE, PHONE):
        page.set_viewport_size(size)
        found += find_what_is_too_wide(page) + find_what_is_untidy(page)
    return found + find_objections(page)


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
