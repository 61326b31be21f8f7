"""Flame graphs of the service under load, by py-spy, with a sentence on where the time goes."""

from __future__ import annotations

import asyncio
import subprocess
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

from articles_webhook import ARTICLE, AT_ONCE, HEADERS, PATH
from checks_speed import checking_service, running_checked
from flame_graph import draw_flames
from load import Load, write_request
from monitors_api import call, migrate, running_cast
from seeds import NEW_MONITOR
from servers import BUILD, PEERS_PYTHON, running, service

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bench import Bench
    from servers import Server

PROFILES = BUILD / "profiles"
SECONDS = 4.0
SAMPLES_A_SECOND = 250
SHOWN_PLACES = 6

# uvloop, sockets and the HTTP parser are not Python: their time counts for the frame that runs the loop.
LOOP = "Runner.run (asyncio/runners.py"


def record_flames(bench: Bench) -> list[str]:
    """Record the three hot paths, write their graphs, and say where the time goes."""
    PROFILES.mkdir(parents=True, exist_ok=True)
    return [*_of_monitors(bench), *_of_articles(bench), *_of_checks(bench)]


def _of_monitors(bench: Bench) -> Iterator[str]:
    with running_cast(bench, ["service"]) as cast:
        server = cast.servers["service"]
        owners = range(len(cast.tokens))  # requests of a single one would wait for its team's lock
        for name, requests in (
            ("list", [write_request("GET", "/api/monitors", cast.headers(n)) for n in owners]),
            (
                "create",
                [write_request("POST", "/api/monitors", cast.headers(n), NEW_MONITOR) for n in owners],
            ),
        ):
            load = Load([server.port], requests, (1, 10**9), seconds=SECONDS + 1)
            yield _record(f"H1, {name}", f"h1-{name}", server, partial(bench.client.run, load))


def _of_articles(bench: Bench) -> Iterator[str]:
    postgres, redis = bench.backends.postgres, bench.backends.redis
    database, blog = postgres.create("flames"), bench.make_folder()
    migrate(f"{database}?sslmode=disable")
    request = write_request("POST", PATH, HEADERS, ARTICLE)
    backends = {"DATABASE_URL": f"{database}?sslmode=disable", "REDIS_URL": redis.new_database()}
    with running(service(**backends, BLOG_STORAGE_URL=f"file://{blog}")) as server:
        call(server.port, "POST", PATH, HEADERS, request.partition("\r\n\r\n")[2])
        load = Load([server.port], [request], (1, 10**9), AT_ONCE, SECONDS + 1.5)
        yield _record("H2, an article", "h2-article", server, lambda: bench.client.run(load))
    postgres.drop_database(database)


def _of_checks(bench: Bench) -> Iterator[str]:
    with (
        running_checked() as checked,
        checking_service(bench, checked, "https") as (server, check_all),
    ):

        def keep_checking() -> None:
            for _ in range(3):
                asyncio.run(check_all())

        yield _record("H3, checks over https", "h3-check", server, keep_checking)


def _record(title: str, name: str, server: Server, work: Callable[[], object]) -> str:
    """Sample the stacks while the work runs. Return the sentence."""
    work()  # work that happens only once is no part of the graph
    raw = BUILD / f"{name}.stacks"
    raw.unlink(missing_ok=True)
    spy = [
        *(str(PEERS_PYTHON.with_name("py-spy")), "record", "--pid", str(server.pid), "--format", "raw"),
        *("--duration", str(round(SECONDS)), "--rate", str(SAMPLES_A_SECOND), "--output", str(raw)),
        "--nonblocking",  # stopped threads would look busy while they go back to waiting
    ]
    recording = subprocess.Popen(spy, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    work()
    _, complaint = recording.communicate(timeout=60)
    if not raw.exists():
        return (
            f"{title}: no flame graph, because py-spy cannot read processes here: {complaint.strip()[:200]}"
        )
    stacks = read_stacks(raw.read_text())
    (PROFILES / f"{name}.svg").write_text(draw_flames(title, stacks))
    return f"{title} ([flame graph](profiles/{name}.svg)): {describe(stacks)}."


def read_stacks(raw: str) -> Counter[tuple[str, ...]]:
    """Read `frame;frame;… count` lines, from the frame that runs the loop on: all are the same before it.

    A stack that does not begin where a thread begins was read while it changed, and is left out.
    """
    stacks: Counter[tuple[str, ...]] = Counter()
    for line in raw.splitlines():
        stack, _, count = line.rpartition(" ")
        frames = stack.split(";")
        loop = next((number for number, frame in enumerate(frames) if frame.startswith(LOOP)), None)
        if loop is not None or "_bootstrap" in frames[0]:
            stacks[tuple(frames[loop or 0 :])] += int(count)
    return stacks


def describe(stacks: Counter[tuple[str, ...]]) -> str:
    """Say in which packages the innermost frames are."""
    total = stacks.total()
    places: Counter[str] = Counter()
    for stack, count in stacks.items():
        places[_place_of(stack[-1])] += count
    return ", ".join(f"{place} {count / total:.0%}" for place, count in places.most_common(SHOWN_PLACES))


def _place_of(frame: str) -> str:
    """Return a frame's package, or our room, from `function (package/module.py:line)`."""
    if frame.startswith(LOOP):
        return "the loop and its calls in C"
    first, *others = frame.rpartition("(")[2].split("/")
    if first == "monitoring" and others:
        return f"monitoring.{others[0].partition('.')[0]}"
    return first.partition(".")[0]
