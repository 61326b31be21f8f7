"""Measures how cost grows with locales and workers, with three numbers of each.

`large_tables` measures growth with monitors and results.
"""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from typing import TYPE_CHECKING

from articles_webhook import ARTICLE, AT_ONCE, HEADERS, PATH
from load import Load, write_request
from monitors_api import call, migrate
from postgres_and_redis import execute
from rounds import Scenario, take_turns
from seeds import issue_token, sow
from servers import LOCALES, running, service

if TYPE_CHECKING:
    from bench import Bench
    from rounds import Sample
    from servers import Server

ALL_LOCALES = [*LOCALES.split(","), *("hr", "sr", "sl", "et", "lv", "lt", "is", "ga", "mt", "ja")]
LOCALE_COUNTS = (5, 20, 30)
WORKERS = (1, 2, 4)


def measure_growth(bench: Bench) -> list[Scenario]:
    """Measure growth with locales, and with workers."""
    return [
        Scenario("by_locales", "Article, by locales", _by_locales(bench)),
        Scenario("by_workers", "List of 50, by workers", _by_workers(bench)),
    ]


def _by_locales(bench: Bench) -> dict[str, list[Sample]]:
    postgres, redis = bench.backends.postgres, bench.backends.redis
    names = {f"{count}": ",".join(ALL_LOCALES[:count]) for count in LOCALE_COUNTS}
    databases = {name: postgres.create(f"locales_{name}") for name in names}
    request = write_request("POST", PATH, HEADERS, ARTICLE)
    body = request.partition("\r\n\r\n")[2]
    with ExitStack() as stack:
        servers: dict[str, Server] = {}
        for name, locales in names.items():
            database, blog = f"{databases[name]}?sslmode=disable", bench.make_folder()
            migrate(database)
            backends = {"DATABASE_URL": database, "REDIS_URL": redis.new_database()}
            program = service(**backends, LOCALES=locales, BLOG_STORAGE_URL=f"file://{blog}")
            servers[name] = stack.enter_context(running(program))

        def run(name: str) -> Sample:
            port = servers[name].port
            length = len(call(port, "POST", PATH, HEADERS, body))
            load = Load([port], [request], (length, length), AT_ONCE, bench.effort.seconds)
            sample = bench.sample(load, servers[name])
            asyncio.run(execute(databases[name], "TRUNCATE articles CASCADE"))
            return sample

        samples = take_turns(list(servers), bench.effort.rounds, run)
    for database in databases.values():
        postgres.drop_database(database)
    return samples


def _by_workers(bench: Bench) -> dict[str, list[Sample]]:
    """Send the same load to one worker of `monitoring serve` and to several, on one database and Redis."""
    postgres, redis = bench.backends.postgres, bench.backends.redis
    database = postgres.create("workers")
    url, shared = f"{database}?sslmode=disable", redis.new_database()
    migrate(url)
    owners = asyncio.run(sow(database))
    with ExitStack() as stack:
        servers: dict[str, Server] = {}
        for count in WORKERS:
            program = service("serve", "--workers", f"{count}", DATABASE_URL=url, REDIS_URL=shared)
            servers[f"{count}"] = stack.enter_context(running(program))
        first = servers["1"].port
        headers = [{"Authorization": f"Bearer {issue_token(first, owner)}"} for owner in owners]
        requests = [write_request("GET", "/api/monitors", header) for header in headers]
        length = len(call(first, "GET", "/api/monitors", headers[0]))

        def run(name: str) -> Sample:
            load = Load([servers[name].port], requests, (length, length), seconds=bench.effort.seconds)
            return bench.sample(load, servers[name])

        samples = take_turns(list(servers), bench.effort.rounds, run)
    postgres.drop_database(database)
    return samples
