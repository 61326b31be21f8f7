"""What makes a page look careless, though everybody can use it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

UNTIDY = """
() => {
  const found = [];
  const note = (what, elements) => {
    for (const element of elements) found.push(`${what}: ${element.outerHTML.slice(0, 200)}`);
  };
  const all = selector =>
    [...document.querySelectorAll(`main ${selector}`)].filter(element => element.checkVisibility());
  const isBroken = element => {
    const range = document.createRange();
    range.selectNodeContents(element);
    const boxes = [...range.getClientRects()].filter(box => box.width > 1);
    return boxes.some(box => box.top >= boxes[0].bottom);
  };
  const topOf = element => Math.round(element.getBoundingClientRect().top);

  note('a link among buttons', all('form .row > .button ~ a:not(.button)'));
  note('a button in two lines', all('.table .button').filter(isBroken));
  if (innerWidth >= 768) note('a moment in two lines', all('.facts time').filter(isBroken));
  const heights = {};
  for (const control of all('.fields > .field > :is(input, select)')) {
    const height = heights[topOf(control.parentElement)] ??= topOf(control);
    if (height !== topOf(control)) note('higher or lower than its neighbour', [control]);
  }
  return found;
}
"""


def find_what_is_untidy(page: Page) -> list[str]:
    """Name the elements that break or stand where they should not."""
    found: list[str] = page.evaluate(UNTIDY)
    return found
