from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from members.people import (
    ANOTHER_PASSWORD,
    PASSWORD,
    acting,
    join,
    read_acts,
    read_roles,
    refused,
)
from monitoring.auth.service import create_key, list_keys
from monitoring.members.invitations import accept_invitation, find_invitation, invite, make_reset_code
from monitoring.members.models import Invitation, Role, Session, User
from monitoring.members.refusals import Refused
from monitoring.members.service import (
    change_password,
    change_role,
    find_user,
    get_member,
    list_members,
    remove_member,
)
from monitoring.members.sessions import begin_session, find_session, list_sessions
from monitoring.members.sign_in import authenticate

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from monitoring.auth.models import Team

pytestmark = pytest.mark.anyio

ALICE, BOB = "alice@example.com", "bob@example.com"


async def name_refusals(*acts: Awaitable[None]) -> list[str]:
    """Do these things at the same time and return the names of the refusals."""
    results = await asyncio.gather(*acts, return_exceptions=True)
    assert all(result is None or isinstance(result, Refused) for result in results), results
    return sorted(result.name for result in results if isinstance(result, Refused))


class TestMembers:
    async def test_are_those_of_the_team_in_the_order_they_came(
        self, acme: Team, alice: User, bob: User, charlie: User
    ) -> None:
        members = await list_members(acme.id)
        assert members == [alice, bob]
        assert [member.team for member in members] == [acme, acme]
        assert await list_members() == [alice, bob, charlie]

    async def test_of_another_team_are_no_members(self, acme: Team, alice: User, charlie: User) -> None:
        assert await get_member(acme.id, alice.id) == alice
        for user_id in (charlie.id, uuid4()):
            with refused("no_such_member"):
                await get_member(acme.id, user_id)

    async def test_are_found_by_email_whatever_its_case(self, alice: User) -> None:
        assert await find_user("ALICE@example.com ") == alice
        assert await find_user("nobody@example.com") is None
        with refused("email_invalid"):
            await find_user("alice")


class TestRole:
    async def test_is_changed_and_noted_once(self, acme: Team, alice: User, bob: User) -> None:
        before = await read_acts(acme.id)
        for _ in range(2):
            await change_role(acme.id, bob.id, Role.OWNER, by=acting(alice))
        assert await read_roles(acme.id) == {ALICE: "owner", BOB: "owner"}
        acts = (await read_acts(acme.id))[len(before) :]
        assert acts == [(ALICE, "member.role_changed", f"{BOB} (owner)")]

    async def test_of_the_last_owner_stays(self, acme: Team, alice: User, bob: User) -> None:
        with refused("last_owner"):
            await change_role(acme.id, alice.id, Role.MEMBER, by=acting(alice))
        await change_role(acme.id, bob.id, Role.OWNER, by=acting(alice))
        await change_role(acme.id, alice.id, Role.MEMBER, by=acting(alice))
        assert await read_roles(acme.id) == {ALICE: "member", BOB: "owner"}

    async def test_of_a_member_becomes_a_viewer_in_a_team_that_has_no_owner(self, acme: Team) -> None:
        carol = await join(acme, "carol@example.com", Role.MEMBER)
        await change_role(acme.id, carol.id, Role.VIEWER, by=acting(carol))
        assert await read_roles(acme.id) == {"carol@example.com": "viewer"}

    async def test_of_two_owners_who_step_down_at_once_one_stays(self, acme: Team, alice: User) -> None:
        other = await join(acme, BOB, Role.OWNER)
        steps = [change_role(acme.id, user.id, Role.MEMBER, by=acting(user)) for user in (alice, other)]
        assert await name_refusals(*steps) == ["last_owner"]
        assert sorted((await read_roles(acme.id)).values()) == ["member", "owner"]

    async def test_is_not_changed_by_another_team(self, alice: User, charlie: User) -> None:
        with refused("no_such_member"):
            await change_role(charlie.team_id, alice.id, Role.MEMBER, by=acting(charlie))

    async def test_that_there_is_not_is_not_given(self, acme: Team, alice: User, bob: User) -> None:
        with pytest.raises(ValueError, match="god"):
            await change_role(acme.id, bob.id, "god", by=acting(alice))


