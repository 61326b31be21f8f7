"""Pages cost the same wherever they begin on SQLite: the statements that really run are explained."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING
from uuid import UUID

import pytest

from articles.desk import deliver
from backends.recorded_statements import recorded_statements
from checks.rounds import make_due
from monitoring.articles import queries
from monitoring.articles.queries import ArticleFilter
from monitoring.articles.reading import list_articles
from monitoring.auth.service import create_team
from monitoring.monitors.queries import MonitorFilter, list_monitors
from temporary_backends import temporary_backends

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tortoise.backends.base.client import BaseDBAsyncClient

pytestmark = [pytest.mark.anyio, pytest.mark.embedded("PostgreSQL has another planner")]

TEAMS, MONITORS_A_TEAM = 2, 400

EVERYTHING = MonitorFilter(status="pending", tags=("shop",), paused=False, search="shop")


@pytest.fixture(params=["as new", "analysed"])
async def connection(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[BaseDBAsyncClient]:
    async with temporary_backends(tmp_path) as backends:
        for number in range(TEAMS):
            team = await create_team(f"Team {number}", "business", MONITORS_A_TEAM)
            await make_due(MONITORS_A_TEAM, team_id=team.id)
        connection = backends.database.context.db()
        if request.param == "analysed":
            await connection.execute_query("ANALYZE")
        yield connection


@pytest.mark.parametrize("wanted", [MonitorFilter(), EVERYTHING], ids=["unfiltered", "by everything"])
@pytest.mark.parametrize("is_first", [True, False], ids=["first page", "far page"])
async def test_a_page_of_monitors_is_read_from_its_cursor_on(
    is_first: bool,  # noqa: FBT001 - a parameter
    wanted: MonitorFilter,
    connection: BaseDBAsyncClient,
) -> None:
    rows = await connection.execute_query_dict(
        "SELECT id, team_id FROM monitors ORDER BY id LIMIT 1 OFFSET 200"
    )
    after_id = None if is_first else UUID(rows[0]["id"])
    with recorded_statements() as statements:
        await list_monitors(UUID(rows[0]["team_id"]), wanted, 50, after_id)
    [statement] = statements
    explained = await connection.execute_query_dict(f"EXPLAIN QUERY PLAN {statement.sql}", statement.values)
    plan = [step["detail"] for step in explained]
    reading = next(step for step in plan if step.startswith("SEARCH monitors USING INDEX"))
    assert reading.endswith("(team_id=?)" if is_first else "(team_id=? AND id<?)")
    # If anything is sorted, it is only the page that was read.
    assert "USE TEMP B-TREE FOR ORDER BY" not in plan[: plan.index(reading) + 2]


async def test_articles_that_did_not_change_are_passed_over_in_indexes(
    connection: BaseDBAsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queries, "FEW_CHANGES", 0)
    article = await deliver()
    wanted = ArticleFilter(updated_since=datetime(2001, 1, 1, tzinfo=UTC))
    with recorded_statements() as statements:
        await list_articles(wanted, 50, UUID(int=article.id.int + 1))
    [statement] = [one for one in statements if "MAX(translated_at)" in one.sql]
    explained = await connection.execute_query_dict(f"EXPLAIN QUERY PLAN {statement.sql}", statement.values)
    searches = [step["detail"] for step in explained if step["detail"].startswith("SEARCH")]
    assert [search.split(" USING COVERING INDEX ")[0] for search in searches] == [
        "SEARCH articles",
        "SEARCH translations",
    ]
    assert [search.rpartition(" ")[2] for search in searches] == ["id<?)", "(article_id=?)"]
