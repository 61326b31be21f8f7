"""A service with a team that looks real, and Chromium for each module of tests.

Playwright occupies the thread's event loop. Whatever else needs one there (services in this process) is a
fixture that `chromium` asks for, or a separate process.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from browser.acme.people import ADDRESS, FIREFOX, join
from browser.acme.team import TEAM_NAME, form_acme
from browser.chromium import Person, running_chromium, write_storage_state
from monitoring.auth.service import create_team
from monitoring.members.models import Role
from monitoring.members.sessions import begin_session
from running_service import RunningService, running_service

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

    from browser.acme.people import Member
    from browser.acme.team import Acme
    from browser.chromium import Arrive


@pytest.fixture(scope="session")
def app_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """Serve the app as `monitoring dev` does: over plain HTTP."""
    folder = tmp_path_factory.mktemp("app_service")
    with running_service(
        folder,
        article_teams=TEAM_NAME,
        session_cookie_secure=False,
        locales="es,pt,fr",
    ) as running:
        yield running


@pytest.fixture(scope="session")
def acme(app_service: RunningService) -> Acme:
    """Make a team with something to see on every page."""
    return form_acme(app_service)


@pytest.fixture(scope="module")
def chromium(app_service: RunningService, acme: Acme) -> Iterator[Browser]:
    """Run one browser for a module's tests. Each test gets its own profiles."""
    del app_service, acme  # they need the thread's event loop before the browser takes it
    with running_chromium() as browser:
        yield browser


@pytest.fixture(scope="session")
def outsider(app_service: RunningService, acme: Acme) -> Member:
    """Make the owner of an empty team."""
    del acme  # must be made first

    async def form() -> Member:
        return await join(await create_team("Outside", "free", 10), Role.OWNER)

    return app_service.run(form())


@pytest.fixture(scope="module")
def open_browser(chromium: Browser, app_service: RunningService) -> Arrive:
    """Open a browser, which whoever asked for it closes."""

    def open_for(who: Member | None = None, base_url: str | None = None, **options: Any) -> Person:
        if who:
            token = app_service.run(begin_session(who.user, FIREFOX, address=ADDRESS))
            options["storage_state"] = write_storage_state(token)
        return Person(chromium, base_url or app_service.base_url, **options)

    return open_for


@pytest.fixture
def arrive(open_browser: Arrive) -> Iterator[Arrive]:
    """Open a browser for each person. Any fault of their pages fails the test."""
    people: list[Person] = []

    def arrive_at(who: Member | None = None, base_url: str | None = None, **options: Any) -> Person:
        people.append(open_browser(who, base_url, **options))
        return people[-1]

    yield arrive_at
    for person in people:
        person.context.close()
    assert [fault for person in people for fault in person.find_fault()] == []


@pytest.fixture(scope="module")
def regulars() -> Iterator[dict[str, Person]]:
    """Keep the browsers of those who come back, by their email and the options."""
    people: dict[str, Person] = {}
    yield people
    for person in people.values():
        person.context.close()


@pytest.fixture
def come_back(open_browser: Arrive, regulars: dict[str, Person]) -> Iterator[Arrive]:
    """Give each person the browser from the module's earlier tests. Any fault of a page fails the test.

    A new browser takes 0.2 s of CPU. This is for tests that look at pages, and change nothing in the browser
    but its size and its colours.
    """
    for person in regulars.values():
        person.asked.clear()
        person.complaints.clear()

    def come_back_as(who: Member | None = None, base_url: str | None = None, **options: Any) -> Person:
        known_by = repr((who and who.email, base_url, options))
        if known_by not in regulars:
            regulars[known_by] = open_browser(who, base_url, **options)
        regulars[known_by].begin_anew()
        return regulars[known_by]

    yield come_back_as
    assert [fault for person in regulars.values() for fault in person.find_fault()] == []
