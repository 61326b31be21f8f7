"""Settings, your account: who you are, your password, and the browsers you are signed in with."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from app.visitor import Stranger, Visitor, read_forms, read_text
from cast import form_team
from monitoring.app.account.pages import describe_browser
from monitoring.app.sentences import NOTICES, REFUSALS
from monitoring.members.sessions import list_sessions
from running_service import running_service

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from monitoring.contract.catalogue import Catalogue
    from running_service import RunningService

ACCOUNT = "/settings/account"
NAME_FORM = "/settings/account/name"
PASSWORD_FORM = "/settings/account/password"
SIGN_OUT = "/settings/account/sign-out-everywhere"
NEW_PASSWORD = "tractor umbrella limestone"
WEBKIT = "AppleWebKit/605.1.15 (KHTML, like Gecko)"
BLINK = "AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"


@contextmanager
def another_browser(
    service: RunningService, visitor: Visitor, user_agent: str = FIREFOX
) -> Iterator[Stranger]:
    with Stranger(service) as browser:
        browser.headers["User-Agent"] = user_agent
        browser.sign_in(visitor.email, visitor.password)
        yield browser


def is_signed_in(browser: Stranger) -> bool:
    return browser.open("/monitors").url.path == "/app/monitors"


class TestYourAccount:
    def test_says_who_you_are(self, owner: Visitor, member: Visitor) -> None:
        for visitor, role in ((owner, "owner"), (member, "member")):
            text = read_text(visitor.open(ACCOUNT).text)
            assert (
                f"Name Alice Change your name Email {visitor.email} Team {visitor.team.name} Role {role}"
                in text
            )

    def test_lists_the_browsers_you_are_signed_in_with(
        self, owner: Visitor, member: Visitor, service: RunningService
    ) -> None:
        with another_browser(service, owner) as browser, another_browser(service, member, "curl/8.5.0"):
            text = read_text(browser.open(ACCOUNT).text)
            assert text.count("Firefox on Linux") == 1
            assert "Firefox on Linux this one" in text
            assert text.count("Another browser 127.0.0.1") == 1

    def test_runs_nothing_a_browser_calls_itself(self, owner: Visitor, service: RunningService) -> None:
        with another_browser(service, owner, "<script>alert(1)</script>Firefox/1"):
            page = owner.open(ACCOUNT).text
            assert "Firefox" in page
            assert "<script>" not in page


class TestOneSession:
    def test_is_ended_alone(self, owner: Visitor, service: RunningService) -> None:
        with another_browser(service, owner) as lost, another_browser(service, owner) as kept:
            action = find_end_of(owner, "Firefox on Linux")
            assert NOTICES["other_session_ended"] in read_text(owner.submit(ACCOUNT, action).text)
            assert [is_signed_in(browser) for browser in (owner, lost, kept)].count(True) == 2
            assert is_signed_in(owner)

    def test_of_somebody_else_is_not_there(
        self, owner: Visitor, member: Visitor, service: RunningService
    ) -> None:
        with another_browser(service, owner) as browser, another_browser(service, member):
            action = find_end_of(owner, "Firefox on Linux")
            own = find_end_of(member, "Firefox on Linux")
            form = read_forms(member.open(ACCOUNT).text)[f"/app{own}"]
            assert member.post(action, data=form).status_code == 404
            assert is_signed_in(browser)

    def test_that_this_browser_has_is_offered_no_such_end(self, owner: Visitor) -> None:
        assert not re.search("/sessions/", owner.open(ACCOUNT).text)


def find_end_of(visitor: Visitor, browser: str) -> str:
    """Return the path of the button that ends the newest session with a browser."""
    rows = re.findall(r"<tr>.*?</tr>", visitor.open(ACCOUNT).text, re.DOTALL)
    ends = [re.findall(r'action="/app([^"]*/end)"', row) for row in rows if browser in row]
    path: str = next(end for (end,) in ends)
    return path


class TestAnotherName:
    def test_is_the_one_that_the_team_sees(self, owner: Visitor, member: Visitor) -> None:
        changed = owner.submit(NAME_FORM, name=" Grace Hopper ")
        assert NOTICES["name_changed"] in read_text(changed.text)
        assert "Grace Hopper" in read_text(member.open("/settings/members").text)
        log = read_text(owner.open("/settings/audit-log").text)
        assert f"Name: {owner.user.name} → became Grace Hopper" in log

    @pytest.mark.parametrize("name", ["", " ", "\u200b", "x" * 101])
    def test_that_nobody_could_read_is_refused_and_kept(self, owner: Visitor, name: str) -> None:
        refused = owner.submit(NAME_FORM, name=name)
        assert refused.status_code == 400
        assert REFUSALS["name_invalid"] in read_text(refused.text)
        assert owner.user.name in read_text(owner.open(ACCOUNT).text)


class TestAnotherPassword:
    def test_is_the_one_to_sign_in_with(self, owner: Visitor, stranger: Stranger) -> None:
        changed = owner.submit(PASSWORD_FORM, current_password=owner.password, new_password=NEW_PASSWORD)
        assert NOTICES["password_changed"] in read_text(changed.text)
        assert stranger.sign_in(owner.email, owner.password).status_code == 400
        stranger.sign_in(owner.email, NEW_PASSWORD)
        assert is_signed_in(stranger)

    def test_signs_out_every_browser_but_this_one(self, owner: Visitor, service: RunningService) -> None:
        with another_browser(service, owner) as browser:
            assert is_signed_in(browser)
            owner.submit(PASSWORD_FORM, current_password=owner.password, new_password=NEW_PASSWORD)
            assert not is_signed_in(browser)
            assert is_signed_in(owner)

    @pytest.mark.parametrize(
        ("current", "new", "refusal"),
        [
            ("not the password", NEW_PASSWORD, "wrong_password"),
            ("", NEW_PASSWORD, "wrong_password"),
            (None, "too short", "password_too_short"),
            (None, "", "password_too_short"),
            (None, "x" * 1025, "password_too_long"),
            (None, "EMAIL", "password_is_email"),
            (None, "password1234", "password_too_common"),
        ],
    )
    def test_is_refused_in_the_form_which_shows_no_password(
        self, owner: Visitor, stranger: Stranger, current: str | None, new: str, refusal: str
    ) -> None:
        current = owner.password if current is None else current
        new = owner.email if new == "EMAIL" else new
        answer = owner.submit(PASSWORD_FORM, current_password=current, new_password=new)
        assert answer.status_code == 400
        assert REFUSALS[refusal] in read_text(answer.text)
        form = read_forms(answer.text)[f"/app{PASSWORD_FORM}"]
        assert (form["current_password"], form["new_password"]) == ("", "")
        stranger.sign_in(owner.email, owner.password)
        assert is_signed_in(stranger)

    def test_cannot_be_guessed_from_an_open_browser(self, tmp_path: Path, catalogue: Catalogue) -> None:
        with (
            running_service(tmp_path, rate_limit_sign_in="3/300") as service,
            Visitor(service, form_team(service)) as owner,
        ):
            form = read_forms(owner.open(PASSWORD_FORM).text)[f"/app{PASSWORD_FORM}"]
            wrong = form | {"current_password": "a wrong guess", "new_password": NEW_PASSWORD}
            right = wrong | {"current_password": owner.password}
            statuses = [
                owner.post(PASSWORD_FORM, data=fields).status_code for fields in (wrong, wrong, wrong, right)
            ]
            assert statuses == [
                400,
                400,
                400,
                catalogue.respond("rate_limited", values={"retry_after_seconds": 1}).status,
            ]


class TestSigningOutEverywhere:
    def test_ends_every_session(self, owner: Visitor, member: Visitor, service: RunningService) -> None:
        with another_browser(service, owner) as browser:
            left = owner.submit(ACCOUNT, action=SIGN_OUT)
            assert left.url.path == "/app/sign-in"
            assert NOTICES["signed_out_everywhere"] in read_text(left.text)
            assert not is_signed_in(browser)
            assert not is_signed_in(owner)
        assert service.run(list_sessions(owner.user.id)) == []
        assert is_signed_in(member)

    def test_is_done_by_sending_a_form_and_not_by_looking(self, owner: Visitor) -> None:
        assert owner.open(SIGN_OUT).status_code == 405
        assert is_signed_in(owner)

    def test_is_in_the_audit_log_once(self, owner: Visitor) -> None:
        owner.submit(ACCOUNT, action=SIGN_OUT)
        owner.sign_in(owner.email, owner.password)
        log = read_text(owner.open("/settings/audit-log").text)
        assert log.count(f"{owner.email} signed out everywhere 127.0.0.1") == 1


class TestBrowsers:
    @pytest.mark.parametrize(
        ("system", "names", "words"),
        [
            ("X11; Linux x86_64; rv:145.0", "Gecko/20100101 Firefox/145.0", "Firefox on Linux"),
            ("Windows NT 10.0; Win64; x64", f"{BLINK} Safari/537.36", "Chrome on Windows"),
            ("Windows NT 10.0; Win64; x64", f"{BLINK} Safari/537.36 Edg/142.0.0.0", "Edge on Windows"),
            ("Windows NT 10.0; Win64; x64", f"{BLINK} Safari/537.36 OPR/124.0.0.0", "Opera on Windows"),
            ("X11; CrOS x86_64 14541.0.0", f"{BLINK} Safari/537.36", "Chrome on ChromeOS"),
            ("Linux; Android 10; K", f"{BLINK} Mobile Safari/537.36", "Chrome on Android"),
            ("Linux; Android 10; K", f"SamsungBrowser/28.0 {BLINK}", "Samsung Internet on Android"),
            ("Macintosh; Intel Mac OS X 10_15_7", f"{WEBKIT} Version/26.0 Safari/605", "Safari on macOS"),
            ("iPhone; CPU iPhone OS 18_6 like Mac OS X", f"{WEBKIT} CriOS/142.0", "Chrome on iPhone"),
            ("iPad; CPU OS 18_6 like Mac OS X", f"{WEBKIT} FxiOS/145.0 Safari/605", "Firefox on iPad"),
            ("compatible", "Something/1.0", "Another browser"),
        ],
    )
    def test_are_told_by_name(self, system: str, names: str, words: str) -> None:
        assert describe_browser(f"Mozilla/5.0 ({system}) {names}") == words

    @pytest.mark.parametrize("user_agent", ["curl/8.5.0", ""])
    def test_may_be_none_we_know(self, user_agent: str) -> None:
        assert describe_browser(user_agent) == "Another browser"
