"""Break everything the service stands on, at random and for minutes, and see that no promise was.

    python faults/run.py --seconds 150 --seed 1

Ends with 0 and the figures, or with 1 and everything that was wrong. The seed repeats who delivers what and
which faults come in which order; how they meet is never the same twice.
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
from cluster import LOCALES, WEBHOOK_SECRET, Cluster, running_cluster, watch
from journal import Journal
from publishers import Publisher
from replicas import OutOfPatience, Replicas
from verdict import Kept, judge

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

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
    options = read_options()
    signal.signal(signal.SIGTERM, end_by_signal)
    folder = Path(tempfile.mkdtemp(prefix="faults-"))
    print(f"Seed {options.seed}; logs in {folder}", flush=True)
    journal = Journal(folder / "faults.log")
    try:
        with running_cluster(folder, options.translator) as cluster:
            run(cluster, journal, options)
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    print_figures(journal)
    if journal.violations:
        print(f"\n{len(journal.violations)} VIOLATIONS (seed {options.seed}; logs in {folder})")
        print_violations(journal)
        return 1
    shutil.rmtree(folder)
    print(f"\nNo violation (seed {options.seed})")
    return 0


def read_options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=150.0, help="how long things are broken")
    parser.add_argument("--seed", type=int, default=randrange(2**32), help="to repeat a run")
    parser.add_argument("--rate", type=float, default=10.0, help="deliveries a second, of all publishers")
    parser.add_argument("--translator", choices=["pseudo", "apertium"], default="pseudo")
    return parser.parse_args()


def run(cluster: Cluster, journal: Journal, options: argparse.Namespace) -> None:
    """Let everybody work while everything breaks; then let it settle, and judge."""
    replicas = Replicas(cluster.replicas, journal)
    publishers = [
        Publisher(f"p{number}", replicas, WEBHOOK_SECRET, LOCALES, Random(f"{options.seed}/{number}"))
        for number in range(PUBLISHERS)
    ]
    demand_readiness(replicas)
    key_holder = KeyHolder(cluster, replicas)
    _, headers = key_holder.make_key()
    monitor_owner = MonitorOwner(replicas, headers, Random(f"{options.seed}/monitors"))

    over, settled = threading.Event(), threading.Event()
    watching = start_thread(journal, watch, cluster, journal, settled)
    working = [
        *(start_thread(journal, one.publish, over, PUBLISHERS / options.rate) for one in publishers),
        start_thread(journal, key_holder.rotate, over, KEY_ROTATION_PAUSE_SECONDS),
        start_thread(journal, monitor_owner.create, over, MONITOR_PAUSE_SECONDS),
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
        key_holder.check_again()
        monitor_owner.check()
    finally:
        over.set()
        settled.set()
        join([*storms, watching])  # they start what is down, which must not happen after the end
    kept = asyncio.run(read_kept(cluster))
    for sentence in judge(manuscripts, kept, LOCALES):
        journal.accuse(sentence)
    count_kept(journal, kept)
    judge_logs(journal, cluster)


def demand_readiness(replicas: Replicas) -> None:
    """Demand that everything works before anything is broken. Raises `RuntimeError`."""
    for replica in replicas.all:
        readiness = replicas.insist("get_readiness", "200", at=replica).json()
        if {*readiness.values()} != {"ready", "ok"}:
            raise RuntimeError(f"{replica.name} says before anything is broken: {readiness}")


def start_thread(journal: Journal, work: Callable[..., None], *arguments: Any) -> threading.Thread:
    """Start work in a thread; an exception there is a violation here."""

    def guarded() -> None:
        try:
            work(*arguments)
        except OutOfPatience as error:
            journal.accuse(str(error))
        except Exception:  # noqa: BLE001 - reported
            journal.accuse(f"the run itself failed:\n{traceback.format_exc()}")

    thread = threading.Thread(target=guarded, daemon=True)
    thread.start()
    return thread


def join(threads: Sequence[threading.Thread]) -> None:
    """Wait for threads, but not for ever. Raises `TimeoutError`."""
    deadline = time.monotonic() + FINISHING_SECONDS
    for thread in threads:
        thread.join(max(0, deadline - time.monotonic()))
        if thread.is_alive():
            raise TimeoutError(f"a thread of the run does not end: {thread.name}")


def wait_until_translated(manuscripts: Sequence[Manuscript], replicas: Replicas) -> None:
    """Wait until every article says so of each of its locales; what does not is judged from its rows."""
    deadline = time.monotonic() + SETTLING_SECONDS
    waiting = {manuscript.article_id for manuscript in manuscripts if manuscript.article_id}
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
        replicas.journal.accuse(f"{len(waiting)} articles are not translated after {SETTLING_SECONDS:.0f} s")


async def read_kept(cluster: Cluster) -> Kept:
    """Read rows and objects, past the service."""
    connection = await asyncpg.connect(cluster.database_url)
    try:
        articles = await connection.fetch("SELECT * FROM articles")
        translations = await connection.fetch("SELECT * FROM translations")
    finally:
        await connection.close()
    return Kept(articles, translations, cluster.s3.read_objects())


def count_kept(journal: Journal, kept: Kept) -> None:
    """Count what is there, and how much was done more than once."""
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


def judge_logs(journal: Journal, cluster: Cluster) -> None:
    """Count errors, and accuse those of the service itself: to it an outage is no error."""
    for process in cluster.processes:
        for logger, line in process.errors():
            journal.count("Errors logged", logger)
            if logger.startswith("monitoring."):
                journal.accuse(f"{process.name} logged an error: {line}")


def print_figures(journal: Journal) -> None:
    """Print every figure of the run."""
    for group, figures in sorted(journal.figures.items()):
        print(f"\n{group}")
        print("\n".join(f"{number:8}  {name}" for name, number in sorted(figures.items())))
    print("\nLongest, in seconds")
    print("\n".join(f"{seconds:8.1f}  {what}" for what, seconds in sorted(journal.longest_seconds.items())))


def print_violations(journal: Journal) -> None:
    """Print what was wrong: of sentences that differ in numbers and ids only, the first few."""
    alike: dict[str, list[str]] = {}
    for sentence in journal.violations:
        alike.setdefault(NUMBERS_AND_IDS.sub("#", sentence), []).append(sentence)
    for sentences in alike.values():
        print("\n".join(f"- {sentence}" for sentence in sentences[:SHOWN_OF_ALIKE]))
        if len(sentences) > SHOWN_OF_ALIKE:
            print(f"  and {len(sentences) - SHOWN_OF_ALIKE} more like it, all in faults.log")


def end_by_signal(*_: object) -> NoReturn:
    """End as Ctrl-C does: whatever was started is stopped."""
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
