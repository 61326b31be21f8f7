from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from members.people import ANOTHER_PASSWORD, PASSWORD, acting, count_sessions, join, read_acts, refused
from moments import a_second_ago
from monitoring.audit.actors import COMMAND_LINE
from monitoring.audit.models import AuditEntry
from monitoring.auth.service import create_team
from monitoring.members.invitations import (
    LIFETIME,
    accept_invitation,
    find_invitation,
    invite,
    list_invitations,
    make_reset_code,
    withdraw_invitation,
)
from monitoring.members.models import Invitation, Role, User
from monitoring.members.refusals import Refused
from monitoring.members.service import remove_member
from monitoring.members.sessions import begin_session, find_session
from monitoring.members.sign_in import authenticate

if TYPE_CHECKING:
    from monitoring.auth.models import Team

pytestmark = pytest.mark.anyio

DORA = "dora@example.com"


async def try_to_accept(code: str) -> str:
    """Return the result: who joined, or the name of the refusal."""
    try:
        return (await accept_invitation(code, "Dora", PASSWORD)).email
    except Refused as refusal:
        return refusal.name


async def expire() -> None:
    await Invitation.all().update(expires_at=a_second_ago())


class TestInvitation:
    async def test_is_a_code_of_which_only_the_hash_is_kept(self, acme: Team, alice: User) -> None:
        invited = await invite(acme.id, DORA, Role.MEMBER, by=acting(alice))
        assert invited.code.startswith("mon_invite_")
        assert len(invited.code) == len("mon_invite_") + 43
        [row] = await Invitation.all().values()
        assert invited.code not in str(row)
        assert invited.code not in str(await AuditEntry.all().values())
        assert row["invited_by"] == "alice@example.com"
        assert row["expires_at"] - row["created_at"] == LIFETIME == timedelta(days=7)

    async def test_is_found_with_its_team_by_whoever_copies_spaces_too(self, acme: Team, alice: User) -> None:
        invited = await invite(acme.id, DORA, Role.MEMBER, by=acting(alice))
        found = await find_invitation(f"  {invited.code}\r\n")
        assert found
        assert (found.team, found.user, found.email) == (acme, None, DORA)

    @pytest.mark.parametrize(
        "code", ["", "mon_invite_", "mon_invite_" + "x" * 43, "\x00", "\ud800", "mon_invite_" + "\x00" * 43]
    )
    @pytest.mark.usefixtures("backends")
    async def test_that_nobody_made_is_none(self, code: str) -> None:
        assert await find_invitation(code) is None
        assert await try_to_accept(code) == "invitation_unknown"

    async def test_for_the_same_email_replaces_the_earlier_one(self, acme: Team, alice: User) -> None:
        first = await invite(acme.id, DORA, Role.MEMBER, by=acting(alice))
        second = await invite(acme.id, " DORA@example.com", Role.OWNER, by=acting(alice))
        assert [each.email for each in await list_invitations(acme.id)] == [DORA]
        assert await try_to_accept(first.code) == "invitation_unknown"
        assert await try_to_accept(second.code) == DORA
        assert (await User.get(email=DORA)).role == "owner"

    async def test_is_noted(self, acme: Team, alice: User) -> None:
        before = await read_acts(acme.id)
        await invite(acme.id, DORA, Role.MEMBER, by=acting(alice))
        acts = await read_acts(acme.id)
        assert acts[len(before) :] == [("alice@example.com", "member.invited", "dora@example.com (member)")]

    async def test_of_a_member_is_refused(self, acme: Team, alice: User, bob: User) -> None:
        with refused("already_member"):
            await invite(acme.id, bob.email.upper(), Role.OWNER, by=acting(alice))

    @pytest.mark.parametrize("email", ["", "dora", "do ra@example.com", "dora\x00@example.com"])
    async def test_of_what_is_no_email_is_refused(self, acme: Team, alice: User, email: str) -> None:
        with refused("email_invalid"):
            await invite(acme.id, email, Role.MEMBER, by=acting(alice))

    async def test_to_a_role_that_there_is_not_is_none(self, acme: Team, alice: User) -> None:
        with pytest.raises(ValueError, match="god"):
            await invite(acme.id, DORA, "god", by=acting(alice))

    async def test_of_somebody_elsewhere_does_not_tell(self, acme: Team, alice: User, charlie: User) -> None:
        invited = await invite(acme.id, charlie.email, Role.MEMBER, by=acting(alice))
        assert [each.email for each in await list_invitations(acme.id)] == [charlie.email]
        assert await try_to_accept(invited.code) == "email_taken"
        assert await authenticate(charlie.email, PASSWORD) == charlie


