"""A service with a team that looks real, and Chromium for each module of tests.

Playwright occupies the thread's event loop: whatever else needs one there (services in this process) is a
fixture that `chromium` asks for, or a process of its own.
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
def console(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """Serve the app as `monitoring dev` does: over plain HTTP."""
    folder = tmp_path_factory.mktemp("console")
    with running_service(
        folder,
        article_teams=TEAM_NAME,
        session_cookie_secure=False,
        rate_limit_sign_in="100000/60",
        locales="es,pt,fr",
    ) as running:
        yield running


@pytest.fixture(scope="session")
def acme(console: RunningService) -> Acme:
    """Everything there is to look at."""
    return form_acme(console)


@pytest.fixture(scope="module")
def chromium(console: RunningService, acme: Acme) -> Iterator[Browser]:
    """One browser for the tests of a module, each of which gets profiles of its own."""
    del console, acme  # they need the thread's event loop: before it is taken
    with running_chromium() as browser:
        yield browser


@pytest.fixture(scope="session")
def outsider(console: RunningService, acme: Acme) -> Member:
    """Owner of a team with nothing in it."""
    del acme  # the first to come

    async def form() -> Member:
        return await join(await create_team("Outside", "free", 10), Role.OWNER)

    return console.run(form())


@pytest.fixture
def arrive(chromium: Browser, console: RunningService) -> Iterator[Arrive]:
    """Let people arrive, each with a browser of their own; whatever their pages did wrong fails the test."""
    people: list[Person] = []

    def arrive_at(who: Member | None = None, base_url: str | None = None, **options: Any) -> Person:
        if who:
            token = console.run(begin_session(who.user, FIREFOX, address=ADDRESS))
            options["storage_state"] = write_storage_state(token)
        people.append(Person(chromium, base_url or console.base_url, **options))
        return people[-1]

    yield arrive_at
    for person in people:
        person.context.close()
    assert [fault for person in people for fault in person.find_fault()] == []
