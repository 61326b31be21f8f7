"""Signing in: every failure gets the same answer, and every success a new session."""

from __future__ import annotations

from base64 import b85encode
from typing import TYPE_CHECKING
from uuid import uuid4
from zlib import compress

import pytest

from app.visitor import PASSWORD, Stranger, Visitor, read_forms, read_text
from cast import form_team
from monitoring.app.sentences import NOTICES, REFUSALS
from monitoring.app.sign_in import pages as sign_in
from monitoring.audit.actors import COMMAND_LINE
from monitoring.members import passwords
from monitoring.members.invitations import invite
from monitoring.members.models import Role
from monitoring.members.service import remove_member
from monitoring.members.sign_in import authenticate
from running_service import running_service

if TYPE_CHECKING:
    from pathlib import Path

    from monitoring.contract.catalogue import Catalogue
    from monitoring.members.models import User
    from running_service import RunningService


class TestSigningIn:
    def test_opens_the_monitors_of_the_team(self, owner: Visitor) -> None:
        opened = owner.open("/monitors")
        assert opened.url.path == "/app/monitors"
        assert owner.team.name in read_text(opened.text)

    def test_takes_the_email_in_any_case(self, owner: Visitor, stranger: Stranger) -> None:
        assert stranger.sign_in(f" {owner.email.upper()} ", PASSWORD).url.path == "/app/monitors"

    def test_says_the_same_to_an_unknown_email_and_a_wrong_password(
        self, owner: Visitor, stranger: Stranger
    ) -> None:
        answers = [stranger.sign_in(owner.email, "wrong"), stranger.sign_in("nobody@example.com", PASSWORD)]
        assert [answer.status_code for answer in answers] == [400, 400]
        texts = [read_text(answer.text) for answer in answers]
        assert REFUSALS["sign_in_refused"] in texts[0]
        assert texts[0] == texts[1]

    def test_that_is_refused_is_a_page_to_come_back_to_for_this_browser_alone(
        self, service: RunningService, stranger: Stranger
    ) -> None:
        refused = stranger.sign_in("alice@example.com", "a wrong password")
        assert [answer.status_code for answer in refused.history] == [303]
        again = stranger.get(refused.url)
        assert (again.status_code, again.text) == (400, refused.text)
        kept, answer_id = stranger.cookies["answer"].strip('"'), refused.url.params["answer"]
        with Stranger(service) as other:
            token = read_forms(other.open("/sign-in").text)["/app/sign-in"]["csrf_token"]
            planted = b85encode(compress(b"planted")).decode()
            for cookie in (kept, kept[:-9], f"{token} {answer_id} 200 {planted}"):
                other.cookies.set("answer", f'"{cookie}"')
                shown = other.get(refused.url)
                assert (shown.status_code, "alice@example.com" in shown.text) == (200, False)
                assert REFUSALS["sign_in_refused"] not in shown.text
                assert "Sign in" in shown.text

    @pytest.mark.parametrize(
        ("email", "password"),
        [
            ("", ""),
            ("a\0b@example.com", PASSWORD),
            ("x@example.com", "p" * 100_000),
            ("e" * 100_000, PASSWORD),
        ],
        ids=["nothing", "U+0000", "a password without end", "an email without end"],
    )
    def test_refuses_what_no_browser_sends(self, stranger: Stranger, email: str, password: str) -> None:
        assert stranger.sign_in(email, password).status_code == 400

    def test_tells_what_is_empty_and_counts_no_attempt(self, tmp_path: Path) -> None:
        with (
            running_service(tmp_path, rate_limit_sign_in_address="1/60") as service,
            Stranger(service) as stranger,
        ):
            empty = read_text(stranger.sign_in("", "").text)
            assert REFUSALS["email_empty"] in empty
            assert REFUSALS["password_empty"] in empty
            assert REFUSALS["password_empty"] in read_text(stranger.sign_in("alice@example.com", "").text)
            assert REFUSALS["sign_in_refused"] in read_text(stranger.sign_in("alice@example.com", "x").text)

    def test_goes_on_where_the_stranger_wanted_to(self, owner: Visitor, stranger: Stranger) -> None:
        asked = stranger.open("/settings/api-keys")
        assert asked.url.path == "/app/sign-in"
        form = {"email": owner.email, "password": PASSWORD}
        went_on = stranger.submit(f"/sign-in?{asked.url.query.decode()}", action="/sign-in", **form)
        assert went_on.url.path == "/app/settings/api-keys"

    @pytest.mark.parametrize(
        "target", ["https://evil.example/", "//evil.example", "/\\evil.example", "/a\r\nb"]
    )
    def test_never_goes_on_anywhere_else(self, owner: Visitor, stranger: Stranger, target: str) -> None:
        went_on = stranger.submit("/sign-in", email=owner.email, password=PASSWORD, next=target)
        assert str(went_on.url).startswith(f"{stranger.base_url}monitors")

    def test_is_put_off_while_too_many_sign_in_unless_the_browser_is_known(
        self, owner: Visitor, stranger: Stranger, catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(passwords, "PLACES_OF_STRANGERS", 0)
        busy = catalogue.respond("service_unavailable")
        answer = stranger.sign_in(owner.email, PASSWORD)
        assert (answer.status_code, answer.headers["retry-after"]) == (503, busy.headers["Retry-After"])
        assert busy.body["error"] in read_text(answer.text)
        owner.submit("/monitors", action="/sign-out")
        assert owner.sign_in(owner.email, PASSWORD).url.path == "/app/monitors"

    def test_is_refused_to_who_was_removed_meanwhile(
        self, service: RunningService, member: Visitor, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async def authenticate_and_remove(email: str, password: str, **known: bool) -> User | None:
            user = await authenticate(email, password, **known)
            assert user
            await remove_member(user.team_id, user.id, by=COMMAND_LINE)
            return user

        monkeypatch.setattr(sign_in, "authenticate", authenticate_and_remove)
        with Stranger(service) as stranger:
            answer = stranger.sign_in(member.email, PASSWORD)
        assert answer.status_code == 400
        assert REFUSALS["sign_in_refused"] in read_text(answer.text)


class TestTheSession:
    def test_has_a_token_that_the_browser_did_not_have_before(
        self, owner: Visitor, stranger: Stranger
    ) -> None:
        stranger.open("/sign-in")
        before = stranger.cookies["session"]
        stranger.sign_in(owner.email, PASSWORD)
        assert stranger.cookies["session"] != before

    def test_is_not_opened_by_a_token_that_was_planted_before(
        self, owner: Visitor, service: RunningService
    ) -> None:
        with Stranger(service) as victim, Stranger(service) as mallory:
            mallory.open("/sign-in")
            victim.cookies.set("session", mallory.cookies["session"])
            victim.sign_in(owner.email, PASSWORD)
            assert mallory.open("/monitors").url.path == "/app/sign-in"

    def test_ends_when_its_owner_signs_out_whoever_has_the_token(
        self, owner: Visitor, stranger: Stranger
    ) -> None:
        stranger.cookies.set("session", owner.cookies["session"])
        assert stranger.open("/monitors").url.path == "/app/monitors"
        signed_out = owner.submit("/monitors", action="/sign-out")
        assert NOTICES["signed_out"] in read_text(signed_out.text)
        assert stranger.open("/monitors").url.path == "/app/sign-in"

    def test_is_not_opened_by_a_token_nobody_gave(self, stranger: Stranger) -> None:
        stranger.cookies.set("session", "A" * 43)
        assert stranger.open("/monitors").url.path == "/app/sign-in"

    def test_has_a_cookie_that_scripts_and_other_sites_do_not_get(self, stranger: Stranger) -> None:
        cookie = stranger.open("/sign-in").headers["set-cookie"].lower()
        assert {"httponly", "samesite=lax", "path=/"} <= {part.strip() for part in cookie.split(";")}
        assert "domain" not in cookie

    def test_has_a_cookie_for_https_only_unless_it_is_told_otherwise(self, tmp_path: Path) -> None:
        with running_service(tmp_path, session_cookie_secure=True) as service, Stranger(service) as stranger:
            cookie = stranger.open("/sign-in").headers["set-cookie"]
            assert cookie.startswith("__Host-session=")
            assert "secure" in cookie.lower()


class TestJoining:
    def test_is_limited_however_good_the_code_is(self, tmp_path: Path) -> None:
        with running_service(tmp_path, rate_limit_sign_in="3/60") as service, Stranger(service) as stranger:
            invited = service.run(invite(form_team(service).id, "a@example.com", Role.OWNER, by=COMMAND_LINE))
            tries = [stranger.submit("/join", code=invited.code) for _ in range(5)]
            assert {answer.status_code for answer in tries} == {200}
            fields = {"code": invited.code, "name": "Ada", "password": "short"}
            token = read_forms(tries[0].text)["/app/join"]["csrf_token"]
            answers = [stranger.post("/join", data={**fields, "csrf_token": token}) for _ in range(4)]
            assert [answer.status_code for answer in answers] == [400, 400, 400, 429]

    def test_asks_for_a_code_and_never_takes_one_from_the_address(self, stranger: Stranger) -> None:
        assert REFUSALS["invitation_unknown"] in read_text(stranger.submit("/join", code="mon_invite_x").text)
        assert "mon_invite_x" not in stranger.open("/join?code=mon_invite_x").text.replace("mon_invite_ ", "")

    def test_a_wrong_try_keeps_what_was_typed_but_the_password(
        self, service: RunningService, stranger: Stranger
    ) -> None:
        team, email = form_team(service), f"{uuid4()}@example.com"
        invited = service.run(invite(team.id, email, "owner", by=COMMAND_LINE))
        opened = stranger.submit("/join", code=invited.code)
        assert f"Join {team.name}" in read_text(opened.text)
        assert f'value="{email}"' in opened.text
        refused = stranger.submit("/join", code=invited.code, name="Alice <b>", password="short")
        assert refused.status_code == 400
        assert REFUSALS["password_too_short"] in read_text(refused.text)
        assert 'value="Alice &lt;b&gt;"' in refused.text
        assert "short" not in refused.text.replace(REFUSALS["password_too_short"], "")
        common = stranger.submit("/join", code=invited.code, name="Alice", password="password1234")
        assert REFUSALS["password_too_common"] in read_text(common.text)
