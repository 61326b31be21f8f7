"""No page becomes wider than its window, not even with a very long name that cannot be broken."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import ViewportSize

from browser.acme.articles import odd_article
from browser.chromium import DESKTOP, PHONE, find_what_is_too_wide, unfold
from browser.odd_names import ADDRESSES, PROPOSALS, OddTeam, Texts, form_odd_team

if TYPE_CHECKING:
    from browser.acme.team import Acme
    from browser.chromium import Arrive, Person
    from running_service import RunningService

pytestmark = pytest.mark.embedded("pages are the same on every backend")

SIZES = (DESKTOP, PHONE, ViewportSize(width=360, height=640))

NAME = "W" * 100
EMAIL = f"{'w' * 60}@{'w' * 63}.{'w' * 63}.{'w' * 50}.example"
URL = f"https://long.example/{'w' * 1980}"
MONITORS = [
    {
        "name": NAME,
        "url": URL,
        "method": "POST",
        "tags": ["w" * 40, "v" * 40],
        "request_headers": {"X-" + "W" * 60: "w" * 500},
        "request_body": "w" * 500,
        "required_keyword": "w" * 200,
    }
]
ARTICLE = {
    "id": f"art_{'w' * 100}",
    "title": "W" * 200,
    "slug": "w" * 100,
    "meta_title": "W" * 200,
    "content": f"<h2>{'W' * 200}</h2><p>{'w' * 500}</p><pre>{'w' * 500}</pre><ul><li>{'w' * 300}</li></ul>",
}
FORMS = {
    "/settings/members/{user_id}/reset-code": {},
    "/settings/members/invite": {"email": f"e{EMAIL}"},
    "/settings/api-keys/new": {"name": NAME},
    "/monitors/new": {"url": "w" * 2000, "name": NAME},
    "/monitors/{monitor_id}/edit": {"version": "0", "name": "V" * 100, "url": f"{URL}/v"},
}


@pytest.fixture(scope="session")
def long_named(app_service: RunningService) -> OddTeam:
    texts = Texts(team=NAME, person=NAME, email=EMAIL, key=NAME, monitors=MONITORS, error_message="w" * 255)
    return app_service.run(form_odd_team(texts))


@pytest.mark.parametrize("address", [*ADDRESSES, *PROPOSALS])
def test_long_names_fit_into_the_page(address: str, long_named: OddTeam, come_back: Arrive) -> None:
    person = come_back(long_named.owner)
    assert person.open(long_named.fill_in(address)).status == 200
    assert_it_fits(person)


@pytest.mark.parametrize("address", FORMS)
def test_long_names_fit_into_answers(address: str, long_named: OddTeam, come_back: Arrive) -> None:
    person = come_back(long_named.owner)
    person.open(long_named.fill_in(address))
    person.fill_in(FORMS[address])
    assert_it_fits(person)


def test_long_words_of_an_article_fit_into_the_page(
    app_service: RunningService, acme: Acme, come_back: Arrive
) -> None:
    with odd_article(app_service, ARTICLE) as article_id:
        for path in ("/articles", f"/articles/{article_id}", f"/articles/{article_id}/es"):
            person = come_back(acme.owner)
            assert person.open(path).status == 200
            assert_it_fits(person)


def assert_it_fits(person: Person) -> None:
    unfold(person.page)
    for size in SIZES:
        person.page.set_viewport_size(size)
        assert find_what_is_too_wide(person.page) == []
