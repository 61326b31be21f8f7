"""Break everything the service depends on, at random and for minutes, and check that no promise breaks.

    python faults/run.py --seconds 150 --seed 1

Exits with 0 and the figures, or with 1 and every violation. The seed repeats who delivers what and the order
of the faults; how they coincide differs in each run.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import shutil
import signal
import sys
import tempfile
import threading
import time
import traceback
from pathlib import Path
from random import Random, randrange
from typing import TYPE_CHECKING, Any, NoReturn

sys.path.append(str(Path(__file__).parents[1] / "tests"))  # the servers are those of the tests

import asyncpg  # type: ignore[import-untyped]

from callers import KeyHolder, MonitorOwner
from chaos import list_targets
from cluster import LOCALES, SITE_TEAM, TEAM, WEBHOOK_SECRET, Cluster, judge_logs, running_cluster, watch
from jobs import Jobs, judge_jobs
from journal import Journal
from monitoring.articles.withdrawal import LATE_FILES
from publishers import Publisher
from refusing_ports import hold_refusing_ports
from replicas import OutOfPatience, Replicas
from telling import Team
from telling_verdict import judge_telling
from verdict import Kept, judge
from watching import Watcher
from watching_verdict import Span, Watched, judge_watching, merge

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from publishers import Manuscript

PUBLISHERS = 6
KEY_ROTATION_PAUSE_SECONDS = 4.0
MONITOR_PAUSE_SECONDS = 1.0
FINISHING_SECONDS = 200.0
SETTLING_SECONDS = 300.0

NUMBERS_AND_IDS = re.compile(r"[0-9a-f-]{8,}|\d+")
SHOWN_OF_ALIKE = 5


def main() -> int:
    """Run, print, and return the exit status."""
    parser = make_parser(__doc__, seconds=150.0)
    parser.add_argument(
        "--rate", type=float, default=10.0, help="deliveries a second, by all publishers together"
    )
    parser.add_argument("--translator", choices=["pseudo", "apertium"], default="pseudo")
    options = parser.parse_args()

    def break_cluster(folder: Path, journal: Journal) -> None:
        with running_cluster(folder, options.translator) as cluster:
            run(cluster, journal, options)

    return report(options.seed, break_cluster)


def make_parser(description: str | None, *, seconds: float) -> argparse.ArgumentParser:
    """Make a parser of the options that every run has."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=seconds, help="how long things are broken")
    parser.add_argument("--seed", type=int, default=randrange(2**32), help="seed of the run to repeat")
    return parser


def report(seed: int, run: Callable[[Path, Journal], None]) -> int:
    """Run in a new folder, print the figures and the violations, and return the exit status."""
    hold_refusing_ports()
    signal.signal(signal.SIGTERM, end_by_signal)
    folder = Path(tempfile.mkdtemp(prefix="faults-"))
    print(f"Seed {seed}; logs in {folder}", flush=True)
    journal = Journal(folder / "faults.log")
    try:
        run(folder, journal)
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    print_figures(journal)
    if journal.violations:
        print(f"\n{len(journal.violations)} VIOLATIONS (seed {seed}; logs in {folder})")
        print_violations(journal)
        return 1
    shutil.rmtree(folder)
    print(f"\nNo violation (seed {seed})")
    return 0


def run(cluster: Cluster, journal: Journal, options: argparse.Namespace) -> None:
    """Let everybody work while everything breaks, then wait until it settles, and judge."""
    replicas = Replicas(cluster.replicas, journal)
    demand_readiness(replicas)
    key_holder = KeyHolder(cluster, replicas)
    _, editor = key_holder.make_key(TEAM, "articles:read", "articles:write")
    publishers = [
        Publisher(f"p{number}", replicas, WEBHOOK_SECRET, editor, LOCALES, Random(f"{options.seed}/{number}"))
        for number in range(PUBLISHERS)
    ]
    _, headers = key_holder.make_key()
    _, site_headers = key_holder.make_key(SITE_TEAM)
    team = Team(replicas, cluster.site, cluster.mailbox, site_headers)
    team.begin()
    watcher = Watcher(replicas, cluster.site, site_headers)
    watcher.begin()
    jobs = Jobs(replicas, site_headers)
    jobs.begin()
    monitor_owner = MonitorOwner(replicas, headers, Random(f"{options.seed}/monitors"))

    over, settled = threading.Event(), threading.Event()
    watching = [
        start_thread(journal, watch, cluster, journal, settled),
        *(start_thread(journal, jobs.run, job, settled) for job in jobs.all),
    ]
    working = [
        *(start_thread(journal, one.publish, over, PUBLISHERS / options.rate) for one in publishers),
        start_thread(journal, key_holder.rotate, over, KEY_ROTATION_PAUSE_SECONDS),
        start_thread(journal, monitor_owner.create, over, MONITOR_PAUSE_SECONDS),
        start_thread(journal, watcher.vary, over, Random(f"{options.seed}/site")),
    ]
    storms = [
        start_thread(journal, target.storm, Random(f"{options.seed}/{target.name}"), journal, over)
        for target in list_targets(cluster)
    ]
    try:
        time.sleep(options.seconds)
        over.set()
        join(storms)
        healed = time.monotonic()
        journal.note("everything is well")
        join(working)
        manuscripts = [manuscript for one in publishers for manuscript in one.manuscripts]
        wait_until_translated(manuscripts, replicas)
        journal.took("after the last fault, everything translated", time.monotonic() - healed)
        asyncio.run(wait_until_removed(cluster, journal))
        watcher.wait_until_well()
        team.calm_down()
        asyncio.run(wait_until_told(cluster, journal))
        key_holder.check_again()
        monitor_owner.check()
    finally:
        over.set()
        settled.set()
        join([*storms, *watching])  # they start processes, and must not do so after the end
    kept, watched = asyncio.run(read_kept(cluster)), asyncio.run(read_watched(cluster))
    pages = list(cluster.site.pages.values())
    for sentence in (
        *judge(manuscripts, kept, LOCALES),
        *judge_jobs(jobs.all, asyncio.run(read_pings(cluster)), watched.incidents),
        *judge_watching(pages, watched, times_without_checks(journal)),
        *judge_telling(
            team.routes,
            watched.incidents,
            watched.deliveries,
            [*cluster.site.arrivals, *cluster.mailbox.arrivals],
            [span for number in (1, 2) for span in journal.deaths_of(f"worker {number}")],
        ),
    ):
        journal.record_violation(sentence)
    count_kept(journal, kept)
    count_watched(journal, watched, cluster)
    judge_logs(cluster, journal)


