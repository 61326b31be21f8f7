"""H1: measures listing 50 monitors, creating one and reading one.

Each request includes the token, the key, the rate limit and validation.
"""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import orjson

from bench import Bench
from load import Load, write_request
from postgres_and_redis import execute, fetch
from rounds import Sample, Samples, Scenario, take_turns
from seeds import NEW_MONITOR, Owner, issue_token, sow
from servers import GO_MONITORS, ONE_CORE, SIGNING_KEY, Program, Server, peer, running, service
from targets import FASTAPI, SERVICE, STARLETTE

SECONDS_BETWEEN_CHECKS = 60  # as in
CACHED = {"KEY_CACHE_SECONDS": "10"}
MOMENT_BYTES = 8  # programs render times with different lengths, and a body has several


@dataclass(frozen=True)
class Cast:
    """The measured programs, each with its own database of the same rows, and the API callers."""

    servers: Mapping[str, Server]
    databases: Mapping[str, str]
    owners: Sequence[Owner]
    tokens: Sequence[str]

    def headers(self, number: int = 0) -> dict[str, str]:
        """Return the headers that authorise one of the owners."""
        return {"Authorization": f"Bearer {self.tokens[number]}"}


def programs() -> dict[str, Callable[[str, str], Program]]:
    """Return a function for each program that starts it on a database and a Redis."""
    started = {
        SERVICE: lambda database, redis: service(DATABASE_URL=f"{database}?sslmode=disable", REDIS_URL=redis),
        FASTAPI: lambda database, redis: peer(
            FASTAPI, "fastapi_monitors", DATABASE_URL=database, REDIS_URL=redis
        ),
        STARLETTE: lambda database, redis: peer(
            STARLETTE, "starlette_monitors", DATABASE_URL=database, REDIS_URL=redis, **CACHED
        ),
    }
    if GO_MONITORS.exists():
        settings = {"SIGNING_KEY": SIGNING_KEY, **CACHED, **ONE_CORE}
        started["Go, key cached"] = lambda database, redis: Program(
            "Go",
            (str(GO_MONITORS),),
            {**settings, "DATABASE_URL": f"{database}?sslmode=disable", "REDIS_URL": redis},
        )
    return started


@contextmanager
def running_cast(bench: Bench) -> Iterator[Cast]:
    """Start every program on its own copy of the same rows."""
    postgres, redis = bench.backends.postgres, bench.backends.redis
    url = postgres.create("monitors")
    migrate(f"{url}?sslmode=disable")
    owners = asyncio.run(sow(url))
    databases = {
        name: postgres.copy_database(f"monitors_{number}", "monitors")
        for number, name in enumerate(programs())
    }
    with ExitStack() as stack:
        servers = {
            name: stack.enter_context(running(start(databases[name], redis.new_database())))
            for name, start in programs().items()
        }
        tokens = [issue_token(servers[SERVICE].port, owner) for owner in owners]
        yield Cast(servers, databases, owners, tokens)
    for database in (*databases.values(), url):
        postgres.drop_database(database)


def migrate(url: str) -> None:
    """Create the service's schema in an empty database. All programs use this schema here."""
    program = service("migrate", DATABASE_URL=url)
    subprocess.run(program.command, env=dict(program.environment), check=True)


def measure_monitors_api(bench: Bench) -> list[Scenario]:
    """Measure the three operations with eight connections, and with one to newly started servers."""
    scenarios: list[Scenario] = []
    for connections in (8, 1):
        with running_cast(bench) as cast:
            if not scenarios:
                demand_same_answers(cast)
                demand_same_creations(cast)
            measures = (_measure_list, _measure_create, _measure_get)
            scenarios += [measure(bench, cast, connections) for measure in measures]
    return scenarios


def over(connections: int, key: str, title: str, samples: Samples) -> Scenario:
    """Return a scenario, with a different key and title if it has only one connection."""
    if connections == 1:
        return Scenario(f"{key}_one_connection", f"{title}, one connection", samples)
    return Scenario(key, title, samples)


def _measure_list(bench: Bench, cast: Cast, connections: int) -> Scenario:
    requests = [write_request("GET", "/api/monitors", cast.headers(n)) for n, _ in enumerate(cast.tokens)]

    def run(name: str) -> Sample:
        check_some(cast.databases[name], bench.effort.seconds)
        return bench.sample(_load(bench, cast, name, requests, connections), cast.servers[name])

    return over(connections, "list", "List of 50", take_turns(list(cast.servers), bench.effort.rounds, run))


def _measure_get(bench: Bench, cast: Cast, connections: int) -> Scenario:
    requests = [
        write_request("GET", f"/api/monitors/{owner.monitor_ids[n % 50]}", cast.headers(n))
        for n, owner in enumerate(cast.owners)
    ]

    def run(name: str) -> Sample:
        check_some(cast.databases[name], bench.effort.seconds)
        return bench.sample(_load(bench, cast, name, requests, connections), cast.servers[name])

    return over(connections, "get", "Get one", take_turns(list(cast.servers), bench.effort.rounds, run))


