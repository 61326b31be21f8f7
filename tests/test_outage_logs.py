"""Tests what the log shows during an outage of a backend: one line when it begins, and one when it ends."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import httpx
import pytest

from frozen_servers import frozen
from ready_tables import make_tables
from real_servers import PostgresServer, find_free_port, running_postgres, running_redis
from running_command import RunningCommand, running_command
from running_service import WEBHOOK_SECRET
from s3_server import BUCKET, S3Server, running_s3
from service_process import Installation, wait_until
from slow_engine import slow_engine
from temporary_backends import make_settings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.production("what is in the process itself cannot go away")

PASSWORD = "a-password-that-no-log-may-show"
SOON = {"DATABASE_TIMEOUT_SECONDS": "1"}
OVER = re.compile(r"Over: .* \(for (\d+) s; (\d+) requests and (\d+) tasks were refused\)")


@pytest.fixture(scope="module")
def postgres() -> Iterator[PostgresServer]:
    with running_postgres() as server:
        yield server


@pytest.fixture
def s3() -> Iterator[S3Server]:
    with running_s3() as server:
        yield server


@pytest.fixture
def installation(tmp_path: Path, postgres: PostgresServer) -> Installation:
    """Create an installation with a PostgreSQL that a test may stop, and with credentials in its URL."""
    installation = Installation(tmp_path)
    url = postgres.create_database()
    make_tables(make_settings(tmp_path, database_url=url))
    installation.environment["DATABASE_URL"] = url.replace("tests@", f"tests:{PASSWORD}@")
    return installation


def warnings_of(running: RunningCommand) -> list[str]:
    return [line for line in running.lines if "WARNING" in line]


def lines_of_outage(running: RunningCommand) -> list[str]:
    return [line for line in running.lines if "away" in line]


def demand_two_lines(running: RunningCommand, culprit: str, reason: str) -> tuple[int, int]:
    """Assert that the log has one line with the culprit and the reason, and one `Over:`.

    Return the numbers of refused operations.
    """
    began, over = lines_of_outage(running)
    assert "WARNING" in began
    assert culprit in began
    assert reason in began
    assert culprit in over
    assert PASSWORD not in "".join(running.lines)
    told = OVER.search(over)
    assert told, over
    return int(told[2]), int(told[3])


def deliver_article(serving: RunningCommand, number: int) -> int:
    """Submit an article, and return the status code."""
    answer = httpx.post(
        f"{serving.base_url}/api/webhooks/publisher",
        headers={"X-Webhook-Secret": WEBHOOK_SECRET},
        json={"article": {"id": number, "title": "Moon"}},
        timeout=30,
    )
    return answer.status_code


def culprit_of(postgres: PostgresServer) -> str:
    return f"The database at 127.0.0.1:{postgres.port}/"


class TestStoppedDatabase:
    def test_an_api_process_names_it_and_counts_the_requests_it_refused(
        self, installation: Installation, postgres: PostgresServer
    ) -> None:
        with running_command(installation, "serve") as serving:
            article = f"{serving.base_url}/api/articles/0190b6a0-0000-7000-8000-000000000000"
            secret = {"X-Webhook-Secret": WEBHOOK_SECRET}

            def ask() -> int:
                return httpx.get(article, headers=secret, timeout=30).status_code

            assert ask() == 404
            postgres.stop()
            try:
                assert [ask() for _ in range(5)] == [503] * 5
            finally:
                postgres.start()
            wait_until(lambda: ask() == 404 and len(lines_of_outage(serving)) == 2)
            refused_requests, _ = demand_two_lines(serving, culprit_of(postgres), "Connect")
            assert refused_requests >= 5
            assert len(warnings_of(serving)) == 1

    @pytest.mark.parametrize("kind", ["worker", "checker"])
    def test_other_processes_name_it_too(
        self, installation: Installation, postgres: PostgresServer, kind: str
    ) -> None:
        urls = {"CHECKS_AT_ONCE": "5", "REFERENCE_URLS": "https://example.com"}
        with running_command(installation, kind, **urls) as running:
            postgres.stop()
            try:
                wait_until(lambda: lines_of_outage(running))
            finally:
                postgres.start()
            wait_until(lambda: len(lines_of_outage(running)) == 2)
            demand_two_lines(running, culprit_of(postgres), "")
            assert len(warnings_of(running)) == 1

    @pytest.mark.parametrize("kind", ["serve", "worker", "checker"])
    def test_one_that_is_away_at_the_start_is_named_once(self, installation: Installation, kind: str) -> None:
        port = find_free_port()
        settings = {
            "DATABASE_URL": f"postgresql://monitoring:{PASSWORD}@127.0.0.1:{port}/gone",
            "CHECKS_AT_ONCE": "5",
            "REFERENCE_URLS": "https://example.com",
        }
        with running_command(installation, kind, **settings) as running:
            wait_until(lambda: lines_of_outage(running))
            (line,) = lines_of_outage(running)
            assert f"The database at 127.0.0.1:{port}/gone is away" in line
            assert PASSWORD not in line

    def test_it_is_no_error_of_translations_that_it_fails_together(
        self, installation: Installation, postgres: PostgresServer
    ) -> None:
        installation.environment["LOCALES"] = "es,pt"
        with running_command(installation, "serve") as serving:
            assert deliver_article(serving, 0) == 202
        with (
            slow_engine() as engine,
            running_command(installation, "worker", **engine.environment) as working,
        ):
            wait_until(lambda: engine.waiting_count == 2)
            postgres.stop()
            try:
                engine.answer()
                wait_until(lambda: lines_of_outage(working))
            finally:
                postgres.start()
            wait_until(lambda: len(lines_of_outage(working)) == 2)
            demand_two_lines(working, culprit_of(postgres), "")
            assert not [line for line in working.lines if "Traceback" in line or "ERROR" in line]


class TestFrozenDatabase:
    def test_the_line_says_that_it_does_not_answer(
        self, installation: Installation, postgres: PostgresServer
    ) -> None:
        with running_command(installation, "worker", **SOON) as working:
            with frozen(postgres):
                wait_until(lambda: lines_of_outage(working))
            wait_until(lambda: len(lines_of_outage(working)) == 2)
            demand_two_lines(working, culprit_of(postgres), "no answer in time")


class TestBlogStorage:
    @pytest.mark.parametrize(
        ("trouble", "reason"), [("stopped", "Connection refused"), ("frozen", "no answer in time")]
    )
    def test_deliveries_that_it_refuses_are_one_line_with_its_address(
        self, installation: Installation, s3: S3Server, trouble: str, reason: str
    ) -> None:
        with running_command(
            installation, "serve", **s3.environment, BLOG_STORAGE_URL=s3.new_location()
        ) as serving:

            def deliver(number: int) -> int:
                return deliver_article(serving, number)

            assert deliver(0) == 202
            if trouble == "frozen":
                with frozen(s3):
                    refused = [deliver(number) for number in range(1, 3)]
            else:
                s3.stop()
                try:
                    refused = [deliver(number) for number in range(1, 3)]
                finally:
                    s3.start()
            assert refused == [503] * 2
            wait_until(lambda: deliver(1) == 202 and len(lines_of_outage(serving)) == 2)
            culprit = f"The blog storage at 127.0.0.1:{s3.port}, s3://{BUCKET}/"
            assert demand_two_lines(serving, culprit, reason) == (2, 0)
            assert len(warnings_of(serving)) == 1

    def test_a_worker_whose_translations_it_refuses_counts_them(
        self, installation: Installation, s3: S3Server
    ) -> None:
        installation.environment |= {**s3.environment, "BLOG_STORAGE_URL": s3.new_location()}
        with running_command(installation, "serve") as serving:
            assert deliver_article(serving, 0) == 202
        s3.stop()
        with running_command(installation, "worker") as working:
            try:
                wait_until(lambda: lines_of_outage(working))
            finally:
                s3.start()
            wait_until(lambda: len(lines_of_outage(working)) == 2)
            culprit = f"The blog storage at 127.0.0.1:{s3.port}, s3://{BUCKET}/"
            refused_requests, refused_tasks = demand_two_lines(working, culprit, "Connection refused")
            assert refused_requests == 0
            assert refused_tasks >= 1


class TestQueue:
    def test_a_checker_names_it(self, installation: Installation) -> None:
        urls = {"CHECKS_AT_ONCE": "5", "REFERENCE_URLS": "https://example.com", "METRICS_PORT": "0"}
        with (
            running_redis() as redis,
            running_command(installation, "checker", REDIS_URL=redis.url, **urls) as checking,
        ):
            redis.stop()
            try:
                wait_until(lambda: lines_of_outage(checking))
            finally:
                redis.start()
            wait_until(lambda: len(lines_of_outage(checking)) == 2)
            demand_two_lines(checking, f"Redis at 127.0.0.1:{redis.port}", "Connect")
