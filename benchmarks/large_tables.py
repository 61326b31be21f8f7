"""H4: measures late pages, uptime, and how costs grow with three numbers of monitors and of results.

The tables contain no individual results, but what the service derives from them and these requests read: the
hourly and daily rollups of each monitor, and its changes of state.
"""

from __future__ import annotations

import asyncio
import json
import time
from base64 import urlsafe_b64encode
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import asyncpg  # type: ignore[import-untyped]
import orjson

from load import Load, write_request
from monitors_api import call, migrate
from postgres_and_redis import execute, fetch
from rounds import Scenario, take_turns
from seeds import NEW_MONITOR, issue_token, sow
from servers import running, service

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from bench import Bench
    from rounds import Sample
    from seeds import Owner
    from servers import Server

PAGE = 50
FAR_PAGE = 10_000
FIRST, FAR = "first page", "far page"
DAYS = 30
CHECKS_AN_HOUR = 120  # one every 30 seconds, which is the shortest interval
RESULTS_A_MONITOR = DAYS * 24 * CHECKS_AN_HOUR


def measure_many_monitors(bench: Bench) -> list[Scenario]:
    """Measure two pages of the largest team, and a page and a creation in teams of three sizes."""
    count = bench.effort.monitors
    far_page = min(FAR_PAGE, count // PAGE // 2)
    with ExitStack() as stack:
        teams = {size: _start_team(bench, stack, size) for size in _sizes(count)}
        largest = teams[count]
        pages = {
            FIRST: largest.ask("/api/monitors"),
            FAR: largest.ask(_path_of_page(largest.database, far_page)),
        }
        lists = {f"{size:,}": team.ask("/api/monitors") for size, team in teams.items()}
        return [
            Scenario(
                "pages",
                f"List of 50 of {count:,} monitors, page 1 and page {far_page:,}",
                ask_in_turn(bench, pages),
            ),
            Scenario("by_monitors", "List of 50, by monitors of the team", ask_in_turn(bench, lists)),
            Scenario(
                "create_by_monitors",
                "Create one, by monitors of the team",
                ask_in_turn(bench, lists, body=NEW_MONITOR),
            ),
        ]


def measure_many_results(bench: Bench) -> list[Scenario | str]:
    """Measure uptime and response times over the most results, and response times over three sizes."""
    with ExitStack() as stack:
        teams = {
            size: _start_checked_team(bench, stack, max(1, size // RESULTS_A_MONITOR))
            for size in _sizes(bench.effort.results)
        }
        largest = teams[bench.effort.results]
        monitors = len(largest.owner.monitor_ids)
        stored = monitors * RESULTS_A_MONITOR
        path, day = _path_of_some_monitor(largest), f"from={days_ago(DAYS)}&to={days_ago(0)}&window=day"
        summed = {
            "uptime of 30 days": largest.ask(f"{path}/uptime"),
            "uptime of 30 days, day by day": largest.ask(f"{path}/uptime?{day}"),
            "response times of 30 days": largest.ask(f"{path}/response-times?{day}"),
        }
        by_size = {
            f"{len(team.owner.monitor_ids) * RESULTS_A_MONITOR:,}": team.ask(
                f"{_path_of_some_monitor(team)}/response-times?from={days_ago(DAYS)}"
            )
            for team in teams.values()
        }
        told = (
            f"The {stored:,} results are not stored one by one here. They are those of {monitors:,} monitors"
            f" checked every 30 seconds for {DAYS} days. Of these the service keeps {monitors * DAYS * 24:,}"
            f" hourly and {monitors * DAYS:,} daily rows, and here 20 state changes per monitor."
        )
        return [
            Scenario("results", f"Over {stored:,} results, by rollups", ask_in_turn(bench, summed)),
            Scenario(
                "by_results", "Response times of 30 days, by results stored", ask_in_turn(bench, by_size)
            ),
            told,
        ]


@dataclass(frozen=True)
class Team:
    """A team with its own service, its own database and a token."""

    server: Server
    owner: Owner
    database: str
    token: str

    def ask(self, path: str) -> Question:
        """Return a question for the team's service."""
        return Question(self.server, self.token, path)


@dataclass(frozen=True)
class Question:
    """A path to request, the server to send the request to, and the token."""

    server: Server
    token: str
    path: str


def _start_team(bench: Bench, stack: ExitStack, monitors: int) -> Team:
    server, owner, database = stack.enter_context(_running_on(bench, f"monitors_{monitors}"))
    asyncio.run(add_monitors(database, monitors - len(owner.monitor_ids)))
    return Team(server, owner, database, issue_token(server.port, owner))


def _start_checked_team(bench: Bench, stack: ExitStack, monitors: int) -> Team:
    server, owner, database = stack.enter_context(_running_on(bench, f"results_of_{monitors}", monitors))
    asyncio.run(add_rollups(database))
    return Team(server, owner, database, issue_token(server.port, owner))


def _path_of_some_monitor(team: Team) -> str:
    return f"/api/monitors/{team.owner.monitor_ids[len(team.owner.monitor_ids) // 2]}"


@contextmanager
def _running_on(bench: Bench, name: str, monitors: int = PAGE) -> Iterator[tuple[Server, Owner, str]]:
    """Start the service on a new database with one team and its monitors."""
    postgres = bench.backends.postgres
    database = postgres.create(name)
    migrate(f"{database}?sslmode=disable")
    (owner,) = asyncio.run(sow(database, monitors, teams=1))
    url = f"{database}?sslmode=disable"
    with running(service(DATABASE_URL=url, REDIS_URL=bench.backends.redis.new_database())) as server:
        yield server, owner, database
    postgres.drop_database(database)


def ask_in_turn(bench: Bench, questions: Mapping[str, Question], body: Any = None) -> dict[str, list[Sample]]:
    """Measure the questions in turn: GET, or POST with a body."""
    method = "POST" if body else "GET"

    def run(name: str) -> Sample:
        server, path = questions[name].server, questions[name].path
        headers = {"Authorization": f"Bearer {questions[name].token}"}
        length = len(call(server.port, method, path, headers, json.dumps(body) if body else ""))
        bounds = (length - 500, length + 500)  # numbers may differ by a digit
        request = write_request(method, path, headers, body)
        return bench.sample(Load([server.port], [request], bounds, seconds=bench.effort.seconds), server)

    return take_turns(list(questions), bench.effort.rounds, run)


async def add_monitors(database: str, count: int) -> None:
    """Add copies of a monitor to the only team, all older than the existing monitors."""
    connection = await asyncpg.connect(database, ssl=False)
    try:
        # The foreign keys are valid by construction, and checking them would take half of the time.
        await connection.execute("SET session_replication_role = replica")
        oldest_at_ms = round(time.time() * 1000) - count
        for table in ("monitors", "watches", "state_changes"):
            await _multiply(connection, table, count, oldest_at_ms)
    finally:
        await connection.close()
    await execute(database, "VACUUM ANALYZE monitors", "VACUUM ANALYZE watches", "CHECKPOINT")


async def _multiply(connection: asyncpg.Connection, table: str, count: int, oldest_at_ms: int) -> None:
    """Copy a row `count` times.

    Row n and monitor n get the same UUIDv7, a millisecond after the previous one.
    """
    statement = (
        "SELECT column_name FROM information_schema.columns WHERE table_name = $1 AND is_generated = 'NEVER'"
    )
    columns = [row["column_name"] for row in await connection.fetch(statement, table)]
    id_ = f"(lpad(to_hex({oldest_at_ms} + n), 12, '0') || '70008000' || lpad(to_hex(n), 12, '0'))::uuid"
    values = [id_ if name in ("id", "monitor_id") else name for name in columns]
    await connection.execute(
        f"INSERT INTO {table} ({', '.join(columns)}) SELECT {', '.join(values)}"  # noqa: S608 - names of our own
        f" FROM (SELECT * FROM {table} LIMIT 1) AS one, generate_series(1, {count}) AS n",
        timeout=600,
    )


async def add_rollups(database: str) -> None:
    """Insert the rollups of `RESULTS_A_MONITOR` results for each monitor, and changes of its state."""
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
    """Return the path of page `number`, with the cursor from the end of the previous page."""
    statement = "SELECT id FROM monitors ORDER BY id DESC OFFSET $1 LIMIT 1"
    last_id = asyncio.run(fetch(database, statement, (number - 1) * PAGE - 1))[0]["id"]
    return f"/api/monitors?cursor={urlsafe_b64encode(last_id.bytes)[:22].decode()}"


def days_ago(days: int) -> str:
    """Return the midnight UTC `days` days ago, in the format of a query."""
    midnight = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return (midnight - timedelta(days=days)).strftime("%Y-%m-%dT%H:%M:%SZ")


def _sizes(largest: int) -> tuple[int, int, int]:
    return largest // 100, largest // 10, largest