def _measure_create(bench: Bench, cast: Cast, connections: int) -> Scenario:
    requests = [
        write_request("POST", "/api/monitors", cast.headers(n), NEW_MONITOR)
        for n, _ in enumerate(cast.tokens)
    ]

    def run(name: str) -> Sample:
        sample = bench.sample(_load(bench, cast, name, requests, connections), cast.servers[name])
        forget_created(cast.databases[name])
        return sample

    return over(connections, "create", "Create one", take_turns(list(cast.servers), bench.effort.rounds, run))


def forget_created(database: str) -> None:
    """Delete what a round created, so that every round starts from the same rows."""
    deletion = "DELETE FROM monitors WHERE status = 'pending'"
    entries = "DELETE FROM audit_entries"
    count = "UPDATE teams SET monitors_count = (SELECT count(*) FROM monitors WHERE team_id = teams.id)"
    tables = ("state_changes", "watches", "monitors", "audit_entries", "teams")
    asyncio.run(execute(database, deletion, entries, count, *(f"VACUUM ANALYZE {table}" for table in tables)))


def check_some(database: str, seconds: float) -> None:
    """Update the monitors that would be checked within `seconds`, if each is checked once a minute.

    In production, such rows have also just been updated.
    """
    share = seconds / SECONDS_BETWEEN_CHECKS
    checked = "last_checked_at = now(), next_check_at = now() + interval '1 minute'"
    update = f"UPDATE watches SET {checked} WHERE random() < {share}"  # noqa: S608 - a number of our own
    asyncio.run(execute(database, update))


def _load(bench: Bench, cast: Cast, name: str, requests: Sequence[str], connections: int) -> Load:
    port = cast.servers[name].port
    head, _, body = requests[0].partition("\r\n\r\n")
    method, path, *_ = head.split(" ")
    answer = call(port, method, path, cast.headers(), body)
    room = MOMENT_BYTES * answer.count(b"_at")
    bounds = (len(answer) - room, len(answer) + room)
    return Load([port], requests, bounds, connections, bench.effort.seconds)


def call(port: int, method: str, path: str, headers: Mapping[str, str], body: str = "") -> bytes:
    """Send one request and return the response body. The status must be 2xx."""
    request = Request(f"http://127.0.0.1:{port}{path}", body.encode() or None, dict(headers), method=method)
    if body:
        request.add_header("Content-Type", "application/json")
    try:
        with urlopen(request) as answer:  # noqa: S310 - http, loopback
            content: bytes = answer.read()
            return content
    except HTTPError as error:
        raise RuntimeError(f"{method} {path} on port {port}: {error.code} {error.read()[:500]!r}") from None


def demand_same_answers(cast: Cast) -> None:
    """Stop if a program's response differs from the service's, because the programs must do the same work."""
    monitor = f"/api/monitors/{cast.owners[0].monitor_ids[7]}"
    for path in ("/api/monitors", "/api/monitors?limit=3", monitor):
        answers = {
            name: _read(orjson.loads(call(server.port, "GET", path, cast.headers())))
            for name, server in cast.servers.items()
        }
        for name, answer in answers.items():
            if answer != answers[SERVICE]:
                raise RuntimeError(f"{name} answers GET {path} otherwise than the service")


def demand_same_creations(cast: Cast) -> None:
    """Stop if a program's response or audit entry for a creation differs from the service's."""
    created = {name: _create_one(cast, name) for name in cast.servers}
    for name, one in created.items():
        if one != created[SERVICE]:
            raise RuntimeError(f"{name} creates otherwise than the service: {one}, {created['service']}")


def _create_one(cast: Cast, name: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Create a monitor, and return the response and the audit entries, without values that always differ."""
    body = orjson.dumps(NEW_MONITOR).decode()
    answer = orjson.loads(call(cast.servers[name].port, "POST", "/api/monitors", cast.headers(), body))
    monitor_id = answer.pop("id")
    rows = asyncio.run(fetch(cast.databases[name], "SELECT * FROM audit_entries"))
    forget_created(cast.databases[name])
    entries = [
        dict(row, subject_id=row["subject_id"] == monitor_id, id=None, happened_at=None) for row in rows
    ]
    return {key: value for key, value in answer.items() if not key.endswith("_at")}, entries


def _read(node: Any, key: str = "") -> Any:
    """Return JSON in a form for comparison, which hides cursors and different notations of times."""
    if isinstance(node, dict):
        return {name: _read(value, name) for name, value in node.items()}
    if isinstance(node, list):
        return [_read(item) for item in node]
    if key == "next_cursor":
        return node is not None
    return datetime.fromisoformat(node) if node and key.endswith("_at") else node
