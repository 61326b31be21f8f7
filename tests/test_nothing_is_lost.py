"""Tests that work accepted with 202 is always finished, even if processes are killed or stopped during it."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from signal import SIGINT, SIGTERM, Signals
from typing import TYPE_CHECKING, Any

import httpx
import pytest

import chosen_backends
from monitoring.articles.models import Translation
from monitoring.backends.assembly import open_backends
from running_service import WEBHOOK_SECRET, make_settings
from service_process import Installation, ServiceProcess, wait_until

if TYPE_CHECKING:
    from pathlib import Path

LOCALES = {"es", "pt", "fr", "it", "ca"}
STOP_TIMEOUT_SECONDS = 5.0

# The exit statuses of processes that cleaned up, and then ended by the signal.
ENDED_BY_CTRL_C, ENDED_BY_SIGTERM = 128 + SIGINT, -SIGTERM


def write_submission(number: int) -> dict[str, Any]:
    """Return an article that keeps a worker busy for a while, with sentences that no other article has."""
    paragraphs = [f"Reason {number}.{count} is **fit**, says [the guide](/{count})." for count in range(40)]
    article = {"id": f"art_{number}", "title": f"Shoes {number}", "slug": f"shoes-{number}"}
    return {"article": article | {"format": "markdown", "content": "\n\n".join(paragraphs)}}


SUBMISSIONS = [write_submission(number) for number in range(20)]


class Publisher(httpx.Client):
    """Submits many articles to a process concurrently."""

    def __init__(self, process: ServiceProcess) -> None:
        super().__init__(base_url=process.base_url, headers={"X-Webhook-Secret": WEBHOOK_SECRET}, timeout=30)

    def deliver(self, submissions: list[dict[str, Any]]) -> list[str]:
        """Submit articles, assert that all are accepted, and return their URLs."""
        with ThreadPoolExecutor(len(submissions)) as threads:
            answers = [
                *threads.map(lambda body: self.post("/api/webhooks/publisher", json=body), submissions)
            ]
        assert {answer.status_code for answer in answers} == {202}
        return [answer.headers["Location"] for answer in answers]

    def read_articles(self, locations: list[str]) -> list[dict[str, Any]]:
        return [self.get(location).raise_for_status().json() for location in locations]

    def wait_until_translated(self, locations: list[str]) -> list[dict[str, Any]]:
        """Return the articles once all their translations are finished."""
        return self.wait_until_all_are("translated", locations)

    def wait_until_all_are(self, status: str, locations: list[str]) -> list[dict[str, Any]]:
        for location in locations:
            wait_until(lambda: read_statuses(self.get(location).json()) == {status})  # noqa: B023
        return self.read_articles(locations)


def read_statuses(article: dict[str, Any]) -> set[str]:
    return {translation["status"] for translation in article["translations"]}


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    installation = Installation(tmp_path)
    installation.make_tables()
    return installation


def read_files(installation: Installation) -> dict[str, bytes]:
    """Return every file in the blog storage, including drafts of a killed process."""
    return chosen_backends.read_blog(installation.folder)


def count_translated(installation: Installation) -> int:
    names = [path.rpartition("/")[2] for path in read_files(installation)]
    return sum(name != "en.json" and not name.startswith(".") for name in names)


def read_attempts(installation: Installation) -> dict[tuple[str, str], tuple[str, int]]:
    """Return each translation's status and number of attempts. No process may be using the database."""

    async def read_rows() -> dict[tuple[str, str], tuple[str, int]]:
        async with open_backends(make_settings(installation.folder)) as backends:
            with backends.activate():
                rows = await Translation.all().select_related("article")
                return {(row.article.identity, row.locale): (row.status, row.attempts) for row in rows}

    return asyncio.run(read_rows())


@pytest.mark.long(seconds=30)
class TestKilled:
    """Tests `kill -9` during the translation of 20 articles into 5 locales."""

    def test_every_translation_arrives_none_doubled_none_lost(self, installation: Installation) -> None:
        with installation.serve() as first, Publisher(first) as publisher:
            locations = publisher.deliver(SUBMISSIONS)
            wait_until(lambda: count_translated(installation) > 0)
            first.kill()
        assert count_translated(installation) < 100
        left_behind = read_attempts(installation)

        with installation.serve() as second, Publisher(second) as publisher:
            articles = publisher.wait_until_translated(locations)
            serving, *_ = second.stop(SIGTERM, timeout_seconds=STOP_TIMEOUT_SECONDS)
            assert serving == ENDED_BY_SIGTERM

        # Unfinished translations were started once more. No other work was repeated.
        assert read_attempts(installation) == {
            state: ("translated", attempts + (status != "translated"))
            for state, (status, attempts) in left_behind.items()
        }
        assert len(left_behind) == 100
        assert {article["revision"] for article in articles} == {1}
        assert_one_file_a_locale(installation, articles)

    def test_a_publisher_that_sends_everything_again_changes_nothing(
        self, installation: Installation
    ) -> None:
        with installation.serve() as first, Publisher(first) as publisher:
            locations = publisher.deliver(SUBMISSIONS[:3])
            first.kill()
        with installation.serve() as second, Publisher(second) as publisher:
            assert publisher.deliver(SUBMISSIONS[:3]) == locations
            articles = publisher.wait_until_translated(locations)
            files = read_files(installation)
            assert publisher.deliver(SUBMISSIONS[:3]) == locations
            assert publisher.read_articles(locations) == articles
        assert_one_file_a_locale(installation, articles)
        assert read_files(installation) == files


