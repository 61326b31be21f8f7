"""A page that waits for changes is answered when one happens, and nobody else's session is let in."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from monitoring.members.sessions import end_sessions
from monitoring.monitors.service import create_monitor

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Future

    import httpx

    from app.visitor import Visitor
    from running_service import RunningService

MONITOR = {"url": "https://shop.example.com/", "name": "Shop"}


@pytest.fixture
def held(owner: Visitor, service: RunningService) -> Iterator[Future[httpx.Response]]:
    """Send a request for the team's empty list that is held back, and return its answer to come."""
    known = owner.get("/monitors", headers={"Prefer": "wait=20"}).headers["ETag"]
    headers = {"Prefer": "wait=20", "If-None-Match": known}
    with ThreadPoolExecutor() as threads:
        answer = threads.submit(owner.get, "/monitors", headers=headers)
        while not service.app.pages.changes.count_waiting():
            assert not answer.done(), answer.result()
        yield answer


def test_a_page_without_changes_is_not_sent_again(owner: Visitor) -> None:
    known = owner.get("/monitors", headers={"Prefer": "wait=0"}).headers["ETag"]
    answer = owner.get("/monitors", headers={"Prefer": "wait=0", "If-None-Match": known})
    assert (answer.status_code, answer.headers["ETag"], answer.content) == (304, known, b"")


def test_a_page_is_sent_when_something_changes(
    held: Future[httpx.Response], owner: Visitor, service: RunningService
) -> None:
    service.run(create_monitor(owner.team.id, MONITOR))
    assert "https://shop.example.com/" in held.result().text


def test_a_session_that_ended_meanwhile_is_shown_nothing(
    held: Future[httpx.Response], owner: Visitor, service: RunningService
) -> None:
    service.run(end_sessions(owner.user.id))
    service.run(create_monitor(owner.team.id, MONITOR))
    assert held.result().url.path == "/app/sign-in"


def test_another_session_does_not_know_what_this_one_has(owner: Visitor) -> None:
    known = owner.get("/monitors", headers={"Prefer": "wait=20"}).headers["ETag"]
    owner.cookies.clear()
    owner.sign_in(owner.email, owner.password)
    answer = owner.get("/monitors", headers={"Prefer": "wait=20", "If-None-Match": known})
    assert answer.status_code == 200