class TestList:
    async def test_has_what_lives_of_the_team_and_no_reset_codes(
        self, acme: Team, alice: User, charlie: User
    ) -> None:
        for email in ("dora@example.com", "emil@example.com"):
            await invite(acme.id, email, Role.MEMBER, by=acting(alice))
        await make_reset_code(acme.id, alice.id, by=acting(alice))
        await invite(charlie.team_id, "fritz@example.com", Role.MEMBER, by=acting(charlie))
        listed = [each.email for each in await list_invitations(acme.id)]
        assert listed == ["emil@example.com", "dora@example.com"]
        await expire()
        assert await list_invitations(acme.id) == []

    async def test_forgets_expired_ones_when_another_is_made(self, acme: Team, alice: User) -> None:
        await invite(acme.id, DORA, Role.MEMBER, by=acting(alice))
        await expire()
        await invite(acme.id, "emil@example.com", Role.MEMBER, by=acting(alice))
        assert await Invitation.all().count() == 1


class TestWithdraw:
    async def test_makes_the_code_worth_nothing(self, acme: Team, alice: User) -> None:
        invited = await invite(acme.id, DORA, Role.MEMBER, by=acting(alice))
        await withdraw_invitation(acme.id, invited.invitation.id, by=acting(alice))
        assert await try_to_accept(invited.code) == "invitation_unknown"
        assert (await read_acts(acme.id))[-1] == ("alice@example.com", "invitation.withdrawn", DORA)

    async def test_does_not_reach_another_team(self, acme: Team, alice: User, charlie: User) -> None:
        invited = await invite(acme.id, DORA, Role.MEMBER, by=acting(alice))
        for unknown in (invited.invitation.id, uuid4()):
            with refused("invitation_unknown"):
                await withdraw_invitation(charlie.team_id, unknown, by=acting(charlie))
        assert await try_to_accept(invited.code) == DORA


class TestJoin:
    async def test_makes_a_member_of_the_team_who_can_sign_in(self, acme: Team, alice: User) -> None:
        invited = await invite(acme.id, "Dora@Example.com", Role.MEMBER, by=acting(alice))
        user = await accept_invitation(invited.code, " Dora ", PASSWORD, address="192.0.2.7")
        assert (user.team, user.email, user.name, user.role) == (acme, DORA, "Dora", "member")
        assert await find_session(await begin_session(user, "Firefox"))
        assert await authenticate("DORA@example.com", PASSWORD) == user
        entry = await AuditEntry.get(action="member.joined", actor=DORA)
        assert (entry.actor_user_id, entry.address, entry.subject) == (
            user.id,
            "192.0.2.7",
            "member",
        )

    async def test_uses_the_code_up(self, acme: Team, alice: User) -> None:
        invited = await invite(acme.id, DORA, Role.MEMBER, by=acting(alice))
        assert await try_to_accept(invited.code) == DORA
        assert await try_to_accept(invited.code) == "invitation_unknown"

    async def test_of_two_at_once_one_wins(self, acme: Team, alice: User) -> None:
        invited = await invite(acme.id, DORA, Role.MEMBER, by=acting(alice))
        results = await asyncio.gather(*(try_to_accept(invited.code) for _ in range(4)))
        assert results.count(DORA) == 1
        # Who looks after the first one has joined learns that the email has an account now.
        assert set(results) <= {DORA, "invitation_unknown", "email_taken"}
        assert await User.filter(email=DORA).count() == 1

    @pytest.mark.usefixtures("backends")
    async def test_of_two_teams_at_once_one_wins(self) -> None:
        teams = [await create_team(name, "free", 10) for name in ("One", "Other", "Third")]
        codes = [(await invite(team.id, DORA, Role.MEMBER, by=COMMAND_LINE)).code for team in teams]
        results = await asyncio.gather(*map(try_to_accept, codes))
        assert sorted(results) == [DORA, "email_taken", "email_taken"]

    async def test_comes_too_late_after_seven_days(self, acme: Team, alice: User) -> None:
        invited = await invite(acme.id, DORA, Role.MEMBER, by=acting(alice))
        await expire()
        assert await find_invitation(invited.code) is None
        assert await try_to_accept(invited.code) == "invitation_unknown"

    @pytest.mark.parametrize(
        ("name", "password", "refusal"),
        [
            ("", PASSWORD, "name_invalid"),
            ("Do\x00ra", PASSWORD, "name_invalid"),
            ("Dora", "short", "password_too_short"),
            ("Dora", "x" * 1025, "password_too_long"),
            ("Dora", DORA, "password_is_email"),
        ],
    )
    async def test_that_is_refused_leaves_the_code_as_good_as_it_was(
        self, acme: Team, alice: User, name: str, password: str, refusal: str
    ) -> None:
        invited = await invite(acme.id, DORA, Role.MEMBER, by=acting(alice))
        with refused(refusal):
            await accept_invitation(invited.code, name, password)
        assert await try_to_accept(invited.code) == DORA


