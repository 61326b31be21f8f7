"""The app and the command line make, list and revoke keys, and the audit log notes each action once."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest
from tortoise.exceptions import IntegrityError

from backends.recorded_statements import recorded_statements
from monitoring.audit.actors import Actor
from monitoring.audit.models import AuditEntry
from monitoring.auth import service
from monitoring.auth.credentials import is_same_secret
from monitoring.auth.models import ApiKey
from monitoring.auth.service import (
    authenticate_key,
    create_key,
    create_team,
    find_key,
    list_keys,
    revoke_key,
)
from temporary_backends import temporary_backends

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from monitoring.auth.models import Team

pytestmark = pytest.mark.anyio

ALICE = Actor("alice@example.com", uuid4(), "192.0.2.7")
SCOPES = ["monitors:read"]


@pytest.fixture
async def teams(tmp_path: Path) -> AsyncIterator[tuple[Team, Team]]:
    async with temporary_backends(tmp_path):
        yield await create_team("Acme", "free", 10), await create_team("Other", "free", 10)


async def read_acts(team: Team) -> list[tuple[str, str, str, str | None]]:
    entries = await AuditEntry.filter(team_id=team.id).order_by("id")
    return [(entry.actor, entry.action, entry.subject, entry.subject_id) for entry in entries]


class TestCreateTeam:
    async def test_is_noted_as_the_command_lines(self, teams: tuple[Team, Team]) -> None:
        acme, _ = teams
        assert await read_acts(acme) == [("command line", "team.created", "Acme", str(acme.id))]

    async def test_of_a_name_that_is_taken_is_refused(self, teams: tuple[Team, Team]) -> None:
        with pytest.raises(IntegrityError):
            await create_team(teams[0].name, "free", 10)


class TestCreateKey:
    async def test_says_who_created_it(self, teams: tuple[Team, Team]) -> None:
        acme, _ = teams
        by_hand = await create_key(acme, "Shop", SCOPES)
        in_the_app = await create_key(acme, "Blog", SCOPES, ALICE)
        assert [key.created_by for key in await list_keys(acme.id)] == ["command line", "alice@example.com"]
        assert (await read_acts(acme))[1:] == [
            ("command line", "key.created", "Shop", by_hand.key.client_id),
            ("alice@example.com", "key.created", "Blog", in_the_app.key.client_id),
        ]

    async def test_leaves_no_secret_in_the_log(self, teams: tuple[Team, Team]) -> None:
        created = await create_key(teams[0], "Shop", SCOPES, ALICE)
        assert created.client_secret not in str(await AuditEntry.all().values())
        assert created.client_secret not in str(await ApiKey.all().values())

    async def test_of_one_id_makes_one_key_however_often_it_is_sent(self, teams: tuple[Team, Team]) -> None:
        acme, other = teams
        key_id = uuid4()
        results = await asyncio.gather(
            *(create_key(team, "Shop", SCOPES, ALICE, key_id) for team in (acme, acme, other)),
            return_exceptions=True,
        )
        assert sorted(type(result).__name__ for result in results) == [
            "CreatedKey",
            "KeyExistsError",
            "KeyExistsError",
        ]
        [key] = await list_keys()
        assert key.id == key_id
        assert await AuditEntry.filter(action="key.created").count() == 1


class TestFindKey:
    async def test_finds_the_teams_own_revoked_or_not(self, teams: tuple[Team, Team]) -> None:
        acme, other = teams
        key = (await create_key(acme, "Shop", SCOPES)).key
        assert await find_key(key.client_id, other.id) is None
        assert await find_key(key.client_id, acme.id) == key
        await revoke_key(key.client_id)
        assert await find_key(key.client_id, acme.id) == key

    @pytest.mark.parametrize("client_id", ["", "mon_live_unknown", "\x00", "\ud800", "ä", "x" * 65])
    async def test_finds_nothing_for_what_is_none(self, teams: tuple[Team, Team], client_id: str) -> None:
        assert await find_key(client_id, teams[0].id) is None
        assert await revoke_key(client_id, team_id=teams[0].id) is None
        assert await revoke_key(client_id) is None


class TestListKeys:
    async def test_lists_a_teams_own_or_everybodys(self, teams: tuple[Team, Team]) -> None:
        keys = [(await create_key(team, "Shop", SCOPES)).key for team in teams]
        assert [await list_keys(team.id) for team in teams] == [[key] for key in keys]
        listed = await list_keys()
        assert listed == keys
        assert [key.team for key in listed] == list(teams)


class TestAuthenticateKey:
    async def test_does_the_same_to_refuse_whatever_is_wrong(
        self, teams: tuple[Team, Team], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        acme, _ = teams
        living, revoked = [await create_key(acme, name, SCOPES) for name in ("Shop", "Old")]
        await revoke_key(revoked.key.client_id, by=ALICE)
        compared: list[int] = []

        def compare(secret: str, stored_sha256: str) -> bool:
            compared.append(len(stored_sha256))
            return is_same_secret(secret, stored_sha256)

        monkeypatch.setattr(service, "is_same_secret", compare)
        wrong = {
            "a wrong secret": (living.key.client_id, revoked.client_secret),
            "a revoked key": (revoked.key.client_id, revoked.client_secret),
            "an unknown key": ("mon_live_nobodys", living.client_secret),
            "no key's name": ("a\x00b", living.client_secret),
        }
        work: dict[str, tuple[list[str], list[int]]] = {}
        for name, credentials in wrong.items():
            compared.clear()
            with recorded_statements() as statements:
                assert await authenticate_key(*credentials) is None
            work[name] = [statement.sql for statement in statements], list(compared)
        assert work == dict.fromkeys(wrong, work["an unknown key"])
        assert [len(each) for each in work["an unknown key"]] == [1, 1]


class TestRevokeKey:
    async def test_is_noted_once_however_often_it_is_done(self, teams: tuple[Team, Team]) -> None:
        acme, _ = teams
        created = await create_key(acme, "Shop", SCOPES)
        client_id = created.key.client_id
        revoked = await asyncio.gather(*(revoke_key(client_id, by=ALICE) for _ in range(3)))
        again = await revoke_key(client_id, by=ALICE)
        assert again
        assert {key.revoked_at for key in revoked if key} == {again.revoked_at} != {None}
        assert (await read_acts(acme))[2:] == [("alice@example.com", "key.revoked", "Shop", client_id)]
        assert await authenticate_key(client_id, created.client_secret) is None

    async def test_does_not_reach_another_teams(self, teams: tuple[Team, Team]) -> None:
        acme, other = teams
        created = await create_key(acme, "Shop", SCOPES)
        assert await revoke_key(created.key.client_id, team_id=other.id, by=ALICE) is None
        assert await authenticate_key(created.key.client_id, created.client_secret) == created.key
        assert len(await read_acts(other)) == 1
