"""The cost of only storing articles: rows in SQLite and a file each, 16 at a time.

There is no HTTP, and nothing is read, checked or hashed: no service can cost less.

    build/bench/service/bin/python benchmarks/least_of_an_article.py
"""

from __future__ import annotations

import json
import sqlite3
import statistics
import tempfile
import time
from contextlib import closing
from typing import TYPE_CHECKING, TypeVar

from uuid_utils import uuid7

from articles_webhook import ARTICLE, AT_ONCE
from monitoring.backends.durable_files import write_durably
from monitors_api import migrate
from servers import BUILD, LOCALES

if TYPE_CHECKING:
    from collections.abc import Callable

Given = TypeVar("Given")

ROUNDS = 100
NOW = "2026-11-20 09:00:05.000000+00:00"
HASH = "0" * 64
PAYLOAD = json.dumps(ARTICLE)

INSERT_ARTICLE = """
    INSERT INTO articles
        (id, identity, slug, title, revision, content_hash, payload, received_at, updated_at, nudged_at)
    VALUES (?, ?, ?, 'How to choose running shoes', 1, ?, ?, ?, ?, ?)
"""
INSERT_TRANSLATION = """
    INSERT INTO translations (id, article_id, locale, revision, status, attempts, due_at)
    VALUES (?, ?, ?, 1, 'queued', 0, ?)
"""


def main() -> None:
    """Store articles round by round, and print the time for one."""
    with tempfile.TemporaryDirectory(dir=BUILD) as folder:
        migrate(f"sqlite://{folder}/monitoring.db")
        with closing(sqlite3.connect(f"{folder}/monitoring.db", isolation_level=None)) as connection:
            spent = [
                (_cpu_us(_store_rows, connection), _cpu_us(_store_files, f"{folder}/{number}"))
                for number in range(ROUNDS)
            ]
    rows, files = (statistics.median(each) / AT_ONCE for each in zip(*spent, strict=True))
    print(f"CPU of an article: rows {rows:.0f} us, file {files:.0f} us")


def _store_rows(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")
    for _ in range(AT_ONCE):
        key = str(uuid7())
        connection.execute(INSERT_ARTICLE, (key, key, key, HASH, PAYLOAD, NOW, NOW, NOW))
        rows = [(str(uuid7()), key, locale, NOW) for locale in LOCALES.split(",")]
        connection.executemany(INSERT_TRANSLATION, rows)
    connection.execute("COMMIT")


def _store_files(folder: str) -> None:
    write_durably([(f"{folder}-{number}/en.json", PAYLOAD.encode()) for number in range(AT_ONCE)])


def _cpu_us(work: Callable[[Given], None], given: Given) -> float:
    began_at = time.process_time()
    work(given)
    return (time.process_time() - began_at) * 1e6


if __name__ == "__main__":
    main()
