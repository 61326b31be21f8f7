from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from cast import Player, form_team
from monitoring.auth.callers import LIVE_MODE, TEST_MODE, mode_of
from monitoring.auth.models import ApiKey, Team
from monitoring.auth.sandboxes import is_sandbox, open_sandbox
from monitoring.auth.service import change_plan, create_key, create_team, find_team, list_keys, list_teams
from temporary_backends import temporary_backends

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path
    from uuid import UUID

    from running_service import RunningService


@pytest.fixture
async def team(tmp_path: Path) -> AsyncIterator[Team]:
    async with temporary_backends(tmp_path):
        yield await create_team("Acme", "free", 10)


@pytest.mark.anyio
class TestSandbox:
    async def test_is_made_once_however_many_ask_for_it(self, team: Team) -> None:
        opened = await asyncio.gather(*(open_sandbox(team.id) for _ in range(5)))
        assert len({each.id for each in opened}) == 1
        assert await Team.filter(sandbox_of_id=team.id).count() == 1

    async def test_is_no_team_to_operators(self, team: Team) -> None:
        sandbox = await open_sandbox(team.id)
        assert [each.id for each in await list_teams()] == [team.id]
        assert await find_team(sandbox.name) is None
        assert await change_plan(sandbox.name, "large", 100) is None

    async def test_has_the_plan_of_its_team_whatever_changes(self, team: Team) -> None:
        assert (await open_sandbox(team.id)).max_monitors == 10
        await change_plan("Acme", "large", 100)
        assert (await open_sandbox(team.id)).max_monitors == 100

    async def test_is_made_although_another_team_has_its_name(self, team: Team) -> None:
        await create_team("Acme (sandbox)", "free", 10)
        assert await is_sandbox((await open_sandbox(team.id)).id)

    async def test_goes_with_its_team(self, team: Team) -> None:
        sandbox = await open_sandbox(team.id)
        await create_key(sandbox, "CI", ["monitors:read"])
        await team.delete()
        assert not await Team.exists()
        assert not await ApiKey.exists()


@pytest.mark.anyio
class TestTestKey:
    async def test_is_known_by_its_prefix(self, team: Team) -> None:
        live = await create_key(team, "Shop", ["monitors:read"])
        test = await create_key(await open_sandbox(team.id), "CI", ["monitors:read"])
        assert live.key.client_id.startswith("mon_live_")
        assert test.key.client_id.startswith("mon_test_")
        assert [mode_of(each.key.client_id) for each in (live, test)] == [LIVE_MODE, TEST_MODE]

    async def test_is_listed_with_the_live_keys_where_both_worlds_are_asked_for(self, team: Team) -> None:
        live = await create_key(team, "Shop", ["monitors:read"])
        test = await create_key(await open_sandbox(team.id), "CI", ["monitors:read"])
        assert await list_keys(team.id) == [live.key]
        assert await list_keys(team.id, of_both_worlds=True) == [live.key, test.key]


async def forget_use(team_id: UUID) -> None:
    await Team.filter(id=team_id).update(sandbox_used_at=None)


async def is_in_use(team_id: UUID) -> bool:
    return (await Team.get(id=team_id)).sandbox_used_at is not None


class TestUse:
    def test_of_a_key_is_noted_for_its_sandbox(self, service: RunningService) -> None:
        sandbox = service.run(open_sandbox(form_team(service).id))
        service.run(forget_use(sandbox.id))
        with Player(service, sandbox) as tess:
            assert not service.run(is_in_use(sandbox.id))
            tess.get("/api/monitors")
        assert service.run(is_in_use(sandbox.id))


class TestMonitoringMode:
    def test_every_answer_to_a_key_says_its_world(self, service: RunningService) -> None:
        team = form_team(service)
        for world, mode in ((team, "live"), (service.run(open_sandbox(team.id)), "test")):
            with Player(service, world) as player:
                credentials = {"client_id": player.client_id, "client_secret": player.client_secret}
                token = player.post("/api/oauth/token", data=credentials)
                found, refused = player.get("/api/monitors"), player.get("/api/monitors", params={"limit": 0})
            assert [each.status_code for each in (token, found, refused)] == [200, 200, 400]
            assert {each.headers["Monitoring-Mode"] for each in (token, found, refused)} == {mode}

    def test_nobody_without_a_key_is_in_a_world(self, service: RunningService) -> None:
        with Player(service, form_team(service)) as mallory:
            mallory.headers["Authorization"] = "Bearer of.no.token"
            answer = mallory.get("/api/monitors")
        assert answer.status_code == 401
        assert "Monitoring-Mode" not in answer.headers
