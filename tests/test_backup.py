"""Tests the backup and restore commands of docs/running.md: nothing that was promised to clients is lost."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

import chosen_backends
from documented_commands import read_commands
from running_service import WEBHOOK_SECRET
from service_process import TIMEOUT_SECONDS, Installation, wait_until

if TYPE_CHECKING:
    from service_process import ServiceProcess

RUNNING = Path(__file__).parent.parent / "docs" / "running.md"
SERVERS = "### The servers it depends on"
BACKUP = "## Backup and restore"
RCLONE = '--s3-provider=Other --s3-env-auth --s3-endpoint="$AWS_ENDPOINT_URL"'
SECRET = {"X-Webhook-Secret": WEBHOOK_SECRET}


def documented(heading: str, word: str) -> str:
    """Return the only block of commands under a heading that contains a word."""
    (block,) = (block for block in read_commands(RUNNING, heading) if word in block)
    return block


class Place(Installation):
    """An installation whose operator runs the commands in docs/running.md."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        programs = str(Path(sys.executable).parent)
        self.environment |= {
            "PATH": f"{programs}:{self.environment['PATH']}",
            "DATA_DIR": str(folder / "data"),
            "SECRET": WEBHOOK_SECRET,
        }
        (folder / "data").mkdir()

    def type_in(self, commands: str, said: str = "", **variables: str) -> str:
        """Run commands, assert that they succeed, and return their output."""
        done = subprocess.run(
            ["setsid", "bash", "-euo", "pipefail", "-c", commands],  # setsid: passwords are read from `said`
            cwd=self.folder,
            env=self.environment | variables,
            input=said,
            capture_output=True,
            text=True,
            check=False,
            timeout=5 * TIMEOUT_SECONDS,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def make_key(self) -> dict[str, Any]:
        self.run("teams", "create", "Acme", "--plan", "team")
        key: dict[str, Any] = json.loads(self.run("keys", "create", "Acme", "--name", "deploy", "--json"))
        return key


class Customers:
    """A publisher and the owner of a key, and what the service has promised them."""

    def __init__(self, key: dict[str, Any]) -> None:
        self._key = key
        self.articles: dict[str, str] = {}  # ids by slug
        self.monitors: list[str] = []

    def work(self, service: ServiceProcess, when: str) -> None:
        with self._client(service) as client:
            for number in range(3):
                article = {"title": f"Shoes of {when} {number}", "slug": f"{when}-{number}"}
                answer = client.post("/api/webhooks/publisher", json={"article": article})
                assert answer.status_code == 202
                self.articles[article["slug"]] = answer.json()["article_id"]
                answer = client.post("/api/monitors", json={"url": f"https://{when}.example/{number}"})
                assert answer.status_code == 201
                self.monitors.append(answer.json()["id"])

    def find(self, service: ServiceProcess) -> tuple[dict[str, str], list[str]]:
        """Return the promised articles and monitors that still exist."""
        with self._client(service) as client:
            articles = {
                slug: article
                for slug, article in self.articles.items()
                if client.get(f"/api/articles/{article}").status_code == 200
            }
            monitors = [one for one in self.monitors if client.get(f"/api/monitors/{one}").status_code == 200]
        return articles, monitors

    def _client(self, service: ServiceProcess) -> httpx.Client:
        form = {"client_id": self._key["client_id"], "client_secret": self._key["client_secret"]}
        with httpx.Client(base_url=service.base_url, timeout=30) as client:
            token = client.post("/api/oauth/token", data=form).raise_for_status().json()["access_token"]
        headers = SECRET | {"Authorization": f"Bearer {token}"}
        return httpx.Client(base_url=service.base_url, headers=headers, timeout=30)


def back_up_lose_and_restore(place: Place, backup: str, lose: str, *restore: str) -> None:
    """Back up the database, delete it and restore it. Assert that nothing from the backup is missing."""
    place.run("migrate")
    customers = Customers(place.make_key())
    with place.serve() as service:
        customers.work(service, "before")
        before = customers.find(service)
        place.type_in(backup)
        customers.work(service, "after")
    assert len(before[0]) == len(before[1]) == 3

    place.type_in(lose)
    for commands in restore:
        place.type_in(commands)
    with place.serve() as service:
        assert customers.find(service) == before
        fetch_storage(place)
        assert place.type_in(documented(BACKUP, "/api/webhooks/publisher"), URL=service.base_url) == ""
    listed = json.loads(place.run("articles", "list", "--json"))
    assert sorted(article["slug"] for article in listed) == sorted(customers.articles)


def fetch_storage(place: Place) -> None:
    """Copy the blog storage into the operator's folder, unless it is there already."""
    for path, content in chosen_backends.read_blog(place.folder).items():
        file = place.folder / "blog" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)


@pytest.mark.embedded("SQLite is backed up")
@pytest.mark.programs("curl", "jq", "sqlite3")
def test_a_restored_sqlite_database_has_everything_answered_before_the_backup(
    tmp_path: Path,
) -> None:
    back_up_lose_and_restore(
        Place(tmp_path),
        documented(BACKUP, "sqlite3"),
        "rm data/monitoring.db*",
        documented(BACKUP, "cp monitoring.db.copy"),
    )


@pytest.mark.production("PostgreSQL is backed up")
@pytest.mark.programs("curl", "jq")
def test_a_restored_postgresql_database_has_everything_answered_before_the_backup(
    tmp_path: Path,
) -> None:
    place = Place(tmp_path)
    server = chosen_backends.postgres()
    place.environment |= {
        "PGHOST": "127.0.0.1",
        "PGPORT": str(server.port),
        "PGUSER": "tests",
        "DATABASE_URL": f"postgresql://monitoring:secret@127.0.0.1:{server.port}/monitoring?sslmode=disable",
    }
    try:
        place.type_in(documented(SERVERS, "createuser"), said="secret\nsecret\n")
        back_up_lose_and_restore(
            place,
            documented(BACKUP, "pg_dump"),
            "dropdb --force monitoring",
            documented(BACKUP, "createdb"),
            documented(BACKUP, "pg_restore"),
        )
    finally:
        place.type_in("dropdb --force --if-exists monitoring; dropuser --if-exists monitoring")


def test_a_lost_blog_storage_is_written_again(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.make_tables()
    customers = Customers(place.make_key())
    with place.serve() as service:
        customers.work(service, "before")
        wait_until(lambda: len(chosen_backends.read_blog(tmp_path)) == 3 * 6)
        lose_blog(place)
        place.type_in(documented(BACKUP, "articles restore"))
        wait_until(lambda: len(chosen_backends.read_blog(tmp_path)) == 3 * 6)


def lose_blog(place: Place) -> None:
    if chosen_backends.is_production():
        place.type_in(f"rclone purge :{place.environment['BLOG_STORAGE_URL'].replace('//', '')} {RCLONE}")
    else:
        shutil.rmtree(place.folder / "blog")
