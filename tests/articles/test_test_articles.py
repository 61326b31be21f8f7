"""What is submitted with one of WEBHOOK_TEST_SECRETS: judged as any submission, and apart from all."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from articles.desk import make_submission
from moments import a_second_ago
from monitoring.articles import test_articles
from monitoring.articles.models import Article, ArticleLink, Translation
from monitoring.articles.sweeping import sweep_test_articles
from monitoring.articles.test_articles import (
    find_forgotten_test_articles,
    find_test_article,
    receive_test_submission,
    rehearse_translation,
)
from monitoring.backends.current import current_backends
from running_service import WEBHOOK_SECRET, running_service

if TYPE_CHECKING:
    from collections.abc import Iterator

    from monitoring.contract.catalogue import Catalogue
    from running_service import RunningService

WEBHOOK = "/api/webhooks/publisher"
TEST_SECRET = "a-secret-of-publishers-that-test"
TEXT = "A shoe that fits beats one that shines."
OWN = {"title": "Zapatillas", "content": "Texto"}


@pytest.fixture(scope="module")
def tested_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    with running_service(
        tmp_path_factory.mktemp("tested"), webhook_test_secrets=TEST_SECRET, article_teams="Shop"
    ) as running:
        yield running


def connect(service: RunningService, secret: str) -> httpx.Client:
    return httpx.Client(base_url=service.base_url, timeout=30, headers={"X-Webhook-Secret": secret})


@pytest.fixture
def tester(tested_service: RunningService) -> Iterator[httpx.Client]:
    with connect(tested_service, TEST_SECRET) as client:
        yield client


@pytest.fixture
def live(tested_service: RunningService) -> Iterator[httpx.Client]:
    with connect(tested_service, WEBHOOK_SECRET) as client:
        yield client


def wait_until_settled(client: httpx.Client, location: str) -> dict[str, Any]:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        article: dict[str, Any] = client.get(location).raise_for_status().json()
        if all(state["status"] in ("translated", "failed") for state in article["translations"]):
            return article
    pytest.fail("the translations did not settle")


class TestTestSecret:
    def test_submits_a_test_that_can_be_read_back(self, tester: httpx.Client) -> None:
        answer = tester.post(WEBHOOK, json=make_submission("Shoes", id="read", content=TEXT))
        assert answer.status_code == 202
        assert answer.json() == {
            "article_id": answer.headers["Location"].rpartition("/")[2],
            "status": "accepted",
            "locales": ["es", "pt"],
            "is_test": True,
        }
        article = wait_until_settled(tester, answer.headers["Location"])
        assert (article["slug"], article["title"], article["is_test"]) == ("shoes", "Shoes", True)
        assert [(state["locale"], state["status"]) for state in article["translations"]] == [
            ("es", "translated"),
            ("pt", "translated"),
        ]

    def test_and_the_live_one_never_meet(
        self, tester: httpx.Client, live: httpx.Client, catalogue: Catalogue
    ) -> None:
        submission = make_submission("Shoes", id="both", content=TEXT)
        addresses = [client.post(WEBHOOK, json=submission).headers["Location"] for client in (tester, live)]
        for client, other in ((live, addresses[0]), (tester, addresses[1])):
            for answer in (client.get(other), client.delete(other)):
                assert (answer.status_code, answer.json()) == (
                    404,
                    catalogue.respond("article_not_found").body,
                )
        refused = tester.delete(addresses[0], headers={"If-Match": '"another"'})
        assert (refused.status_code, refused.json()) == (412, catalogue.respond("article_changed").body)
        current = {"If-Match": tester.get(addresses[0]).headers["ETag"]}
        assert tester.delete(addresses[0], headers=current).status_code == 204
        assert tester.get(addresses[0]).status_code == 404
        assert live.get(addresses[1]).json()["status"] == "published"
        assert "is_test" not in live.get(addresses[1]).json()

    def test_publishes_nothing(self, tested_service: RunningService, tester: httpx.Client) -> None:
        answer = tester.post(WEBHOOK, json=make_submission("Hidden", id="hidden", slug="hidden-away"))
        wait_until_settled(tester, answer.headers["Location"])
        storage = tested_service.settings.data_dir
        assert storage
        assert not list(storage.rglob("hidden-away*"))

    @pytest.mark.parametrize(
        ("submission", "status"),
        [
            (make_submission("", id="empty"), 409),
            ({"article": {"title": "Shoes", "blocks": TEXT}}, 400),
            ({"article": {"title": 7}}, 400),
            ({"article": {"title": "Shoes", "language": "fr"}}, 400),
        ],
    )
    def test_is_told_what_is_wrong_as_the_live_one_is(
        self, tester: httpx.Client, live: httpx.Client, submission: dict[str, Any], status: int
    ) -> None:
        answers = [client.post(WEBHOOK, json=submission) for client in (tester, live)]
        assert [answer.status_code for answer in answers] == [status, status]
        assert answers[0].json() == answers[1].json()

    def test_says_of_a_ping_too_that_it_is_a_test(self, tester: httpx.Client) -> None:
        answer = tester.post(WEBHOOK, json={"event": "test"}).json()
        assert answer == {"article_id": None, "status": "ignored", "locales": [], "is_test": True}

    def test_takes_articles_back(self, tester: httpx.Client) -> None:
        submission = make_submission("Shoes", id="back", content=TEXT)
        location = tester.post(WEBHOOK, json=submission).headers["Location"]
        draft = tester.post(WEBHOOK, json={**submission, "status": "draft"})
        assert (draft.json()["locales"], draft.headers["Location"]) == ([], location)
        article = tester.get(location).json()
        assert (article["status"], article["translations"]) == ("unpublished", [])
        assert "Location" not in tester.post(WEBHOOK, json={**submission, "event": "deleted"}).headers
        assert tester.get(location).status_code == 404


class TestSettings:
    def test_refuse_a_test_secret_that_is_a_live_one(self, tmp_path: Any) -> None:
        with (
            pytest.raises(ValueError, match="must not contain any of WEBHOOK_SECRETS"),
            running_service(tmp_path, webhook_test_secrets=f"{TEST_SECRET},{WEBHOOK_SECRET}"),
        ):
            pytest.fail("it started")


@pytest.mark.anyio
@pytest.mark.usefixtures("backends")
class TestTestArticles:
    async def test_are_in_no_table_of_live_ones(self) -> None:
        article = await receive_test_submission(make_submission(content=TEXT))
        await rehearse_translation(article.id)
        counts = [await model.all().count() for model in (Article, Translation, ArticleLink)]
        assert counts == [0, 0, 0]

    async def test_change_and_age_as_live_ones_do(self) -> None:
        first = await receive_test_submission(make_submission("A", timestamp="2026-11-20T09:00:00Z"))
        again = await receive_test_submission(make_submission("A", timestamp="2026-11-20T09:00:00Z"))
        assert (again.id, again.revision) == (first.id, 1)
        later = await receive_test_submission(make_submission("B", timestamp="2026-11-20T10:00:00Z"))
        late = await receive_test_submission(make_submission("C", timestamp="2026-11-20T09:30:00Z"))
        assert (later.revision, late.revision, late.title) == (2, 2, "B")

    async def test_mark_the_publishers_own_translation(self) -> None:
        article = await receive_test_submission(make_submission(content=TEXT, translations={"es": OWN}))
        await rehearse_translation(article.id)
        found = await find_test_article(article.id)
        assert found
        assert [state["is_publishers_own"] for state in found.translations] == [True, False]

    async def test_that_end_their_worker_three_times_are_given_up(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        article = await receive_test_submission(make_submission(content=TEXT))

        def end(*_: object) -> None:
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(test_articles, "_translate", end)
            for _ in range(3):
                with pytest.raises(KeyboardInterrupt):
                    await rehearse_translation(article.id)
        await rehearse_translation(article.id)
        found = await find_test_article(article.id)
        assert found
        assert {state["status"] for state in found.translations} == {"failed"}

    async def test_with_too_much_markup_fail_as_live_ones_do(self) -> None:
        article = await receive_test_submission(make_submission(content="[a](b)" * 300_000))
        await rehearse_translation(article.id)
        found = await find_test_article(article.id)
        assert found
        assert found.translations[0]["reason"] == "The article has too much markup to be translated"

    async def test_are_dropped_after_a_day(self) -> None:
        article = await receive_test_submission(make_submission(content=TEXT))
        now = current_backends().clock.now()
        await sweep_test_articles(now + timedelta(hours=23))
        assert await find_test_article(article.id)
        await sweep_test_articles(now + timedelta(hours=25))
        assert await find_test_article(article.id) is None

    async def test_without_a_message_are_found_by_the_sweep(self) -> None:
        article = await receive_test_submission(make_submission(content=TEXT))
        now = current_backends().clock.now()
        assert await find_forgotten_test_articles(a_second_ago()) == []
        assert await find_forgotten_test_articles(now + timedelta(minutes=1)) == [article.id]
        await rehearse_translation(article.id)
        assert await find_forgotten_test_articles(now + timedelta(minutes=1)) == []
