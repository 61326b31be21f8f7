"""What other sites, thieves of cookies and other teams try in a real browser without success."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from browser.acme.team import TEAM_NAME
from browser.chromium import COOKIE, write_storage_state
from browser.other_sites import OtherSite, running_other_site
from browser.places import PLACES
from browser.possessions import fill_in, find_ids, has_id, list_addresses, list_pages, look_at_what_is_stored
from monitoring.app.rendering import CONTENT_SECURITY_POLICY, LIVE_POLICY
from monitoring.members.models import Session
from service_process import Installation

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from browser.acme.people import Member
    from browser.acme.team import Acme
    from browser.chromium import Arrive, Person
    from running_service import RunningService


pytestmark = pytest.mark.embedded("a browser sees the same pages on every backend")

ACCOUNT = "/settings/account"

# For whoever has the link of a message, which no other site knows. Without it there is no such page.
FOR_HOLDERS = {"/unsubscribe"}

# Leads to the list whatever it undoes. tests/app/test_monitor_selection.py undoes another team's deletion.
UNDO = "/monitors/deletions/{deletion_id}/undo"

# What our forms ask for before they act.
CONSENT = {"understood": "on", "role": "owner"}


@pytest.fixture
def other_site() -> Iterator[OtherSite]:
    with running_other_site() as site:
        yield site


def sign_in(person: Person, member: Member) -> Person:
    person.sign_in(member.email, member.password)
    return person


def read_csrf_token(person: Person) -> str:
    """Read the token that every form of this browser carries."""
    person.open(ACCOUNT)
    token = person.page.locator("input[name=csrf_token]").first.get_attribute("value")
    assert token
    return token


def is_signed_in(person: Person) -> bool:
    person.open(ACCOUNT)
    return not person.page.url.split("?")[0].endswith("/sign-in")


class TestForgedForms:
    def test_no_form_without_the_session_s_own_token_does_anything(
        self, acme: Acme, app_service: RunningService, arrive: Arrive, outsider: Member
    ) -> None:
        owner = arrive(acme.owner)
        everything = {"email": acme.member.email, "password": acme.member.password, "name": "X", **CONSENT}
        foreign = read_csrf_token(arrive(outsider))
        ids = find_ids(acme)
        before = app_service.run(look_at_what_is_stored(acme.team.id))
        for path in list_addresses("POST"):
            for token in ({}, {"csrf_token": ""}, {"csrf_token": "0" * 64}, {"csrf_token": foreign}):
                answer = owner.send(fill_in(path, ids), everything | token)
                assert (path, answer.status) == (path, 404 if path in FOR_HOLDERS else 403)
        assert app_service.run(look_at_what_is_stored(acme.team.id)) == before

    @pytest.mark.parametrize("where", ["same site", "cross site"])
    def test_a_page_of_another_origin_that_sends_a_form_is_refused(
        self, where: str, acme: Acme, app_service: RunningService, arrive: Arrive, other_site: OtherSite
    ) -> None:
        owner = sign_in(arrive(), acme.owner)
        action = f"{app_service.base_url}/app/settings/api-keys/{acme.keys['deploy']}/revoke"
        # It may even know the token: the browser says where a form comes from, and no page can change that.
        other_site.page = (
            f"<form method=post action='{action}'><input name=csrf_token value='{read_csrf_token(owner)}'>"
            "<input name=understood value=on></form><script>document.forms[0].submit()</script>"
        )
        before = app_service.run(look_at_what_is_stored(acme.team.id))
        with owner.page.expect_response(action) as sent:
            owner.page.goto(other_site.same_site_url if where == "same site" else other_site.cross_site_url)
        assert sent.value.request.method == "POST"
        assert sent.value.request.all_headers()["sec-fetch-site"] == where.replace(" ", "-")
        assert sent.value.status == 403
        assert app_service.run(look_at_what_is_stored(acme.team.id)) == before
        owner.forgive()
        assert is_signed_in(owner), "the answer has put another cookie in place of theirs"

    def test_a_page_of_another_origin_reads_nothing(
        self, acme: Acme, app_service: RunningService, arrive: Arrive, other_site: OtherSite
    ) -> None:
        owner = sign_in(arrive(), acme.owner)
        other_site.page = "<p>Come in"
        owner.page.goto(other_site.same_site_url)
        read = owner.page.evaluate(
            "address => fetch(address, {credentials: 'include'})"
            ".then(answer => answer.text(), () => 'refused')",
            f"{app_service.base_url}/app/settings/members",
        )
        assert read == "refused"
        owner.forgive()

    @pytest.mark.parametrize("where", ["same site", "cross site"])
    def test_no_other_origin_frames_a_page(
        self, where: str, acme: Acme, app_service: RunningService, arrive: Arrive, other_site: OtherSite
    ) -> None:
        owner = sign_in(arrive(), acme.owner)
        other_site.page = f"<iframe src='{app_service.base_url}/app/monitors'></iframe>"
        with owner.page.expect_console_message(lambda message: "frame-ancestors" in message.text):
            owner.page.goto(other_site.same_site_url if where == "same site" else other_site.cross_site_url)
        assert all(frame.url != f"{app_service.base_url}/app/monitors" for frame in owner.page.frames)
        owner.forgive()


class TestCookies:
    def test_no_script_can_read_a_cookie_but_its_own(self, acme: Acme, arrive: Arrive) -> None:
        owner = sign_in(arrive(), acme.owner)
        assert owner.page.evaluate("document.cookie") == "zone=UTC"
        assert owner.page.evaluate("[localStorage.length, sessionStorage.length]") == [0, 0]
        assert owner.cookies().keys() == {COOKIE, "browser", "email"}
        for cookie in owner.cookies().values():
            assert (cookie["httpOnly"], cookie["sameSite"], cookie["path"]) == (True, "Lax", "/")

    def test_unless_an_operator_says_otherwise_the_cookie_is_for_https_and_this_host_alone(
        self, tmp_path: Path, arrive: Arrive
    ) -> None:
        installation = Installation(tmp_path)
        installation.make_tables()
        with installation.serve() as serving:
            # Browsers trust their own machine like HTTPS.
            person = arrive(base_url=serving.base_url)
            person.open("/sign-in")
            [cookie] = person.cookies().values()
        assert (cookie["name"], cookie["secure"], cookie["httpOnly"]) == ("__Host-session", True, True)

    def test_a_cookie_planted_before_signing_in_is_worth_nothing_afterwards(
        self, acme: Acme, arrive: Arrive
    ) -> None:
        planted = "A" * 43
        victim, thief = (arrive(storage_state=write_storage_state(planted)) for _ in range(2))
        sign_in(victim, acme.owner)
        assert victim.cookies()[COOKIE]["value"] != planted
        assert is_signed_in(victim)
        assert not is_signed_in(thief)

    def test_signing_out_ends_the_session_and_leaves_nothing_to_go_back_to(
        self, acme: Acme, arrive: Arrive
    ) -> None:
        owner = sign_in(arrive(), acme.owner)
        stolen = owner.cookies()[COOKIE]["value"]
        thief = arrive(storage_state=write_storage_state(stolen))
        assert is_signed_in(thief)
        owner.open("/settings/members")
        owner.press("Sign out")
        owner.page.get_by_role("heading", name="Sign in").wait_for()
        owner.page.go_back()
        assert "/sign-in" in owner.page.url
        assert not is_signed_in(thief)

    def test_signing_out_everywhere_signs_out_the_other_browser(
        self, outsider: Member, arrive: Arrive
    ) -> None:
        here, there = sign_in(arrive(), outsider), sign_in(arrive(), outsider)
        here.open(ACCOUNT)
        here.press("Sign out everywhere")
        here.page.get_by_role("heading", name="Sign in").wait_for()
        assert not is_signed_in(there)
        assert not is_signed_in(here)

    def test_tokens_are_stored_as_hashes_only(
        self, app_service: RunningService, outsider: Member, arrive: Arrive
    ) -> None:
        person = sign_in(arrive(), outsider)
        token = person.cookies()[COOKIE]["value"]

        async def read_rows() -> list[Any]:
            return await Session.filter(user_id=outsider.user.id).values()

        rows = app_service.run(read_rows())
        assert rows
        assert token not in str(rows)

    @pytest.mark.parametrize(
        "target",
        ["//evil.example", "https://evil.example/", "/\\evil.example", "javascript:alert(1)", "/%2F/evil"],
    )
    def test_signing_in_never_leads_to_another_site(
        self, target: str, outsider: Member, arrive: Arrive, app_service: RunningService
    ) -> None:
        person = arrive()
        person.page.goto(f"{app_service.base_url}/app/sign-in?next={target}")
        person.page.get_by_label("Email").fill(outsider.email)
        person.page.get_by_label("Password").fill(outsider.password)
        person.press("Sign in")
        person.page.get_by_role("navigation", name="Main").wait_for()
        assert person.page.url.startswith(f"{app_service.base_url}/app/")


class TestOtherTeams:
    def test_no_page_about_another_team_s_thing_is_there(
        self, acme: Acme, outsider: Member, arrive: Arrive
    ) -> None:
        person, ids = arrive(outsider), find_ids(acme)
        for path in filter(has_id, list_addresses("GET")):
            answer = person.ask(fill_in(path, ids))
            assert (path, answer.status) == (path, 404)
            assert TEAM_NAME not in answer.text()

    def test_no_form_about_another_team_s_thing_changes_anything(
        self, acme: Acme, app_service: RunningService, outsider: Member, arrive: Arrive
    ) -> None:
        person, ids = arrive(outsider), find_ids(acme)
        form = {"csrf_token": read_csrf_token(person), **CONSENT}
        before = app_service.run(look_at_what_is_stored(acme.team.id))
        for path in filter(has_id, set(list_addresses("POST")) - {UNDO}):
            answer = person.send(fill_in(path, ids), form)
            assert (path, answer.status) == (path, 404)
        assert app_service.run(look_at_what_is_stored(acme.team.id)) == before


def test_strangers_are_asked_to_sign_in_wherever_they_go(
    acme: Acme, app_service: RunningService, arrive: Arrive
) -> None:
    stranger, ids = arrive(), find_ids(acme)
    open_to_all = {place.path.partition("?")[0] for place in PLACES.values() if place.who == "stranger"}
    for path in set(list_addresses("GET")) - open_to_all:
        answer = stranger.ask(fill_in(path, ids))
        assert answer.url.startswith(f"{app_service.base_url}/app/sign-in")
        assert TEAM_NAME not in answer.text()


def test_every_page_comes_with_the_strict_policy(acme: Acme, arrive: Arrive) -> None:
    owner, ids = arrive(acme.owner), find_ids(acme)
    for path in list_pages():
        headers = owner.ask(fill_in(path, ids)).headers
        assert headers["content-security-policy"] in (CONTENT_SECURITY_POLICY, LIVE_POLICY)
        assert headers["cache-control"] == "no-store"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["referrer-policy"] == "same-origin"
    assert "unsafe" not in CONTENT_SECURITY_POLICY
    assert f"{CONTENT_SECURITY_POLICY}; connect-src 'self'" == LIVE_POLICY
