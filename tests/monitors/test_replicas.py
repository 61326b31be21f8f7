"""Several processes on one database keep the same promises together as one alone."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from itertools import cycle, islice
from typing import TYPE_CHECKING

import httpx
import pytest

from cast import Player, form_team
from monitoring.audit.actions import Action
from monitoring.audit.actors import COMMAND_LINE
from monitoring.audit.service import record
from monitoring.auth.models import Team
from monitoring.auth.service import create_team
from monitoring.backends.database import transaction
from monitoring.idempotency.service import act_once
from monitoring.monitors import service
from monitoring.monitors.maintenance.service import create_window
from monitoring.web.replies import Reply
from monitors.conversations import MONITORS, URL, list_ids
from running_service import running_service
from temporary_backends import temporary_backends

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

REQUESTS = 40

SOMEBODY_WAITS = """
    SELECT 1 FROM pg_locks WHERE NOT granted AND pid IN (
        SELECT pid FROM pg_locks JOIN pg_database ON pg_database.oid = database
        WHERE datname = current_database()
    )
"""


@contextmanager
def playing_at_two_services(folder: Path, max_monitors: int) -> Iterator[list[httpx.Client]]:
    """Let Alice call two services on one database with the same token."""
    with ExitStack() as stack:
        one, other = (stack.enter_context(running_service(folder)) for _ in range(2))
        alice = stack.enter_context(Player(one, form_team(one, max_monitors)))
        headers = {"Authorization": alice.headers["Authorization"]}
        there = stack.enter_context(httpx.Client(base_url=other.base_url, headers=headers, timeout=30))
        yield [alice, there]


@pytest.mark.production("SQLite has one writer at a time")
@pytest.mark.anyio
async def test_a_write_done_once_and_an_audited_one_do_not_wait_for_each_other(
    tmp_path: Path,
) -> None:
    audited_holds_the_watch, other_holds_the_team = asyncio.Event(), asyncio.Event()
    async with temporary_backends(tmp_path):
        team = await create_team("Acme", "free", 10)
        monitor = await service.create_monitor(team.id, {"url": URL})

        async def pause_as_in_the_app() -> None:
            async with transaction():
                await service.update_monitor(team.id, monitor.id, {"paused": True})
                audited_holds_the_watch.set()
                await other_holds_the_team.wait()
                await asyncio.sleep(0.1)  # by now the other waits for the check state
                await record(team.id, COMMAND_LINE, Action.MONITOR_PAUSED, monitor.name, monitor.id)

        async def rename() -> Reply:
            other_holds_the_team.set()
            await service.update_monitor(team.id, monitor.id, {"name": "Shop"})
            return Reply({}, 200)

        async def rename_once() -> None:
            await audited_holds_the_watch.wait()
            await act_once(team.id, "key", (), rename)

        await asyncio.gather(pause_as_in_the_app(), rename_once())
        renamed = await service.get_monitor(team.id, monitor.id)
        assert (renamed.name, renamed.paused) == ("Shop", True)


@pytest.mark.production("SQLite has one writer at a time")
@pytest.mark.anyio
async def test_a_new_monitor_misses_no_maintenance_that_is_planned_meanwhile(tmp_path: Path) -> None:
    is_planning = asyncio.Event()
    async with temporary_backends(tmp_path):
        team = await create_team("Acme", "free", 10)

        async def create() -> str:
            await is_planning.wait()
            return (await service.create_monitor(team.id, {"url": URL})).status

        creating = asyncio.create_task(create())  # outside of the transaction
        async with transaction() as connection:
            await Team.select_for_update(no_key=True).get(id=team.id)
            is_planning.set()
            while not await connection.execute_query_dict(SOMEBODY_WAITS):  # noqa: ASYNC110 - no event says so
                await asyncio.sleep(0.01)
            await create_window(team.id, {"duration_seconds": 600})
        assert await creating == "maintenance"


def create_at_once(players: list[httpx.Client], **headers: str) -> list[httpx.Response]:
    """Send the same request to both services several times at once."""
    with ThreadPoolExecutor(REQUESTS) as pool:
        return list(
            pool.map(
                lambda player: player.post(MONITORS, json={"url": URL}, headers=headers),
                islice(cycle(players), REQUESTS),
            )
        )


def test_the_last_places_of_a_plan_are_given_away_once_by_two_services_at_once(tmp_path: Path) -> None:
    with playing_at_two_services(tmp_path, max_monitors=3) as players:
        answers = create_at_once(players)
        assert sorted(answer.status_code for answer in answers) == [201] * 3 + [403] * (REQUESTS - 3)
        assert len(list_ids(players[1])) == 3


def test_a_write_repeated_at_two_services_at_once_acts_once(tmp_path: Path) -> None:
    with playing_at_two_services(tmp_path, max_monitors=10) as players:
        answers = create_at_once(players, **{"Idempotency-Key": "one-and-the-same"})
        assert {answer.json()["id"] for answer in answers} == set(list_ids(players[1]))
        assert len(list_ids(players[1])) == 1
