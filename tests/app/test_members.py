"""Settings, members: who is in the team, invitations, and who may do what."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from app.visitor import PASSWORD, Stranger, Visitor, read_forms, read_text
from cast import form_team
from monitoring.app.sentences import DECLINED, NOTICES, REFUSALS
from monitoring.audit.actors import COMMAND_LINE
from monitoring.members.invitations import invite, list_invitations
from monitoring.members.models import Invitation, Role, User
from monitoring.members.service import list_members

if TYPE_CHECKING:
    import httpx

    from monitoring.auth.models import Team
    from monitoring.contract.catalogue import Catalogue
    from running_service import RunningService

MEMBERS = "/settings/members"
INVITE = "/settings/members/invite"
PAYLOAD = "<img src=x onerror=alert(1)>\"'&{{ 7 * 7 }}"


class TestTheList:
    def test_tells_who_is_in_the_team(self, owner: Visitor, member: Visitor) -> None:
        for visitor in (owner, member):
            text = read_text(visitor.open(MEMBERS).text)
            assert re.search(rf"{owner.email} owner \d+ \w+ 20\d\d, [\d:]+ UTC just now", text)
            assert re.search(rf"{member.email} member \d+ \w+ 20\d\d, [\d:]+ UTC just now", text)

    def test_says_which_one_is_you(self, owner: Visitor, member: Visitor) -> None:
        assert f"(you) {owner.email}" in read_text(owner.open(MEMBERS).text)
        assert f"(you) {member.email}" in read_text(member.open(MEMBERS).text)

    def test_tells_nothing_of_another_team(self, outsider: Visitor, owner: Visitor) -> None:
        assert owner.email not in outsider.open(MEMBERS).text

    def test_offers_members_nothing_to_change(self, owner: Visitor, member: Visitor) -> None:
        owner.submit(INVITE, email="dora@example.com")
        page = member.open(MEMBERS).text
        assert "dora@example.com" not in page
        assert f"{MEMBERS}/" not in page

    def test_shows_what_somebody_calls_themselves_and_runs_none_of_it(
        self, owner: Visitor, member: Visitor, service: RunningService
    ) -> None:
        service.run(_rename(member.user, PAYLOAD))
        path = f"{MEMBERS}/{member.user.id}"
        for page in (
            owner.open(MEMBERS),
            owner.open(path),
            owner.open(f"{path}/remove"),
            owner.open(f"{path}/reset-code"),
            member.open("/settings/account"),
        ):
            assert page.status_code == 200
            assert "<img src=x" not in page.text
            assert "&lt;img src=x" in page.text


class TestAnInvitation:
    def test_lets_somebody_join_with_what_the_page_says(
        self, owner: Visitor, stranger: Stranger, service: RunningService, team: Team
    ) -> None:
        email = f"{uuid4()}@example.com"
        invited = owner.submit(INVITE, email=email.upper(), role="owner")
        assert invited.status_code == 200
        assert f"{service.settings.base_url}/app/join" in invited.text
        accepting = stranger.submit("/join", code=code_on(invited))
        data = read_forms(accepting.text)["/app/join"] | {"name": "Dora", "password": PASSWORD}
        assert stranger.post("/join", data=data).url.path == "/app/monitors"
        joined = next(user for user in service.run(list_members(team.id)) if user.email == email)
        assert (joined.name, joined.role) == ("Dora", Role.OWNER)
        assert email not in read_text(owner.open(MEMBERS).text).partition("Open invitations")[2]

    def test_shows_its_code_once_and_keeps_it_nowhere(self, owner: Visitor, service: RunningService) -> None:
        email = f"{uuid4()}@example.com"
        invited = owner.submit(INVITE, email=email)
        code = code_on(invited)
        assert invited.headers["cache-control"] == "no-store"
        assert code not in str(invited.url)
        pages = read_text(owner.open(MEMBERS).text) + read_text(owner.open("/settings/audit-log").text)
        assert email in pages
        assert code not in pages
        assert code not in str(service.run(_read_invitations()))

    def test_is_listed_until_it_is_withdrawn(
        self, owner: Visitor, service: RunningService, team: Team
    ) -> None:
        owner.submit(INVITE, email="dora@example.com")
        open_ones = read_text(owner.open(MEMBERS).text).partition("Open invitations")[2]
        assert f"dora@example.com member {owner.user.name}" in open_ones
        (invitation,) = service.run(list_invitations(team.id))
        path = f"{MEMBERS}/invitations/{invitation.id}/withdraw"
        assert owner.open(path).status_code == 200
        assert len(service.run(list_invitations(team.id))) == 1
        assert NOTICES["invitation_withdrawn"] in read_text(owner.submit(path).text)
        assert service.run(list_invitations(team.id)) == []
        assert owner.open(path).status_code == 404

    def test_is_replaced_by_a_later_one(
        self, owner: Visitor, stranger: Stranger, service: RunningService, team: Team
    ) -> None:
        first, second = (code_on(owner.submit(INVITE, email="dora@example.com")) for _ in range(2))
        assert len(service.run(list_invitations(team.id))) == 1
        assert REFUSALS["invitation_unknown"] in read_text(stranger.submit("/join", code=first).text)
        assert stranger.submit("/join", code=second).status_code == 200

    @pytest.mark.parametrize(
        ("fields", "refusal"),
        [
            ({"email": ""}, "email_invalid"),
            ({"email": "dora"}, "email_invalid"),
            ({"email": PAYLOAD}, "email_invalid"),
            ({"role": "admin"}, "role_unknown"),
            ({"role": ""}, "role_unknown"),
        ],
    )
    def test_is_refused_in_the_form_which_keeps_what_was_typed(
        self, owner: Visitor, service: RunningService, team: Team, fields: dict[str, str], refusal: str
    ) -> None:
        answer = owner.submit(INVITE, **{"email": "dora@example.com"} | fields)
        assert answer.status_code == 400
        assert REFUSALS[refusal] in read_text(answer.text)
        assert read_forms(answer.text)[f"/app{INVITE}"]["email"] == fields.get("email", "dora@example.com")
        assert service.run(list_invitations(team.id)) == []

    def test_is_not_made_for_who_is_a_member(self, owner: Visitor, member: Visitor) -> None:
        answer = owner.submit(INVITE, email=member.email)
        assert answer.status_code == 400
        assert REFUSALS["already_member"] in read_text(answer.text)

    def test_of_another_team_is_not_there(
        self, outsider: Visitor, owner: Visitor, service: RunningService, team: Team, catalogue: Catalogue
    ) -> None:
        owner.submit(INVITE, email="dora@example.com")
        (invitation,) = service.run(list_invitations(team.id))
        for answer in visit_and_send(outsider, f"{MEMBERS}/invitations/{invitation.id}/withdraw"):
            assert says(answer, catalogue, "not_found")
        assert len(service.run(list_invitations(team.id))) == 1


class TestAMember:
    def test_becomes_an_owner_and_a_member_again(self, owner: Visitor, member: Visitor) -> None:
        path = f"{MEMBERS}/{member.user.id}"
        assert member.open(INVITE).status_code == 403
        assert NOTICES["role_changed"] in read_text(owner.submit(path, role="owner").text)
        assert member.open(INVITE).status_code == 200
        owner.submit(path, role="member")
        assert member.open(INVITE).status_code == 403

    def test_has_one_of_the_roles_there_are(self, owner: Visitor, member: Visitor) -> None:
        answer = owner.submit(f"{MEMBERS}/{member.user.id}", role="admin")
        assert answer.status_code == 400
        assert REFUSALS["role_unknown"] in read_text(answer.text)

    def test_who_is_the_last_owner_stays_one(
        self, owner: Visitor, member: Visitor, service: RunningService, team: Team
    ) -> None:
        for answer in (
            owner.submit(f"{MEMBERS}/{owner.user.id}", role="member"),
            owner.submit(f"{MEMBERS}/{owner.user.id}/remove"),
        ):
            assert answer.status_code == 400
            assert REFUSALS["last_owner"] in read_text(answer.text)
        roles = {user.email: user.role for user in service.run(list_members(team.id))}
        assert roles == {owner.email: Role.OWNER, member.email: Role.MEMBER}

    def test_who_is_removed_is_out_at_once(self, owner: Visitor, member: Visitor) -> None:
        path = f"{MEMBERS}/{member.user.id}/remove"
        assert owner.open(path).status_code == 200
        assert member.open("/monitors").url.path == "/app/monitors"
        assert NOTICES["member_removed"] in read_text(owner.submit(path).text)
        assert member.open("/monitors").url.path == "/app/sign-in"
        assert member.sign_in(member.email, member.password).status_code == 400
        assert member.email not in owner.open(MEMBERS).text

    def test_leaves_keys_behind_and_the_page_counts_them(
        self, owner: Visitor, service: RunningService, team: Team
    ) -> None:
        with Visitor(service, team, "owner") as leaving:
            path = f"{MEMBERS}/{leaving.user.id}/remove"
            assert "They created none of the active API keys." in read_text(owner.open(path).text)
            owner.submit("/settings/api-keys/new", name="Not theirs")
            for name in ("First", "Second"):
                leaving.submit("/settings/api-keys/new", name=name)
            text = read_text(owner.open(path).text)
            assert "2 API keys that they created stay active" in text
            assert "First" in text
            assert "Not theirs" not in text
            owner.submit(path)
            assert "Second" in owner.open("/settings/api-keys").text

    def test_who_forgot_the_password_sets_a_new_one_with_a_code(
        self, owner: Visitor, member: Visitor, stranger: Stranger
    ) -> None:
        path = f"{MEMBERS}/{member.user.id}/reset-code"
        made = owner.submit(path)
        code = code_on(made)
        assert made.headers["cache-control"] == "no-store"
        assert member.open("/monitors").url.path == "/app/monitors"
        accepting = stranger.submit("/join", code=code)
        data = read_forms(accepting.text)["/app/join"] | {"password": "another password of theirs"}
        assert stranger.post("/join", data=data).url.path == "/app/monitors"
        assert member.open("/monitors").url.path == "/app/sign-in"
        assert member.sign_in(member.email, member.password).status_code == 400
        assert member.sign_in(member.email, "another password of theirs").url.path == "/app/monitors"

    def test_of_another_team_is_not_there(
        self, outsider: Visitor, member: Visitor, service: RunningService, catalogue: Catalogue
    ) -> None:
        before = service.run(_read_people(member.team))
        for path in ("", "/remove", "/reset-code"):
            for answer in visit_and_send(outsider, f"{MEMBERS}/{member.user.id}{path}", role="owner"):
                assert says(answer, catalogue, "not_found")
        assert service.run(_read_people(member.team)) == before
        assert member.open("/monitors").url.path == "/app/monitors"

    @pytest.mark.parametrize("user_id", ["x", "01890000-0000-7000-8000-000000000000", "%00"])
    def test_whom_nobody_knows_is_a_404(self, owner: Visitor, user_id: str) -> None:
        assert owner.open(f"{MEMBERS}/{user_id}").status_code == 404

    def test_changes_nobody(
        self, owner: Visitor, member: Visitor, service: RunningService, team: Team
    ) -> None:
        invited = service.run(invite(team.id, "dora@example.com", Role.MEMBER, by=COMMAND_LINE))
        before = service.run(_read_people(team))
        for path in (
            INVITE,
            f"{MEMBERS}/{owner.user.id}",
            f"{MEMBERS}/{member.user.id}",
            f"{MEMBERS}/{owner.user.id}/remove",
            f"{MEMBERS}/{owner.user.id}/reset-code",
            f"{MEMBERS}/invitations/{invited.invitation.id}/withdraw",
        ):
            for answer in visit_and_send(member, path, role="owner", email="mallory@example.com"):
                assert answer.status_code == 403
                assert DECLINED["owners_only"].text in read_text(answer.text)
        assert service.run(_read_people(team)) == before

    def test_can_leave_a_team_that_keeps_an_owner(self, service: RunningService) -> None:
        team = form_team(service)
        with Visitor(service, team) as staying, Visitor(service, team) as leaving:
            left = leaving.submit(f"{MEMBERS}/{leaving.user.id}/remove")
            assert left.url.path == "/app/sign-in"
            assert leaving.email not in staying.open(MEMBERS).text


def visit_and_send(visitor: Visitor, path: str, **fields: str) -> tuple[httpx.Response, httpx.Response]:
    """Open a page, and send its form even if the page did not show it."""
    csrf_token = read_forms(visitor.open(MEMBERS).text)["/app/sign-out"]["csrf_token"]
    return visitor.open(path), visitor.post(path, data=fields | {"csrf_token": csrf_token})


def code_on(page: httpx.Response) -> str:
    found = re.search(r"mon_invite_[A-Za-z0-9_-]{43}", page.text)
    assert found, f"{page.status_code}: {read_text(page.text)}"
    return found[0]


def says(answer: httpx.Response, catalogue: Catalogue, problem: str) -> bool:
    reply = catalogue.respond(problem)
    return answer.status_code == reply.status and reply.body["error"] in read_text(answer.text)


async def _rename(user: User, name: str) -> None:
    await User.filter(id=user.id).update(name=name)


async def _read_invitations() -> list[object]:
    return list(await Invitation.all().values())


async def _read_people(team: Team) -> list[object]:
    users = await User.filter(team_id=team.id).order_by("id").values("id", "role", "password_hash")
    return [*users, *await Invitation.filter(team_id=team.id).order_by("id").values()]
