"""A search of the list of monitors shows what it finds while it is typed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

if TYPE_CHECKING:
    from browser.acme.team import Acme
    from browser.chromium import Arrive

pytestmark = pytest.mark.embedded("a browser sees the same pages on every backend")


class TestTyping:
    def test_shows_what_is_found_in_the_list_and_in_the_address(self, acme: Acme, arrive: Arrive) -> None:
        owner = arrive(acme.owner)
        owner.open("/monitors?sort=name")
        rows = owner.page.locator("tbody tr")
        before = rows.count()
        owner.page.get_by_label("Name or URL").press_sequentially("checkout")
        owner.page.get_by_role("status").get_by_text("1 monitor", exact=True).wait_for()
        assert rows.count() == 1 < before
        assert owner.page.url.endswith("/monitors?search=checkout&sort=name")
        expect(owner.page.locator("#search")).to_be_focused()
        assert owner.page.get_by_label("Name or URL").input_value() == "checkout"

    def test_that_is_taken_back_shows_everything_again(self, acme: Acme, arrive: Arrive) -> None:
        owner = arrive(acme.owner)
        owner.open("/monitors")
        words = owner.page.locator("#monitors [role=status]").inner_text()
        owner.page.get_by_label("Name or URL").fill("nothing is called so")
        owner.page.get_by_text("Nothing found").wait_for()
        owner.page.get_by_label("Name or URL").fill("")
        owner.page.get_by_role("status").get_by_text(words, exact=True).wait_for()

    def test_needs_no_script(self, acme: Acme, arrive: Arrive) -> None:
        owner = arrive(acme.owner, java_script_enabled=False)
        owner.open("/monitors")
        owner.page.get_by_label("Name or URL").fill("checkout")
        owner.press("Show")
        assert "search=checkout" in owner.page.url
        assert owner.page.locator("tbody tr").count() == 1
