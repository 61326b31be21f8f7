"""How cost grows with monitors, results, locales and replicas: three sizes of each."""

from __future__ import annotations

import asyncio
import shutil
from contextlib import ExitStack
from typing import TYPE_CHECKING

from articles_webhook import ARTICLE, AT_ONCE, HEADERS, PATH
from engines import execute
from large_tables import (
    DAYS,
    RESULTS_A_MONITOR,
    Question,
    add_monitors,
    add_rollups,
    ask_in_turn,
    days_ago,
    running_on,
)
from load import Load, write_request
from monitors_api import call, migrate
from rounds import Scenario, take_turns
from seeds import NEW_MONITOR, issue_token, sow
from servers import BUILD, LOCALES, running, service

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench import Bench
    from rounds import Sample
    from servers import Server

ALL_LOCALES = [*LOCALES.split(","), *("hr", "sr", "sl", "et", "lv", "lt", "is", "ga", "mt", "ja")]
LOCALE_COUNTS = (5, 20, 30)
REPLICAS = (1, 2, 4)


def measure_growth(bench: Bench) -> list[Scenario | str]:
    """Measure all four."""
    return [
        *_by_monitors(bench),
        Scenario("by_results", "Response times of 30 days, by results stored", _by_results(bench)),
        Scenario("by_locales", "Article, by locales", _by_locales(bench)),
        Scenario("by_replicas", "List of 50, by replicas", _by_replicas(bench)),
    ]


def _by_monitors(bench: Bench) -> list[Scenario]:
    questions = {}
    with ExitStack() as stack:
        for count in _sizes(bench.effort.monitors):
            server, owner, database = stack.enter_context(running_on(bench, f"monitors_{count}"))
            asyncio.run(add_monitors(database, owner.team_id, count - len(owner.monitor_ids)))
            questions[f"{count:,}"] = Question(server, issue_token(server.port, owner), "/api/monitors")
        return [
            Scenario("by_monitors", "List of 50, by monitors of the team", ask_in_turn(bench, questions)),
            Scenario(
                "create_by_monitors",
                "Create one, by monitors of the team",
                ask_in_turn(bench, questions, NEW_MONITOR),
            ),
        ]


def _by_results(bench: Bench) -> dict[str, list[Sample]]:
    questions = {}
    with ExitStack() as stack:
        for count in _sizes(bench.effort.results):
            monitors = max(1, count // RESULTS_A_MONITOR)
            server, owner, database = stack.enter_context(running_on(bench, f"results_{count}", monitors))
            asyncio.run(add_rollups(database))
            path = f"/api/monitors/{owner.monitor_ids[monitors // 2]}/response-times?from={days_ago(DAYS)}"
            name = f"{monitors * RESULTS_A_MONITOR:,}"
            questions[name] = Question(server, issue_token(server.port, owner), path)
        return ask_in_turn(bench, questions)


def _by_locales(bench: Bench) -> dict[str, list[Sample]]:
    postgres, redis = bench.engines.postgres, bench.engines.redis
    names = {f"{count}": ",".join(ALL_LOCALES[:count]) for count in LOCALE_COUNTS}
    databases = {name: postgres.create(f"locales_{name}") for name in names}
    request = write_request("POST", PATH, HEADERS, ARTICLE)
    body = request.partition("\r\n\r\n")[2]
    with ExitStack() as stack:
        servers: dict[str, Server] = {}
        for name, locales in names.items():
            database, blog = f"{databases[name]}?sslmode=disable", BUILD / f"blog-of-{name}"
            migrate(database)
            shutil.rmtree(blog, ignore_errors=True)
            blog.mkdir()
            stack.callback(shutil.rmtree, blog)
            engines = {"DATABASE_URL": database, "REDIS_URL": redis.new_database()}
            program = service(**engines, LOCALES=locales, BLOG_STORAGE_URL=f"file://{blog}")
            servers[name] = stack.enter_context(running(program))

        def run(name: str) -> Sample:
            port = servers[name].port
            length = len(call(port, "POST", PATH, HEADERS, body))
            load = Load([port], [request], (length, length), AT_ONCE, bench.effort.seconds)
            sample = bench.sample(load, servers[name])
            asyncio.run(execute(databases[name], "TRUNCATE articles, translations"))
            return sample

        samples = take_turns(list(servers), bench.effort.rounds, run)
    for database in databases.values():
        postgres.drop_database(database)
    return samples


def _by_replicas(bench: Bench) -> dict[str, list[Sample]]:
    """Let the same load go to one replica, or be spread over several, on one database and one Redis."""
    postgres, redis = bench.engines.postgres, bench.engines.redis
    database = postgres.create("replicas")
    url, shared = f"{database}?sslmode=disable", redis.new_database()
    migrate(url)
    owners = asyncio.run(sow(database))
    with ExitStack() as stack:
        program = service(DATABASE_URL=url, REDIS_URL=shared)
        replicas = [stack.enter_context(running(program)) for _ in range(max(REPLICAS))]
        tokens = [issue_token(replicas[0].port, owner) for owner in owners]
        headers = [{"Authorization": f"Bearer {token}"} for token in tokens]
        requests = [write_request("GET", "/api/monitors", header) for header in headers]
        length = len(call(replicas[0].port, "GET", "/api/monitors", headers[0]))

        def run(name: str) -> Sample:
            asked = replicas[: int(name)]
            ports = [replica.port for replica in asked]
            load = Load(ports, requests, (length, length), seconds=bench.effort.seconds)
            return bench.sample(load, *asked)

        samples = take_turns([str(count) for count in REPLICAS], bench.effort.rounds, run)
    postgres.drop_database(database)
    return samples


def _sizes(largest: int) -> Iterator[int]:
    yield from (largest // 100, largest // 10, largest)
