"""H2: measures the acceptance of articles of 20 KB for 20 locales, which are durably stored first.

Nothing is translated, because TRANSLATOR is not set. On SQLite, where the worker would run in the same
process, neither the service nor the peers send messages. On PostgreSQL, all of them send one message for each
article.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path

from bench import Bench
from load import SERIAL, Load, write_request
from monitors_api import call, migrate, over
from postgres_and_redis import execute, fetch
from rounds import Sample, Samples, Scenario, take_turns
from servers import LOCALES, WEBHOOK_SECRET, Program, peer, running, service
from targets import ROW_BY_ROW, SERVICE

AT_ONCE = 16
PATH = "/api/webhooks/publisher"
HEADERS = {"X-Webhook-Secret": WEBHOOK_SECRET}

COUNT = """
    SELECT (SELECT count(*) FROM articles) AS articles, (SELECT count(*) FROM translations) AS translations
"""

UNIT_OF_WORK = "FastAPI + SQLAlchemy, unit of work"
ONE_STATEMENT = "Starlette + asyncpg, one statement"

_PARAGRAPH = (
    "<p>A shoe that <strong>fits</strong> beats one that shines: press the tip with your thumb, walk a few"
    ' steps uphill, and read <a href="https://blog.example.com/fit">our guide</a> before you buy.</p>'
)
ARTICLE = {
    "article": {
        "id": f"art_{SERIAL}",
        "title": "How to choose running shoes",
        "slug": f"choose-running-shoes-{SERIAL}",
        "content_html": "<h1>Fit first</h1>" + _PARAGRAPH * (20_000 // len(_PARAGRAPH)),
        "meta_description": "Three questions to ask before you buy.",
        "tags": ["running", "shoes"],
    },
    "main_image": {"url": "https://cdn.example.com/shoes.jpg", "alt": "A pair of running shoes"},
    "website": {"id": "web_1", "baseUrl": "https://blog.example.com"},
    "published_at": "2026-11-20T09:00:00+00:00",
    "timestamp": "2026-11-20T09:00:05+00:00",
}


def measure_articles(bench: Bench) -> list[Scenario]:
    """Measure on both databases, with 16 connections, and with one connection to newly started servers."""
    return [
        scenario
        for connections in (AT_ONCE, 1)
        for scenario in (_measure_on_postgresql(bench, connections), _measure_on_sqlite(bench, connections))
    ]


def _measure_on_postgresql(bench: Bench, connections: int) -> Scenario:
    """Measure with rows in PostgreSQL and messages in Redis."""
    postgres, redis = bench.backends.postgres, bench.backends.redis

    def by_hand(name: str, module: str, database: str, blog: Path, row_by_row: str) -> Program:
        folder = {"BLOG_FOLDER": str(blog), "ROW_BY_ROW": row_by_row}
        return peer(name, module, DATABASE_URL=database, REDIS_URL=redis.new_database(), **folder)

    def ours(database: str, blog: Path) -> Program:
        backends = {"DATABASE_URL": f"{database}?sslmode=disable", "REDIS_URL": redis.new_database()}
        return service(**backends, BLOG_STORAGE_URL=f"file://{blog}")

    programs: dict[str, Callable[[str, Path], Program]] = {
        SERVICE: ours,
        ROW_BY_ROW: partial(by_hand, "row by row", "fastapi_articles", row_by_row="1"),
        UNIT_OF_WORK: partial(by_hand, "unit of work", "fastapi_articles", row_by_row="0"),
        ONE_STATEMENT: partial(by_hand, "one statement", "starlette_articles", row_by_row="0"),
    }
    databases = {name: postgres.create(f"articles_{number}") for number, name in enumerate(programs)}
    for database in databases.values():
        migrate(f"{database}?sslmode=disable")

    def empty(name: str) -> tuple[int, int]:
        (counted,) = asyncio.run(fetch(databases[name], COUNT))
        asyncio.run(execute(databases[name], "TRUNCATE articles CASCADE", "CHECKPOINT"))
        return counted["articles"], counted["translations"]

    starts = {name: partial(start, databases[name]) for name, start in programs.items()}
    samples = _measure(bench, starts, empty, connections)
    for database in databases.values():
        postgres.drop_database(database)
    return over(connections, "ingest_postgresql", "Article with 20 locales, PostgreSQL", samples)


def _measure_on_sqlite(bench: Bench, connections: int) -> Scenario:
    """Measure with rows in a SQLite file, and the worker in the same process."""

    def by_hand(name: str, path: Path, blog: Path, row_by_row: str) -> Program:
        told = {"DATABASE_URL": f"sqlite://{path}", "BLOG_FOLDER": str(blog), "ROW_BY_ROW": row_by_row}
        return peer(name, "fastapi_articles", **told)

    programs: dict[str, Callable[[Path, Path], Program]] = {
        SERVICE: lambda path, blog: service(
            DATABASE_URL=f"sqlite://{path}", BLOG_STORAGE_URL=f"file://{blog}"
        ),
        ROW_BY_ROW: partial(by_hand, "row by row", row_by_row="1"),
        UNIT_OF_WORK: partial(by_hand, "unit of work", row_by_row="0"),
    }
    paths = {name: bench.make_folder() / "monitoring.db" for name in programs}
    for path in paths.values():
        migrate(f"sqlite://{path}")

    def empty(name: str) -> tuple[int, int]:
        with closing(sqlite3.connect(paths[name], timeout=60)) as connection, connection:
            articles, translations = connection.execute(COUNT).fetchone()
            connection.execute("DELETE FROM translations")
            connection.execute("DELETE FROM articles")
            return articles, translations

    starts = {name: partial(start, paths[name]) for name, start in programs.items()}
    samples = _measure(bench, starts, empty, connections)
    return over(connections, "ingest_sqlite", "Article with 20 locales, SQLite", samples)


def _measure(
    bench: Bench,
    starts: Mapping[str, Callable[[Path], Program]],
    empty: Callable[[str], tuple[int, int]],
    connections: int,
) -> Samples:
    request = write_request("POST", PATH, HEADERS, ARTICLE)
    body = request.partition("\r\n\r\n")[2]
    with ExitStack() as stack:
        blogs = {name: bench.make_folder() for name in starts}
        servers = {name: stack.enter_context(running(start(blogs[name]))) for name, start in starts.items()}
        length = {
            name: len(call(server.port, "POST", PATH, HEADERS, body)) for name, server in servers.items()
        }

        kept = dict.fromkeys(servers, 0)

        def run(name: str) -> Sample:
            bounds = (length[name], length[name])
            load = Load([servers[name].port], [request], bounds, connections, bench.effort.seconds)
            sample = bench.sample(load, servers[name])
            pages = len(list(blogs[name].glob("*/en.json")))
            new, kept[name] = pages - kept[name], pages
            if empty(name) != (new, new * len(LOCALES.split(","))):
                raise RuntimeError(f"{name} has not kept what it accepted")
            return sample

        return take_turns(list(servers), bench.effort.rounds, run)
