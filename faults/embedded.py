"""Kill the embedded service, on SQLite, while strangers ask for its readiness and an operator runs commands.

At last it is away for longer than its heartbeats may be silent. Nobody is accused of that.

    python faults/embedded.py --seconds 30 --seed 1

Exits with 0 and the figures, or with 1 and every violation.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import threading
import time
from contextlib import closing, contextmanager
from pathlib import Path
from random import Random
from sqlite3 import Row, connect
from typing import TYPE_CHECKING, Any

sys.path.append(str(Path(__file__).parents[1] / "tests"))  # the ports are those of the tests

from callers import KeyHolder, MonitorOwner
from chaos import Target, faults_of_process
from cluster import (
    SITE_TEAM,
    TEAM,
    WEBHOOK_SECRET,
    ClusterProcess,
    Operated,
    common_settings,
    judge_logs,
    watch,
)
from jobs import SILENCE_SECONDS, Jobs, judge_jobs
from journal import Journal
from real_servers import find_free_port
from replicas import Replicas
from run import join, make_parser, report, start_thread
from service_process import MONITORING

if TYPE_CHECKING:
    from collections.abc import Iterator

DELIVERY_PAUSE_SECONDS = 0.2
READINESS_PAUSE_SECONDS = 0.5
KEY_ROTATION_PAUSE_SECONDS = 1.0
MONITOR_PAUSE_SECONDS = 0.4
HEADERS = {"X-Webhook-Secret": WEBHOOK_SECRET}


def main() -> int:
    """Run, print, and return the exit status."""
    options = make_parser(__doc__, seconds=30.0).parse_args()

    def break_embedded(folder: Path, journal: Journal) -> None:
        with running_embedded(folder) as operated:
            run(operated, folder / "monitoring.db", journal, options)

    return report(options.seed, break_embedded)


@contextmanager
def running_embedded(folder: Path) -> Iterator[Operated]:
    """Start the service in one process, with all that it keeps in a folder, until the context ends."""
    port = find_free_port()
    base_url = f"http://127.0.0.1:{port}"
    own = {"DATA_DIR": str(folder), "BLOG_STORAGE_URL": f"file://{folder}/blog", "PORT": str(port)}
    checks = {
        "CHECKS_AT_ONCE": "4",
        "ALLOWED_NETWORKS": "127.0.0.1/32",
        "REFERENCE_URLS": f"{base_url}/health",  # it is never offline, so that no doubt excuses anybody
    }
    environment = common_settings() | own | checks
    process = ClusterProcess("embedded", "serve", environment, folder, base_url)
    operated = Operated(environment=environment, processes=[process])
    subprocess.run([*MONITORING, "migrate"], env=environment, check=True)
    for team in (TEAM, SITE_TEAM):
        if operated.try_command("teams", "create", team, "--plan", "business") is None:
            raise RuntimeError(f"{team} could not be created")
    process.start()
    try:
        yield operated
    finally:
        process.kill()


def run(operated: Operated, database: Path, journal: Journal, options: argparse.Namespace) -> None:
    """Let everybody work while the service is killed, kill it once more, and look for what was promised."""
    (process,) = operated.processes
    replicas = Replicas(operated.replicas, journal)
    replicas.insist("get_readiness", "200")
    key_holder = KeyHolder(operated, replicas)
    _, headers = key_holder.make_key()
    monitor_owner = MonitorOwner(replicas, headers, Random(f"{options.seed}/monitors"))
    _, of_jobs = key_holder.make_key(SITE_TEAM)
    jobs = Jobs(replicas, of_jobs)
    jobs.begin()
    author = Author(replicas)
    over, settled = threading.Event(), threading.Event()
    watching = start_thread(journal, watch, operated, journal, settled)
    working = [
        start_thread(journal, author.deliver, over),
        start_thread(journal, ask_for_readiness, replicas, over),
        start_thread(journal, key_holder.rotate, over, KEY_ROTATION_PAUSE_SECONDS),
        start_thread(journal, monitor_owner.create, over, MONITOR_PAUSE_SECONDS),
        *(start_thread(journal, jobs.run, job, over) for job in jobs.all),
    ]
    target = Target(process.name, faults_of_process(process), calm_seconds=(2, 6), outage_seconds=(0.2, 1))
    storm = start_thread(journal, target.storm, Random(options.seed), journal, over)
    try:
        time.sleep(options.seconds)
        over.set()
        join([storm, *working])
        with journal.fault(process.name, "kill -9 at last"):
            process.kill()
            judge_database(database, journal)
            time.sleep(SILENCE_SECONDS)
            process.start()
        jobs.wait_until_excused()
        pings, incidents = read_rows(database, "pings"), read_rows(database, "incidents")
        for sentence in judge_jobs(jobs.all, pings, incidents):
            journal.record_violation(sentence)
        key_holder.check_again()
        monitor_owner.check()
        author.check()
    finally:
        over.set()
        settled.set()
        join([storm, watching])
    judge_logs(operated, journal)


def ask_for_readiness(replicas: Replicas, over: threading.Event) -> None:
    """Ask as a load balancer does. To be away is an answer, too."""
    while not over.wait(READINESS_PAUSE_SECONDS):
        replicas.ask("get_readiness", "200", at=replicas.all[0])


def judge_database(database: Path, journal: Journal) -> None:
    """Demand of a database whose process was killed that it is whole."""
    with closing(connect(database)) as connection:
        (verdict,) = connection.execute("PRAGMA integrity_check").fetchone()
    if verdict != "ok":
        journal.record_violation(f"the database is broken: {verdict}")


def read_rows(database: Path, table: str) -> list[dict[str, Any]]:
    """Read a table, without the service."""
    with closing(connect(database)) as connection:
        connection.row_factory = Row
        return [dict(row) for row in connection.execute(f"SELECT * FROM {table}")]  # noqa: S608 - our own name


class Author:
    """Delivers articles, each until it is answered 202, and expects to find every one of them."""

    def __init__(self, replicas: Replicas) -> None:
        self._replicas = replicas
        self._ids: dict[int, str] = {}

    def deliver(self, over: threading.Event) -> None:
        """Go on until the run is over."""
        while not over.wait(DELIVERY_PAUSE_SECONDS):
            number = len(self._ids)
            article = {"id": str(number), "title": f"Moon {number}", "content": "The moon is **round**."}
            answer = self._replicas.insist(
                "deliver_article", "202", headers=HEADERS, json={"article": article}
            )
            self._ids[number] = answer.json()["article_id"]

    def check(self) -> None:
        """Demand every article that was answered 202."""
        for article_id in self._ids.values():
            self._replicas.insist("get_article", "200", ids={"article_id": article_id}, headers=HEADERS)
        self._replicas.journal.count("Kept", "articles", len(self._ids))


if __name__ == "__main__":
    sys.exit(main())
