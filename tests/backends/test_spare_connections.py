from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from monitoring.backends.database_clients import spare_connections
from temporary_backends import temporary_backends

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

pytestmark = [pytest.mark.anyio, pytest.mark.production("SQLite has no pool")]

SESSION = "SELECT pg_backend_pid() AS answer"


@pytest.fixture
async def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Any]:
    monkeypatch.setattr(spare_connections, "KEPT_SECONDS", 1000)
    async with temporary_backends(tmp_path, tasks=(), database_pool_max_connections=2) as backends:
        yield backends.database.context.db()


async def _ask(client: Any, sql: str) -> Any:
    [row] = await client.execute_query_dict(sql)
    return row["answer"]


class TestSpareConnections:
    async def test_serve_one_statement_after_the_other(self, client: Any) -> None:
        assert len({await _ask(client, SESSION) for _ in range(5)}) == 1
        assert client.count_connections() == {"busy": 0, "idle": 1, "unopened": 1}

    async def test_are_kept_from_nobody_who_waits(self, client: Any) -> None:
        sessions = await asyncio.gather(*(_ask(client, SESSION) for _ in range(50)))
        assert len(set(sessions)) == 2
        assert client.count_connections() == {"busy": 0, "idle": 2, "unopened": 0}

    async def test_go_back_to_the_pool_soon(self, client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(spare_connections, "KEPT_SECONDS", 0.01)
        await _ask(client, SESSION)
        while client.spare_connections or not client.count_connections()["idle"]:  # noqa: ASYNC110 - a timer and a task
            await asyncio.sleep(0.001)

    async def test_that_the_server_has_closed_are_not_used(self, client: Any) -> None:
        await _ask(client, SESSION)
        spare = client.spare_connections
        while len(spare) < 2:  # while the pool opens one, it gets the other back
            await asyncio.gather(*(_ask(client, SESSION) for _ in range(2)))
        lost = spare._kept[0].get_server_pid()  # noqa: SLF001 - the one that is taken last
        assert await _ask(client, f"SELECT pg_terminate_backend({lost}) AS answer")
        while spare._is_usable(spare._kept[0]):  # noqa: ASYNC110, SLF001 - PostgreSQL's time
            await asyncio.sleep(0.001)
        assert lost not in await asyncio.gather(*(_ask(client, SESSION) for _ in range(2)))

    async def test_are_reset_if_a_statement_left_a_transaction(self, client: Any) -> None:
        await client.execute_query("BEGIN")
        beginnings = {await _ask(client, "SELECT now() AS answer") for _ in range(2)}  # of transactions
        assert len(beginnings) == 2
