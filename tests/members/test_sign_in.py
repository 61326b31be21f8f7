from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from argon2 import PasswordHasher

from members.people import ANOTHER_PASSWORD, PASSWORD, acting
from monitoring.members import sign_in
from monitoring.members.models import User
from monitoring.members.service import remove_member
from monitoring.members.sign_in import authenticate

if TYPE_CHECKING:
    from monitoring.auth.models import Team

pytestmark = pytest.mark.anyio

WEAK = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


class TestAuthenticate:
    async def test_knows_a_user_with_their_team(self, alice: User, acme: Team) -> None:
        user = await authenticate("alice@example.com", PASSWORD)
        assert user == alice
        assert user.team == acme

    @pytest.mark.parametrize("email", ["ALICE@Example.com", "  alice@example.com\t"])
    async def test_does_not_mind_case_and_space_of_an_email(self, alice: User, email: str) -> None:
        assert await authenticate(email, PASSWORD) == alice

    @pytest.mark.parametrize(
        ("email", "password"),
        [
            ("alice@example.com", ANOTHER_PASSWORD),
            ("alice@example.com", PASSWORD.upper()),
            ("alice@example.com", f"{PASSWORD} "),
            ("alice@example.com", ""),
            ("alice@example.com", PASSWORD * 100),
            ("nobody@example.com", PASSWORD),
            ("", PASSWORD),
            ("alice@example.com\x00", PASSWORD),
            ("a\x00lice@example.com", PASSWORD),
            ("alice\ud800@example.com", PASSWORD),
            ("alice@example.com", "\x00\ud800"),
            ("%", PASSWORD),
        ],
    )
    @pytest.mark.usefixtures("alice")
    async def test_knows_nobody_else(self, email: str, password: str) -> None:
        assert await authenticate(email, password) is None

    async def test_does_not_know_who_was_removed(self, acme: Team, bob: User) -> None:
        assert await authenticate(bob.email, PASSWORD)
        await remove_member(acme.id, bob.id, by=acting(bob))
        assert await authenticate(bob.email, PASSWORD) is None


@pytest.mark.usefixtures("full_strength")
class TestHashWithParametersOfYesterday:
    async def test_is_replaced_at_the_next_sign_in(self, alice: User) -> None:
        weak = WEAK.hash(PASSWORD)
        await User.filter(id=alice.id).update(password_hash=weak)
        assert await authenticate(alice.email, ANOTHER_PASSWORD) is None
        assert (await User.get(id=alice.id)).password_hash == weak
        user = await authenticate(alice.email, PASSWORD)
        assert user
        kept = (await User.get(id=alice.id)).password_hash
        assert kept == user.password_hash != weak
        assert kept.startswith("$argon2id$v=19$m=65536,t=3,p=4$")
        assert await authenticate(alice.email, PASSWORD)

    async def test_does_not_come_back_over_a_password_that_was_changed_meanwhile(
        self, alice: User, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await User.filter(id=alice.id).update(password_hash=WEAK.hash(PASSWORD))

        async def hash_while_another_is_set(password: str) -> str:
            await User.filter(id=alice.id).update(password_hash="another")
            return WEAK.hash(password)

        monkeypatch.setattr(sign_in, "hash_password", hash_while_another_is_set)
        assert await authenticate(alice.email, PASSWORD) is None
        assert (await User.get(id=alice.id)).password_hash == "another"