class TestStopped:
    """Tests Ctrl-C and SIGTERM, once and twice, with work in progress."""

    @pytest.mark.parametrize(
        ("signals", "status"),
        [
            ((SIGINT,), ENDED_BY_CTRL_C),
            ((SIGTERM,), ENDED_BY_SIGTERM),
            ((SIGINT, SIGINT), ENDED_BY_CTRL_C),
            ((SIGTERM, SIGTERM), ENDED_BY_SIGTERM),
        ],
        ids=["Ctrl-C", "SIGTERM", "Ctrl-C twice", "SIGTERM twice"],
    )
    def test_the_process_ends_quietly_within_five_seconds_and_gives_its_work_back(
        self, installation: Installation, signals: tuple[Signals, ...], status: int
    ) -> None:
        with installation.serve() as first, Publisher(first) as publisher:
            publisher.deliver(SUBMISSIONS[:5])
            wait_until(lambda: count_translated(installation) > 0)
            serving, *working = first.stop(*signals, timeout_seconds=STOP_TIMEOUT_SECONDS)
        assert serving == status
        assert set(working) <= {0}
        said = [line.rpartition("] ")[2] for line in installation.log.read_text().splitlines()]
        assert said == [f"Listening on {first.base_url}"]
        states = read_attempts(installation).values()
        assert {(status, attempts) for status, attempts in states} <= {("queued", 0), ("translated", 1)}


class TestShortOfMemory:
    """Tests an article of 720 KB whose translation needs 1.6 GiB, in a process that may use 1 GiB."""

    def test_the_process_lives_keeps_the_article_in_english_and_translates_the_next(
        self, installation: Installation
    ) -> None:
        text = "".join("`" * count + "a" for count in range(1_200))
        dear = {"title": "Dear", "slug": "dear", "format": "markdown", "content": text}
        with installation.serve() as process, Publisher(process) as publisher:
            process.limit_memory(1024**3)
            (article,) = publisher.wait_until_all_are("failed", publisher.deliver([{"article": dear}]))
            publisher.wait_until_translated(publisher.deliver(SUBMISSIONS[:1]))
            assert not process.has_ended
        outcomes = [(each["reason"], each["attempts"]) for each in article["translations"]]
        assert outcomes == [("The article has too much markup to be translated", 1)] * len(LOCALES)
        files = read_files(installation)
        assert {path for path in files if path.startswith("dear/")} == {"dear/en.json"}
        assert json.loads(files["dear/en.json"])["delivery"]["article"]["content"] == text


class TestStartedAgain:
    def test_tokens_stay_valid_and_monitors_are_there(self, installation: Installation) -> None:
        installation.run("teams", "create", "Alice's team")
        key = json.loads(installation.run("keys", "create", "Alice's team", "--json"))
        form = {"client_id": key["client_id"], "client_secret": key["client_secret"]}
        with installation.serve() as first:
            token = httpx.post(f"{first.base_url}/api/oauth/token", data=form).json()["access_token"]
            headers = {"Authorization": f"Bearer {token}"}
            monitors = f"{first.base_url}/api/monitors"
            created = httpx.post(monitors, headers=headers, json={"url": "https://shop.example.com/"})
            first.kill()
        with installation.serve() as second:
            listed = httpx.get(f"{second.base_url}/api/monitors", headers=headers)
        assert listed.json()["monitors"] == [created.json()]


class TestAtOnce:
    def test_one_article_delivered_twenty_times_is_one_article(self, installation: Installation) -> None:
        with installation.serve() as process, Publisher(process) as publisher:
            (location,) = set(publisher.deliver(SUBMISSIONS[:1] * 20))
            articles = publisher.wait_until_translated([location])
        assert articles[0]["revision"] == 1
        assert_one_file_a_locale(installation, articles)
        assert {*read_attempts(installation).values()} == {("translated", 1)}


def assert_one_file_a_locale(installation: Installation, articles: list[dict[str, Any]]) -> None:
    """Assert that the blog storage has exactly the articles' files, complete and of the current revision."""
    files = read_files(installation)
    assert files.keys() == {
        f"{article['slug']}/{locale}.json" for article in articles for locale in (*LOCALES, "en")
    }
    for article in articles:
        for locale in (*LOCALES, "en"):
            page = json.loads(files[f"{article['slug']}/{locale}.json"])
            expected = (article["id"], locale, article["revision"])
            assert (page["article_id"], page["locale"], page["revision"]) == expected
