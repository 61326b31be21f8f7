"""H4: a list of many monitors, first page and far behind; uptime and response times over many results.

The results themselves are not there: what stands for them is what the service keeps of them, an hourly and a
daily row a monitor, and its changes of state. That is also what these requests read.
"""

from __future__ import annotations

import asyncio
import json
from base64 import urlsafe_b64encode
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import asyncpg  # type: ignore[import-untyped]
import orjson
from uuid_utils.compat import uuid7

from engines import execute, fetch
from load import Load, write_request
from monitors_api import call, migrate
from rounds import Scenario, take_turns
from seeds import issue_token, sow, sow_monitors
from servers import running, service

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from uuid import UUID

    from bench import Bench
    from rounds import Sample
    from seeds import Owner
    from servers import Server

MONITORS_AT_ONCE = 20_000
PAGE = 50
FAR_PAGE = 10_000
FIRST, FAR = "first page", "far page"
DAYS = 30
CHECKS_AN_HOUR = 120  # every 30 seconds, the shortest interval there is
RESULTS_A_MONITOR = DAYS * 24 * CHECKS_AN_HOUR


def measure_large_tables(bench: Bench) -> list[Scenario | str]:
    """Measure both."""
    return [*_measure_pages(bench), *_measure_results(bench)]


def _measure_pages(bench: Bench) -> Iterator[Scenario | str]:
    count = bench.effort.monitors
    far_page = min(FAR_PAGE, count // PAGE // 2)
    with running_on(bench, "many_monitors") as (server, owner, database):
        asyncio.run(add_monitors(database, owner.team_id, count - len(owner.monitor_ids)))
        token = issue_token(server.port, owner)
        paths = {FIRST: "/api/monitors", FAR: _path_of_page(database, far_page)}
        questions = {name: Question(server, token, path) for name, path in paths.items()}
        title = f"List of 50 of {count:,} monitors, page 1 and page {far_page:,}"
        yield Scenario("pages", title, ask_in_turn(bench, questions))


def _measure_results(bench: Bench) -> Iterator[Scenario | str]:
    count = bench.effort.results
    monitors = max(1, count // RESULTS_A_MONITOR)
    with running_on(bench, "many_results", monitors) as (server, owner, database):
        asyncio.run(add_rollups(database))
        token = issue_token(server.port, owner)
        path = f"/api/monitors/{owner.monitor_ids[monitors // 2]}"
        day = f"from={days_ago(DAYS)}&to={days_ago(0)}&window=day"
        paths = {
            "uptime of 30 days": f"{path}/uptime",
            "uptime of 30 days, day by day": f"{path}/uptime?{day}",
            "response times of 30 days": f"{path}/response-times?{day}",
        }
        title = f"Over {monitors * RESULTS_A_MONITOR:,} results, by rollups"
        questions = {name: Question(server, token, path) for name, path in paths.items()}
        yield Scenario("results", title, ask_in_turn(bench, questions))
    yield (
        f"The {monitors * RESULTS_A_MONITOR:,} results are not stored one by one here: they are those of"
        f" {monitors:,} monitors checked every 30 seconds for {DAYS} days, of which the service keeps"
        f" {monitors * DAYS * 24:,} hourly and {monitors * DAYS:,} daily rows, and here 20 changes of state"
        " a monitor."
    )


@contextmanager
def running_on(bench: Bench, name: str, monitors: int = PAGE) -> Iterator[tuple[Server, Owner, str]]:
    """Start the service on a new database with one team and its monitors."""
    postgres = bench.engines.postgres
    database = postgres.create(name)
    migrate(f"{database}?sslmode=disable")
    (owner,) = asyncio.run(sow(database, monitors, teams=1))
    url = f"{database}?sslmode=disable"
    with running(service(DATABASE_URL=url, REDIS_URL=bench.engines.redis.new_database())) as server:
        yield server, owner, database
    postgres.drop_database(database)


@dataclass(frozen=True)
class Question:
    """A path, who is asked for it, and with which token."""

    server: Server
    token: str
    path: str


def ask_in_turn(bench: Bench, questions: Mapping[str, Question], body: Any = None) -> dict[str, list[Sample]]:
    """Let questions take turns: GET, or POST of a body."""
    method = "POST" if body else "GET"

    def run(name: str) -> Sample:
        server, path = questions[name].server, questions[name].path
        headers = {"Authorization": f"Bearer {questions[name].token}"}
        length = len(call(server.port, method, path, headers, json.dumps(body) if body else ""))
        bounds = (length - 500, length + 500)  # figures have one digit more or less
        request = write_request(method, path, headers, body)
        return bench.sample(Load([server.port], [request], bounds, seconds=bench.effort.seconds), server)

    return take_turns(list(questions), bench.effort.rounds, run)


async def add_monitors(database: str, team_id: UUID, count: int) -> None:
    """Add monitors to a team, by COPY."""
    connection = await asyncpg.connect(database, ssl=False)
    try:
        now = datetime.now(UTC)
        for start in range(0, count, MONITORS_AT_ONCE):
            ids = [uuid7() for _ in range(min(MONITORS_AT_ONCE, count - start))]
            await sow_monitors(connection, team_id, ids, now)
    finally:
        await connection.close()
    await execute(database, "VACUUM ANALYZE monitors", "VACUUM ANALYZE watches", "CHECKPOINT")


async def add_rollups(database: str) -> None:
    """Write what is kept of `RESULTS_A_MONITOR` results of each monitor, and changes of its state."""
    latencies = orjson.dumps({str(bucket): 5 for bucket in range(210, 234)}).decode()
    statement = """
        INSERT INTO rollups (id, monitor_id, "window", starts_at, check_count, failed_check_count, latencies)
        SELECT gen_random_uuid(), monitors.id, '{window}', starts_at, {checks}, 1, '{latencies}'
        FROM monitors, generate_series(date_trunc('day', now()) - interval '{days} days',
                                       date_trunc('{window}', now()) - interval '1 {window}',
                                       interval '1 {window}') AS starts_at
    """
    windows = {"hour": CHECKS_AN_HOUR, "day": 24 * CHECKS_AN_HOUR}
    await execute(
        database,
        *(
            statement.format(window=window, checks=checks, latencies=latencies, days=DAYS)
            for window, checks in windows.items()
        ),
        "DELETE FROM state_changes",
        """
        INSERT INTO state_changes (id, monitor_id, changed_at, state)
        SELECT gen_random_uuid(), id, now() - interval '40 days' + n * interval '2 days',
               CASE WHEN n % 2 = 0 THEN 'up' ELSE 'down' END
        FROM monitors, generate_series(0, 19) AS n
        """,
        "UPDATE monitors SET created_at = now() - interval '40 days'",
        """
        INSERT INTO progress (job, done_until)
        VALUES ('hourly', date_trunc('hour', now())), ('daily', date_trunc('day', now()))
        """,
        "CREATE TABLE checks_of_any_day PARTITION OF checks DEFAULT",
        "VACUUM ANALYZE",
        "CHECKPOINT",
    )


def _path_of_page(database: str, number: int) -> str:
    """Name a page far behind, by the cursor that its predecessor ends with."""
    statement = "SELECT id FROM monitors ORDER BY id DESC OFFSET $1 LIMIT 1"
    last_id = asyncio.run(fetch(database, statement, (number - 1) * PAGE - 1))[0]["id"]
    return f"/api/monitors?cursor={urlsafe_b64encode(last_id.bytes)[:22].decode()}"


def days_ago(days: int) -> str:
    """Write a midnight, as a client asks for it."""
    midnight = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return (midnight - timedelta(days=days)).strftime("%Y-%m-%dT%H:%M:%SZ")