def demand_readiness(replicas: Replicas) -> None:
    """Demand that everything works before anything breaks. Raises `RuntimeError`."""
    for replica in replicas.all:
        readiness = replicas.insist("get_readiness", "200", at=replica).json()
        if {*readiness.values()} != {"ready", "ok"}:
            raise RuntimeError(f"{replica.name} says before anything is broken: {readiness}")


def start_thread(journal: Journal, work: Callable[..., None], *arguments: Any) -> threading.Thread:
    """Start work in a thread. An exception in it is recorded as a violation."""

    def guarded() -> None:
        try:
            work(*arguments)
        except OutOfPatience as error:
            journal.record_violation(str(error))
        except Exception:  # noqa: BLE001 - reported
            journal.record_violation(f"the run itself failed:\n{traceback.format_exc()}")

    thread = threading.Thread(target=guarded, daemon=True)
    thread.start()
    return thread


def join(threads: Sequence[threading.Thread]) -> None:
    """Wait for threads. Raises `TimeoutError` if they take too long."""
    deadline = time.monotonic() + FINISHING_SECONDS
    for thread in threads:
        thread.join(max(0, deadline - time.monotonic()))
        if thread.is_alive():
            raise TimeoutError(f"a thread of the run does not end: {thread.name}")


def wait_until_translated(manuscripts: Sequence[Manuscript], replicas: Replicas) -> None:
    """Wait until every locale of every article is translated. Those that are not are judged by their rows."""
    deadline = time.monotonic() + SETTLING_SECONDS
    waiting = {one.article_id for one in manuscripts if one.article_id and one.status != "deleted"}
    while waiting and time.monotonic() < deadline:
        for article_id in sorted(waiting):
            answer = replicas.insist(
                "get_article",
                "200",
                ids={"article_id": article_id},
                headers={"X-Webhook-Secret": WEBHOOK_SECRET},
            )
            if all(one["status"] == "translated" for one in answer.json()["translations"]):
                waiting.remove(article_id)
        time.sleep(0.5)
    if waiting:
        replicas.journal.record_violation(
            f"{len(waiting)} articles are not translated after {SETTLING_SECONDS:.0f} s"
        )


async def wait_until_removed(cluster: Cluster, journal: Journal) -> None:
    """Let the time pass after which workers look for files that were stored late, and wait until they did."""
    connection = await asyncpg.connect(cluster.database_url)
    try:
        await connection.execute(
            "UPDATE articles SET withdrawn_at = withdrawn_at - $1::interval, remove_at = now()"
            " WHERE status <> 'published'",
            LATE_FILES,
        )
        deadline = time.monotonic() + SETTLING_SECONDS
        while count := await connection.fetchval("SELECT count(*) FROM articles WHERE remove_at IS NOT NULL"):
            if time.monotonic() > deadline:
                journal.record_violation(f"{count} articles have files after {SETTLING_SECONDS:.0f} s")
                break
            await asyncio.sleep(0.5)
    finally:
        await connection.close()


async def read_kept(cluster: Cluster) -> Kept:
    """Read rows and objects, without the service."""
    connection = await asyncpg.connect(cluster.database_url)
    try:
        articles = await connection.fetch("SELECT * FROM articles")
        translations = await connection.fetch("SELECT * FROM translations")
    finally:
        await connection.close()
    return Kept(articles, translations, cluster.s3.read_objects())


