"""The reference in a browser: its search, its deep links, and the way to it and to the app."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest

from cast import Player, form_team

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Locator, Page

    from browser.chromium import Arrive
    from running_service import RunningService

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


@pytest.fixture
def alice(app_service: RunningService) -> Iterator[Player]:
    with Player(app_service, form_team(app_service)) as alice:
        yield alice


def section(page: Page, operation_id: str) -> Locator:
    """Return what the page says of an operation."""
    return page.locator(f".operation[aria-labelledby={operation_id}]")


class TestTryIt:
    def test_calls_an_operation_with_a_token_that_stays_in_the_page(
        self, arrive: Arrive, alice: Player
    ) -> None:
        person = arrive()
        page = person.page
        page.goto(f"{person.base_url}/docs#create_monitor")
        form = section(page, "create_monitor")
        form.get_by_text("Try it").click()
        token = alice.headers["Authorization"].removeprefix("Bearer ")
        form.get_by_label("Access token").fill(token)
        form.get_by_label("Body (application/json)").fill('{"url": "https://shop.example.com/try"}')
        form.get_by_label("Idempotency-Key (optional)").fill("try-1")
        with page.expect_request("**/api/monitors") as asked:
            form.get_by_role("button", name="Send POST").click()
        answer = form.get_by_role("status")
        answer.get_by_text("201 Created").wait_for()
        words = answer.inner_text()
        assert '"url": "https://shop.example.com/try"' in words
        assert "location: /api/monitors/" in words
        assert """curl -i -X POST "$URL"'/api/monitors'""" in words
        assert '-H "Authorization: Bearer $TOKEN"' in words
        assert token not in words
        assert "cookie" not in asked.value.all_headers()
        assert token not in page.url
        kept = page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])")
        assert token not in kept
        page.reload()
        section(page, "create_monitor").get_by_text("Try it").click()
        assert section(page, "create_monitor").get_by_label("Access token").input_value() == ""

    def test_fetches_the_token_that_other_operations_use(self, arrive: Arrive, alice: Player) -> None:
        person = arrive()
        page = person.page
        page.goto(f"{person.base_url}/docs#issue_token")
        form = section(page, "issue_token")
        form.get_by_text("Try it").click()
        secrets = {"client_id": alice.client_id, "client_secret": alice.client_secret}
        form.get_by_label("Body (application/x-www-form-urlencoded)").fill(urlencode(secrets))
        form.get_by_role("button", name="Send POST").click()
        form.get_by_text("200 OK").wait_for()
        form = section(page, "list_monitors")
        form.get_by_text("Try it").click()
        form.get_by_role("button", name="Send GET").click()
        form.get_by_text("200 OK").wait_for()

    def test_needs_a_script(self, arrive: Arrive) -> None:
        person = arrive(java_script_enabled=False)
        person.page.goto(f"{person.base_url}/docs")
        assert person.page.get_by_text("Try it").count() == 0


class TestPhone:
    @pytest.mark.parametrize("width", [390, 360])
    @pytest.mark.parametrize("path", ["/docs", "/docs/quick-start", "/"])
    def test_holds_every_line(self, arrive: Arrive, width: int, path: str) -> None:
        person = arrive(viewport={"width": width, "height": 800})
        person.page.goto(person.base_url + path)
        person.page.evaluate("for (const each of document.querySelectorAll('main details')) each.open = true")
        assert person.page.evaluate("document.documentElement.scrollWidth") <= width


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
        [
            ("redeliver", "redeliver_notification"),
            ("merge patch monitor", "update_monitor"),
        ],
    )
    def test_find_what_is_sought(self, arrive: Arrive, sought: str, found: str) -> None:
        person = arrive()
        person.page.goto(f"{person.base_url}/docs")
        person.page.keyboard.press("/")
        person.page.keyboard.type(sought)
        person.page.keyboard.press("Enter")
        person.page.wait_for_url(f"{person.base_url}/docs#{found}")

    def test_find_a_section_by_what_it_says(self, arrive: Arrive) -> None:
        person = arrive()
        person.page.goto(f"{person.base_url}/docs")
        contents = person.page.get_by_role("navigation", name="Contents")
        contents.get_by_role("searchbox").fill("retry after")
        contents.get_by_role("link", name="Retries").click()
        person.page.wait_for_url(f"{person.base_url}/docs#retries")

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
