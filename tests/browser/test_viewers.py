"""What a viewer sees and may do: everything that members see, and nothing that changes it."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING

import pytest

from app.visitor import Visitor, read_forms, read_text
from browser.possessions import fill_in, find_ids, list_addresses, look_at_what_is_stored
from monitoring.app.sentences import DECLINED

if TYPE_CHECKING:
    from collections.abc import Iterator

    import httpx

    from browser.acme.team import Acme
    from running_service import RunningService

pytestmark = pytest.mark.embedded("what a page offers is the same on every backend")

# A person's own sessions and password, in any role.
OWN_FORMS = {
    "/sign-out",
    "/settings/account/name",
    "/settings/account/password",
    "/settings/account/sign-out-everywhere",
    "/settings/account/sessions/{session_id}/end",
}
# The right to these is a code, a password or a link, which no role takes away.
FOR_STRANGERS = {
    "/sign-in",
    "/join",
    "/acknowledge",
    "/confirm-email",
    "/unsubscribe",
    "/forgotten-password",
    "/new-password",
}
# Pages that only members are shown, because all there is to them is a form.
REFUSED = {DECLINED["viewers_only_look"].text, DECLINED["owners_only"].text}


@pytest.fixture(scope="module")
def viewer(app_service: RunningService, acme: Acme) -> Iterator[Visitor]:
    with Visitor(app_service, acme.team, "viewer") as visitor:
        yield visitor


class TestAViewer:
    def test_is_refused_every_form_of_the_team(
        self, viewer: Visitor, acme: Acme, app_service: RunningService
    ) -> None:
        ids = find_ids(acme)
        token = {"csrf_token": read_token(viewer), "understood": "on", "role": "owner"}
        before = app_service.run(look_at_what_is_stored(acme.team.id))
        for path in set(list_addresses("POST")) - OWN_FORMS - FOR_STRANGERS:
            answer = viewer.post(fill_in(path, ids), data=token)
            assert (path, answer.status_code) == (path, 403)
            assert any(sentence in read_text(answer.text) for sentence in REFUSED)
        assert app_service.run(look_at_what_is_stored(acme.team.id)) == before

    def test_finds_no_link_to_a_page_that_refuses_and_no_form_on_those_that_do_not(
        self, viewer: Visitor
    ) -> None:
        seen = set()
        for page in walk(viewer):
            assert (page.url.path, page.status_code) == (page.url.path, 200)
            own = {f"/app{path}" for path in OWN_FORMS}
            offered = {re.sub(r"[0-9a-f-]{36}", "{session_id}", action) for action in read_forms(page.text)}
            assert (page.url.path, offered - own) == (page.url.path, set())
            seen.add(page.url.path)
        assert {"/app/monitors", "/app/incidents", "/app/articles", "/app/settings/notifications"} <= seen

    def test_sees_every_page_of_members_that_is_more_than_a_form(self, viewer: Visitor, acme: Acme) -> None:
        ids = find_ids(acme)
        alone = set(list_addresses("GET")) - set(list_addresses("POST"))
        answers = {path: viewer.open(fill_in(path, ids)) for path in sorted(alone)}
        refused = {path for path, answer in answers.items() if answer.status_code != 200}
        assert refused == {path for path in alone if path.startswith("/settings/audit-log")}

    def test_may_change_their_own_password(self, viewer: Visitor) -> None:
        new = "tractor umbrella limestone"
        answer = viewer.submit(
            "/settings/account/password", current_password=viewer.password, new_password=new
        )
        assert answer.url.path == "/app/settings/account"
        viewer.password = new


def read_token(visitor: Visitor) -> str:
    token = read_forms(visitor.open("/monitors").text)["/app/sign-out"]["csrf_token"]
    assert isinstance(token, str)
    return token


def walk(visitor: Visitor) -> Iterator[httpx.Response]:
    """Follow all links of the app from its first page on, each address without its question once."""
    waiting, seen = ["/app/monitors"], set()
    while waiting:
        address = waiting.pop()
        path = address.partition("?")[0]
        if path in seen:
            continue
        seen.add(path)
        page = visitor.get(address.removeprefix("/app"))
        yield page
        links = map(unescape, re.findall(r'<a [^>]*href="(/app/[^"#]*)', page.text))
        waiting += [link for link in links if link.partition("?")[0] not in seen]