class TestRemoval:
    async def test_ends_everything_of_theirs_at_once(self, acme: Team, alice: User, bob: User) -> None:
        token, kept = await begin_session(bob, "Firefox"), await begin_session(alice, "Firefox")
        code = (await make_reset_code(acme.id, bob.id, by=acting(alice))).code
        await remove_member(acme.id, bob.id, by=acting(alice))
        assert await find_session(token) is None
        assert await find_invitation(code) is None
        assert await find_session(kept)
        assert await Session.all().count() == 1
        assert await list_members(acme.id) == [alice]
        assert (await read_acts(acme.id))[-1] == (ALICE, "member.removed", BOB)

    async def test_leaves_keys_and_what_they_did_in_the_log(self, acme: Team, alice: User, bob: User) -> None:
        created = await create_key(acme, "Shop", ["monitors:read"], acting(bob))
        await remove_member(acme.id, bob.id, by=acting(alice))
        assert [(key.id, key.created_by) for key in await list_keys(acme.id)] == [(created.key.id, BOB)]
        assert (BOB, "key.created", "Shop") in await read_acts(acme.id)

    async def test_of_the_last_owner_is_refused(self, acme: Team, alice: User, bob: User) -> None:
        for by in (alice, bob):
            with refused("last_owner"):
                await remove_member(acme.id, alice.id, by=acting(by))
        assert await list_members(acme.id) == [alice, bob]

    async def test_of_each_other_at_once_leaves_an_owner(self, acme: Team, alice: User) -> None:
        owners = [alice, *[await join(acme, f"{name}@example.com", Role.OWNER) for name in "bcde"]]
        removals = [
            remove_member(acme.id, owner.id, by=acting(neighbour))
            for owner, neighbour in zip(owners, [*owners[1:], alice], strict=True)
        ]
        assert await name_refusals(*removals) == ["last_owner"]
        assert list((await read_roles(acme.id)).values()) == ["owner"]

    async def test_twice_at_once_is_once(self, acme: Team, alice: User, bob: User) -> None:
        removals = [remove_member(acme.id, bob.id, by=acting(alice)) for _ in range(3)]
        assert await name_refusals(*removals) == ["no_such_member"] * 2
        assert [act for act in await read_acts(acme.id) if act[1] == "member.removed"] == [
            (ALICE, "member.removed", BOB)
        ]

    async def test_is_not_for_another_team(self, acme: Team, alice: User, charlie: User) -> None:
        with refused("no_such_member"):
            await remove_member(charlie.team_id, alice.id, by=acting(charlie))
        assert await list_members(acme.id) == [alice]

    @pytest.mark.parametrize("leaving", ["removed", "member"])
    async def test_or_stepping_down_leaves_no_way_back_by_a_code_of_their_own(
        self, acme: Team, alice: User, leaving: str
    ) -> None:
        other = await join(acme, BOB, Role.OWNER)
        own = [
            await invite(acme.id, "bob.again@example.com", Role.OWNER, by=acting(other)),
            await make_reset_code(acme.id, alice.id, by=acting(other)),
        ]
        alices = await invite(acme.id, "dora@example.com", Role.MEMBER, by=acting(alice))
        if leaving == "removed":
            await remove_member(acme.id, other.id, by=acting(alice))
        else:
            await change_role(acme.id, other.id, Role.MEMBER, by=acting(alice))
        assert [await find_invitation(each.code) for each in own] == [None, None]
        assert await find_invitation(alices.code)


class TestPassword:
    async def test_is_changed_and_ends_the_other_sessions(self, acme: Team, bob: User) -> None:
        tokens = [await begin_session(bob, "Firefox") for _ in range(3)]
        kept = await find_session(tokens[1])
        assert kept
        await change_password(bob, PASSWORD, ANOTHER_PASSWORD, by=acting(bob), keep=kept.id)
        assert await list_sessions(bob.id) == [kept]
        assert await authenticate(BOB, PASSWORD) is None
        assert await authenticate(BOB, ANOTHER_PASSWORD) == bob
        assert (await read_acts(acme.id))[-1] == (BOB, "password.changed", BOB)

    @pytest.mark.parametrize(
        ("current", "new", "refusal"),
        [
            (ANOTHER_PASSWORD, ANOTHER_PASSWORD, "wrong_password"),
            ("", ANOTHER_PASSWORD, "wrong_password"),
            ("\x00\ud800", ANOTHER_PASSWORD, "wrong_password"),
            (PASSWORD * 100, ANOTHER_PASSWORD, "wrong_password"),
            (PASSWORD, "short", "password_too_short"),
            (PASSWORD, "x" * 1025, "password_too_long"),
            (PASSWORD, BOB, "password_is_email"),
        ],
    )
    async def test_that_is_refused_changes_nothing(
        self, bob: User, current: str, new: str, refusal: str
    ) -> None:
        await begin_session(bob, "Firefox")
        with refused(refusal):
            await change_password(bob, current, new, by=acting(bob))
        assert len(await list_sessions(bob.id)) == 1
        assert await authenticate(BOB, PASSWORD) == bob

    async def test_of_two_changes_at_once_is_that_of_one(self, bob: User) -> None:
        news = ["the first of two passwords", "the other of two passwords"]
        users = [await User.get(id=bob.id) for _ in news]
        changes = [
            change_password(user, PASSWORD, new, by=acting(bob))
            for user, new in zip(users, news, strict=True)
        ]
        assert await name_refusals(*changes) == ["wrong_password"]
        assert len([new for new in news if await authenticate(BOB, new)]) == 1

    async def test_makes_a_code_for_another_one_worth_nothing(
        self, acme: Team, alice: User, bob: User
    ) -> None:
        code = (await make_reset_code(acme.id, bob.id, by=acting(alice))).code
        await change_password(bob, PASSWORD, ANOTHER_PASSWORD, by=acting(bob))
        with refused("invitation_unknown"):
            await accept_invitation(code, "", PASSWORD)


async def test_everything_at_once_ends_without_a_deadlock(acme: Team, alice: User, bob: User) -> None:
    owners = [alice, await join(acme, "owner@example.com", Role.OWNER)]
    code = (await make_reset_code(acme.id, bob.id, by=acting(alice))).code
    acts: list[Awaitable[object]] = [
        accept_invitation(code, "", ANOTHER_PASSWORD),
        change_password(bob, PASSWORD, ANOTHER_PASSWORD, by=acting(bob)),
        remove_member(acme.id, bob.id, by=acting(alice)),
        *(begin_session(user, "Firefox") for user in [*owners, bob] * 3),
        *(invite(acme.id, "dora@example.com", Role.MEMBER, by=acting(owner)) for owner in owners * 2),
        *(change_role(acme.id, owner.id, Role.MEMBER, by=acting(owner)) for owner in owners),
    ]
    results = await asyncio.gather(*acts, return_exceptions=True)
    assert [
        result for result in results if isinstance(result, Exception) and not isinstance(result, Refused)
    ] == []
    assert list((await read_roles(acme.id)).values()).count("owner") == 1
    assert await Invitation.filter(email="dora@example.com").count() <= 1
