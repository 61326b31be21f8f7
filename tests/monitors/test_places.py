"""Monitors that are created in the same turn of the event loop share a statement, on PostgreSQL."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from tortoise.exceptions import OperationalError

from backends.recorded_statements import recorded_statements
from monitoring.audit.actors import COMMAND_LINE
from monitoring.audit.models import AuditEntry
from monitoring.auth.models import Team
from monitoring.auth.service import create_team
from monitoring.backends.current import current_backends
from monitoring.backends.database import transaction
from monitoring.contract.problems import Problem
from monitoring.monitors import places, service
from monitoring.monitors.maintenance.service import create_window
from monitoring.monitors.models import Monitor, StateChange, Watch
from monitoring.monitors.reading import read_monitor
from monitors.conversations import URL, count_twice
from temporary_backends import temporary_backends

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tortoise.models import Model

SOMEBODY_SLEEPS = """
    SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'
"""

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.production("SQLite has one writer at a time, and one statement for each table"),
]


@pytest.fixture
async def teams(tmp_path: Path) -> AsyncIterator[list[Team]]:
    """Return three teams with three places each, which are known to have no maintenance windows."""
    async with temporary_backends(tmp_path):
        teams = [await create_team(name, "free", 3) for name in ("Acme", "Bolt", "Cogs")]
        await Team.all().update(may_have_maintenance=False)
        yield teams


async def create(team: Team, name: str = "Shop") -> Monitor:
    return await service.create_monitor(team.id, {"url": URL, "name": name}, by=COMMAND_LINE)


async def create_together(*teams: Team) -> list[Monitor | BaseException]:
    return await asyncio.gather(*map(create, teams), return_exceptions=True)


async def test_several_are_one_statement(teams: list[Team]) -> None:
    with recorded_statements() as statements:
        created = await create_together(*teams, *teams)
    assert len(statements) == 1
    for team, monitor in zip(teams * 2, created, strict=True):
        assert isinstance(monitor, Monitor)
        assert (await read_monitor(team.id, monitor.id)).version == 1
        assert await count_twice(team.id) == (2, 2)


async def test_each_is_stored_as_it_was_made(teams: list[Team]) -> None:
    given = {
        "url": URL,
        "name": 'É"\\\n\u2028\U0001f600',
        "method": "POST",
        "request_headers": {"Authorization": 'a "secret"', "X-Trace": "é"},
        "request_body": '{"a": "\\u0000"}',
        "slow_threshold_ms": 10,
        "tags": ["a"],
        "paused": True,
    }
    made = await asyncio.gather(
        *(service.create_monitor(team.id, given, by=COMMAND_LINE) for team in teams * 2),
    )
    for monitor in made:
        assert columns(await Monitor.get(id=monitor.id)) == columns(monitor)
        assert columns(await Watch.get(monitor_id=monitor.id)) == columns(monitor.watch)
        change = await StateChange.get(monitor_id=monitor.id)
        assert (change.changed_at, change.state) == (monitor.created_at, "paused")
        entry = await AuditEntry.get(subject_id=str(monitor.id))
        assert (entry.team_id, entry.actor, entry.subject) == (monitor.team_id, "command line", monitor.name)


def columns(row: Model) -> dict[str, object]:
    return {name: value for name, value in vars(row).items() if not name.startswith("_")}


async def test_the_last_places_of_a_plan_are_given_away_once(teams: list[Team]) -> None:
    full, roomy, _ = teams
    created = await create_together(full, roomy, full, full, full, roomy)
    refused = [each.name for each in created if isinstance(each, Problem)]
    assert refused == ["monitor_limit_reached"]
    assert [await count_twice(full.id), await count_twice(roomy.id)] == [(3, 3), (2, 2)]


async def test_a_team_with_windows_gets_monitors_that_are_covered(teams: list[Team]) -> None:
    await create_window(teams[0].id, {"duration_seconds": 600})
    created = await create_together(*teams)
    assert [each.status for each in created if isinstance(each, Monitor)] == [
        "maintenance",
        "pending",
        "pending",
    ]


async def test_nobody_waits_for_another_teams_lock(teams: list[Team]) -> None:
    locked, is_locked, others_are_done = teams[0], asyncio.Event(), asyncio.Event()

    async def hold() -> None:
        async with transaction():
            await Team.select_for_update(no_key=True).get(id=locked.id)
            is_locked.set()
            await others_are_done.wait()

    holding = asyncio.create_task(hold())
    await is_locked.wait()
    waiting, *others = [asyncio.create_task(create(team)) for team in teams]
    await asyncio.gather(*others)
    assert not waiting.done()
    others_are_done.set()
    await asyncio.gather(holding, waiting)
    assert await count_twice(locked.id) == (1, 1)


async def test_within_a_transaction_a_monitor_is_stored_with_the_rest_of_it(teams: list[Team]) -> None:
    async def create_and_fail() -> None:
        async with transaction():
            await create(teams[0])
            raise RuntimeError("something else went wrong")

    outcomes = await asyncio.gather(create_and_fail(), *map(create, teams), return_exceptions=True)
    assert [type(each).__name__ for each in outcomes] == ["RuntimeError", *["Monitor"] * 3]
    assert await count_twice(teams[0].id) == (1, 1)


async def test_a_monitor_that_cannot_be_stored_harms_no_other(
    teams: list[Team], caplog: pytest.LogCaptureFixture
) -> None:
    outcomes = await asyncio.gather(
        *map(create, teams), create(teams[0], name="x" * 101), *map(create, teams), return_exceptions=True
    )
    assert isinstance(outcomes.pop(3), OperationalError)
    assert all(isinstance(each, Monitor) for each in outcomes)
    assert [await count_twice(team.id) for team in teams] == [(2, 2)] * 3
    assert "A round of 7 new monitors failed: each goes alone" in caplog.text


@pytest.mark.parametrize(
    ("change", "statuses"),
    [
        ("UPDATE teams SET monitors_count = 3 WHERE name = 'Acme'", ["refused", "pending", "pending"]),
        ("UPDATE teams SET max_monitors = 0 WHERE name = 'Acme'", ["refused", "pending", "pending"]),
        ("UPDATE teams SET monitors_count = 2 WHERE name = 'Acme'", ["pending"] * 3),
    ],
)
async def test_what_is_committed_before_a_team_is_locked_counts(
    teams: list[Team], monkeypatch: pytest.MonkeyPatch, change: str, statuses: list[str]
) -> None:
    slow = places.TAKE_SEVERAL.replace("given))", "given)) AND (SELECT pg_sleep(0.5)) IS NOT NULL", 1)
    monkeypatch.setattr(places, "TAKE_SEVERAL", slow)
    creating = asyncio.create_task(create_together(*teams))
    connection = current_backends().database.context.db()
    while not await connection.execute_query_dict(SOMEBODY_SLEEPS):  # noqa: ASYNC110 - no event says so
        await asyncio.sleep(0.01)
    await connection.execute_query(change)
    created = await creating
    assert [each.status if isinstance(each, Monitor) else "refused" for each in created] == statuses