async def read_watched(cluster: Cluster) -> Watched:
    """Read what became of the site's checks, without the service."""
    connection = await asyncpg.connect(cluster.database_url)
    try:
        checks = await connection.fetch("SELECT monitor_id, count(*) FROM checks GROUP BY monitor_id")
        incidents = await connection.fetch(
            "SELECT * FROM incidents WHERE team_id = (SELECT id FROM teams WHERE name = $1)", SITE_TEAM
        )
        deliveries = await connection.fetch("SELECT * FROM notification_deliveries")
    finally:
        await connection.close()
    return Watched(dict(checks), incidents, deliveries)


async def read_pings(cluster: Cluster) -> Sequence[Mapping[str, Any]]:
    """Read the pings that are kept, without the service."""
    connection = await asyncpg.connect(cluster.database_url)
    try:
        pings: Sequence[Mapping[str, Any]] = await connection.fetch("SELECT * FROM pings")
        return pings
    finally:
        await connection.close()


async def wait_until_told(cluster: Cluster, journal: Journal) -> None:
    """Let the time pass after which workers try again, and wait until nothing is left to send."""
    connection = await asyncpg.connect(cluster.database_url)
    try:
        deadline = time.monotonic() + SETTLING_SECONDS
        while count := await connection.fetchval(
            "SELECT count(*) FROM notification_deliveries WHERE due_at IS NOT NULL"
        ):
            if time.monotonic() > deadline:
                journal.record_violation(f"{count} deliveries wait after {SETTLING_SECONDS:.0f} s")
                break
            await connection.execute(
                "UPDATE notification_deliveries SET due_at = now()"
                " WHERE due_at > now() AND claim IS NULL AND (attempts > 0 OR hold = 'flapping')"
            )
            await asyncio.sleep(0.5)
    finally:
        await connection.close()


def times_without_checks(journal: Journal) -> list[Span]:
    """List when nobody could check: while the database was away, or both checkers."""
    one, other = (journal.outages_of(f"checker {number}") for number in (1, 2))
    both = [(max(a[0], b[0]), min(a[1], b[1])) for a in one for b in other]
    return merge([*journal.outages_of("PostgreSQL"), *(span for span in both if span[0] < span[1])])


def count_watched(journal: Journal, watched: Watched, cluster: Cluster) -> None:
    """Count checks, incidents and notifications of the site."""
    pages = cluster.site.pages.values()
    monitor_ids = {page.monitor_id for page in pages}
    stored = [number for monitor_id, number in watched.check_counts.items() if str(monitor_id) in monitor_ids]
    for name, number in {
        "checks made": sum(len(page.asked_at) for page in pages),
        "checks stored": sum(stored),
        "times a page was down": sum(len(page.downs) for page in pages),
        "incidents": len(watched.incidents),
        "notifications": len(watched.deliveries),
        "notifications in digests": sum(row["digest_id"] is not None for row in watched.deliveries),
        "notifications skipped": sum(row["status"] == "skipped" for row in watched.deliveries),
        "attempts that servers saw": len(cluster.site.arrivals) + len(cluster.mailbox.arrivals),
        "most attempts at one notification": max((row["attempts"] for row in watched.deliveries), default=0),
    }.items():
        journal.count("Watched", name, number)


def count_kept(journal: Journal, kept: Kept) -> None:
    """Count rows and objects, and how much was done more than once."""
    attempts = [row["attempts"] for row in kept.translations]
    for name, number in {
        "articles": len(kept.articles),
        "revisions": sum(row["revision"] for row in kept.articles),
        "translations": len(kept.translations),
        "attempts at the newest revision": sum(attempts),
        "most attempts at one": max(attempts, default=0),
        "objects": len(kept.objects),
    }.items():
        journal.count("Kept", name, number)


def print_figures(journal: Journal) -> None:
    """Print every figure of the run."""
    for group, figures in sorted(journal.figures.items()):
        print(f"\n{group}")
        print("\n".join(f"{number:8}  {name}" for name, number in sorted(figures.items())))
    print("\nLongest, in seconds")
    print("\n".join(f"{seconds:8.1f}  {what}" for what, seconds in sorted(journal.longest_seconds.items())))


def print_violations(journal: Journal) -> None:
    """Print the violations; of those that differ only in numbers and ids, only the first few."""
    alike: dict[str, list[str]] = {}
    for sentence in journal.violations:
        alike.setdefault(NUMBERS_AND_IDS.sub("#", sentence), []).append(sentence)
    for sentences in alike.values():
        print("\n".join(f"- {sentence}" for sentence in sentences[:SHOWN_OF_ALIKE]))
        if len(sentences) > SHOWN_OF_ALIKE:
            print(f"  and {len(sentences) - SHOWN_OF_ALIKE} more like it, all in faults.log")


def end_by_signal(*_: object) -> NoReturn:
    """End as with Ctrl-C, so that everything that was started is stopped."""
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