class TestReset:
    async def test_sets_a_new_password_and_ends_all_sessions(
        self, acme: Team, alice: User, bob: User
    ) -> None:
        tokens = [await begin_session(bob, "Firefox"), await begin_session(bob, "Lynx")]
        invited = await make_reset_code(acme.id, bob.id, by=acting(alice))
        assert await authenticate(bob.email, PASSWORD) == bob
        user = await accept_invitation(invited.code, "", ANOTHER_PASSWORD, address="192.0.2.7")
        assert (user, user.team, user.name, user.role) == (bob, acme, "Bob", "member")
        assert [await find_session(token) for token in tokens] == [None, None]
        assert await authenticate(bob.email, PASSWORD) is None
        assert await authenticate(bob.email, ANOTHER_PASSWORD) == bob
        assert await find_session(await begin_session(user, "Firefox"))
        assert await try_to_accept(invited.code) == "invitation_unknown"
        assert [act for act in await read_acts(acme.id) if "reset" in act[1]] == [
            ("alice@example.com", "member.reset_code_made", bob.email),
            (bob.email, "password.reset", bob.email),
        ]

    async def test_of_two_at_once_one_wins(self, acme: Team, alice: User, bob: User) -> None:
        invited = await make_reset_code(acme.id, bob.id, by=acting(alice))
        results = await asyncio.gather(*(try_to_accept(invited.code) for _ in range(3)))
        assert sorted(results) == [bob.email, *["invitation_unknown"] * 2]

    async def test_code_is_replaced_by_a_later_one(self, acme: Team, alice: User, bob: User) -> None:
        first, second = [await make_reset_code(acme.id, bob.id, by=acting(alice)) for _ in range(2)]
        assert await try_to_accept(first.code) == "invitation_unknown"
        assert await try_to_accept(second.code) == bob.email

    async def test_is_not_for_another_team(self, alice: User, charlie: User) -> None:
        with refused("no_such_member"):
            await make_reset_code(charlie.team_id, alice.id, by=acting(charlie))

    async def test_demands_a_password_that_is_long_enough(self, acme: Team, bob: User) -> None:
        await begin_session(bob, "Firefox")
        invited = await make_reset_code(acme.id, bob.id, by=acting(bob))
        with refused("password_too_short"):
            await accept_invitation(invited.code, "", "short")
        assert await count_sessions(bob) == 1
        assert await authenticate(bob.email, PASSWORD) == bob

    async def test_and_a_sign_in_at_once_leave_no_session_of_the_old_password(
        self, acme: Team, alice: User, bob: User
    ) -> None:
        invited = await make_reset_code(acme.id, bob.id, by=acting(alice))
        begun = asyncio.gather(*(begin_session(bob, "Firefox") for _ in range(5)), return_exceptions=True)
        await asyncio.gather(accept_invitation(invited.code, "", ANOTHER_PASSWORD), begun)
        assert await count_sessions(bob) == 0


async def test_who_was_removed_can_be_invited_again(acme: Team, alice: User, bob: User) -> None:
    await remove_member(acme.id, bob.id, by=acting(alice))
    again = await join(acme, bob.email, Role.OWNER)
    assert (again.id != bob.id, again.role) == (True, "owner")
