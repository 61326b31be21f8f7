"""The reference in a browser: its search, its deep links, and the way to it and to the app."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from browser.chromium import Arrive

pytestmark = pytest.mark.embedded("a browser sees the same pages on every backend")

PHONE = {"width": 390, "height": 844}


class TestEntrance:
    def test_leads_people_to_the_app_and_to_the_docs(self, arrive: Arrive) -> None:
        person = arrive()
        for name, path in (("Open the app", "/app/sign-in"), ("Read the reference", "/docs")):
            person.page.goto(person.base_url)
            person.page.get_by_role("main").get_by_role("link", name=name).click()
            person.page.wait_for_url(person.base_url + path)

    def test_leads_programs_to_the_document(self, arrive: Arrive) -> None:
        person = arrive()
        places = person.context.request.get(person.base_url, headers={"Accept": "*/*"})
        for accept in ("text/html;q=0, */*", "application/json;q=0.9, text/html;q=0.5"):
            assert (
                person.context.request.get(person.base_url, headers={"Accept": accept}).json()
                == places.json()
            )
        assert person.context.request.get(person.base_url + places.json()["document"]).ok
        assert '</openapi.json>; rel="service-desc"' in places.headers["link"]


class TestDocs:
    def test_a_deep_link_is_there_at_once(self, arrive: Arrive) -> None:
        person = arrive()
        person.page.goto(f"{person.base_url}/docs#redeliver_notification")
        heading = person.page.locator("#redeliver_notification")
        assert heading.evaluate("heading => heading.getBoundingClientRect().top") < 200
        assert person.page.evaluate("getComputedStyle(document.documentElement).scrollBehavior") == "auto"

    def test_say_where_the_app_is(self, arrive: Arrive) -> None:
        person = arrive()
        for path in ("/docs", "/docs/quick-start"):
            person.page.goto(person.base_url + path)
            person.follow("App")
            person.page.wait_for_url(f"{person.base_url}/app/sign-in")

    @pytest.mark.parametrize(
        ("sought", "found"),
        [("redeliver", "redeliver_notification"), ("merge patch monitor", "update_monitor")],
    )
    def test_find_what_is_sought(self, arrive: Arrive, sought: str, found: str) -> None:
        person = arrive()
        person.page.goto(f"{person.base_url}/docs")
        person.page.keyboard.press("/")
        person.page.keyboard.type(sought)
        person.page.keyboard.press("Enter")
        person.page.wait_for_url(f"{person.base_url}/docs#{found}")

    def test_find_schemas_and_nothing_else_on_a_phone(self, arrive: Arrive) -> None:
        person = arrive(viewport=PHONE)
        person.page.goto(f"{person.base_url}/docs")
        person.follow("Contents")
        contents = person.page.get_by_role("navigation", name="Contents")
        assert not contents.get_by_text("MonitorStatus").is_visible()
        contents.get_by_role("searchbox").fill("monitorstatus")
        shown = contents.locator("li > a >> visible=true")
        assert shown.all_inner_texts() == ["MonitorStatus"]
        contents.get_by_role("searchbox").fill("")
        assert shown.count() > 40

    def test_have_no_search_that_does_nothing_without_a_script(self, arrive: Arrive) -> None:
        person = arrive(java_script_enabled=False)
        person.page.goto(f"{person.base_url}/docs")
        assert not person.page.get_by_role("searchbox").is_visible()
