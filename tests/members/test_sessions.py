from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from members.people import ANOTHER_PASSWORD, PASSWORD, acting, count_sessions, join, read_acts, refused
from moments import a_second_ago
from monitoring.audit.models import AuditEntry
from monitoring.auth.service import create_team
from monitoring.members.models import Session, User
from monitoring.members.service import change_password, remove_member
from monitoring.members.sessions import (
    LAST_SEEN_GRAIN,
    begin_session,
    end_session,
    end_sessions,
    find_session,
    list_sessions,
)
from monitoring.members.sign_in import authenticate
from temporary_backends import temporary_backends

if TYPE_CHECKING:
    from pathlib import Path

    from monitoring.auth.models import Team

pytestmark = pytest.mark.anyio


async def begin(user: User) -> Session:
    session = await find_session(await begin_session(user, "Firefox"))
    assert session
    return session


class TestBegin:
    async def test_gives_a_token_that_only_its_hash_is_kept_of(self, alice: User) -> None:
        token = await begin_session(alice, "Firefox")
        assert len(token) == 43
        [row] = await Session.all().values()
        assert not [name for name, value in row.items() if token in str(value)]
        entries = await AuditEntry.all().values()
        assert not [entry for entry in entries if token in str(entry)]

    async def test_is_found_with_the_user_and_their_team(self, alice: User, acme: Team) -> None:
        session = await begin(alice)
        assert session.user == alice
        assert session.user.team == acme
        assert session.expires_at - session.created_at == timedelta(hours=168)
        assert await begin_session(alice, "Firefox") != await begin_session(alice, "Firefox")

    async def test_is_noted_with_the_address(self, alice: User) -> None:
        assert (await User.get(id=alice.id)).last_signed_in_at is None
        await begin_session(alice, "Firefox", address="192.0.2.7")
        entry = await AuditEntry.all().order_by("-id").first()
        assert entry
        assert (entry.actor, entry.actor_user_id, entry.address, entry.action) == (
            "alice@example.com",
            alice.id,
            "192.0.2.7",
            "session.signed_in",
        )
        assert (await User.get(id=alice.id)).last_signed_in_at

    @pytest.mark.parametrize("browser", ["", "x" * 5000, "Fire\x00fox", "Fire\ud800fox\x1b[31m"])
    async def test_takes_whatever_a_browser_calls_itself(self, alice: User, browser: str) -> None:
        await begin_session(alice, browser)
        [session] = await list_sessions(alice.id)
        assert len(session.browser) <= 255
        assert session.browser.isprintable()

    async def test_forgets_the_users_own_that_have_expired(self, alice: User, bob: User) -> None:
        for user in (alice, bob):
            await begin_session(user, "Firefox")
        await Session.all().update(expires_at=a_second_ago())
        await begin_session(alice, "Firefox")
        assert (await count_sessions(alice), await count_sessions(bob)) == (1, 1)
        assert await list_sessions(bob.id) == []

    async def test_is_refused_when_the_password_was_changed_since_it_was_asked_for(self, bob: User) -> None:
        authenticated = await authenticate(bob.email, PASSWORD)
        assert authenticated
        await change_password(bob, PASSWORD, ANOTHER_PASSWORD, by=acting(bob))
        with refused("wrong_password"):
            await begin_session(authenticated, "Firefox")
        assert await count_sessions(bob) == 0

    async def test_is_refused_when_the_user_was_removed_since(
        self, acme: Team, alice: User, bob: User
    ) -> None:
        authenticated = await authenticate(bob.email, PASSWORD)
        assert authenticated
        await remove_member(acme.id, bob.id, by=acting(alice))
        with refused("wrong_password"):
            await begin_session(authenticated, "Firefox")


class TestFind:
    @pytest.mark.parametrize("token", ["", "x" * 43, "ä" * 43, "\x00", "\ud800"])
    @pytest.mark.usefixtures("backends")
    async def test_finds_nothing_for_a_token_that_is_none(self, token: str) -> None:
        assert await find_session(token) is None

    async def test_finds_nothing_once_it_has_expired(self, alice: User) -> None:
        token = await begin_session(alice, "Firefox")
        assert await find_session(token)
        await Session.all().update(expires_at=a_second_ago())
        assert await find_session(token) is None

    async def test_does_not_make_it_last_longer(self, alice: User) -> None:
        token = await begin_session(alice, "Firefox")
        long_ago = datetime.now(UTC) - timedelta(hours=100)
        await Session.all().update(last_seen_at=long_ago)
        before = await Session.get()
        seen = await find_session(token)
        assert seen
        after = await Session.get()
        assert after.expires_at == before.expires_at
        assert after.last_seen_at == seen.last_seen_at > long_ago

    async def test_writes_no_more_than_every_five_minutes(self, alice: User) -> None:
        token = await begin_session(alice, "Firefox")
        lately = datetime.now(UTC) - LAST_SEEN_GRAIN + timedelta(minutes=1)
        await Session.all().update(last_seen_at=lately)
        assert await find_session(token)
        assert (await Session.get()).last_seen_at == lately

    async def test_sees_a_changed_role_at_once(self, alice: User) -> None:
        token = await begin_session(alice, "Firefox")
        await User.filter(id=alice.id).update(role="member")
        session = await find_session(token)
        assert session
        assert session.user.role == "member"


class TestEnd:
    async def test_ends_one_and_leaves_the_others(self, alice: User) -> None:
        one, other = await begin(alice), await begin(alice)
        for _ in range(2):
            await end_session(one.id)
        assert await list_sessions(alice.id) == [other]

    async def test_everywhere_ends_all_of_one_user(self, alice: User, bob: User) -> None:
        tokens = [await begin_session(alice, "Firefox") for _ in range(3)]
        token = await begin_session(bob, "Firefox")
        await end_sessions(alice.id, by=acting(alice))
        assert [await find_session(each) for each in tokens] == [None] * 3
        assert await find_session(token)
        last = (await read_acts(alice.team_id))[-1]
        assert last == ("alice@example.com", "session.signed_out_everywhere", "alice@example.com")

    async def test_everywhere_else_keeps_one(self, alice: User) -> None:
        kept = await begin(alice)
        await begin(alice)
        await end_sessions(alice.id, keep=kept.id)
        assert await list_sessions(alice.id) == [kept]

    @pytest.mark.usefixtures("backends")
    async def test_of_nobody_is_nothing(self) -> None:
        await end_sessions(uuid4())
        await end_session(uuid4())


async def test_sessions_live_as_long_as_the_settings_say(tmp_path: Path) -> None:
    async with temporary_backends(tmp_path, session_hours=2):
        user = await join(await create_team("Acme", "free", 10), "alice@example.com")
        session = await begin(user)
    assert session.expires_at - session.created_at == timedelta(hours=2)
